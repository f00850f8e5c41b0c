//! All that is known of the suite.

use openclaw_effect::Unused;
use serde::Serialize;

use crate::activity::Activity;
use crate::closed::Closed;
use crate::processes::Processes;
use crate::report::Suite;
use crate::spending::Spending;

/// All that is shown, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    #[serde(flatten)]
    pub(crate) suite: Suite,
    /// Keys of the configuration that have no effect.
    pub(crate) unused: Vec<Unused>,
    /// Values of it with which a part stays off, and why.
    pub(crate) faults: Vec<String>,
    /// Why the gateway has no TCP port, and the way out.
    #[serde(rename = "portProblem")]
    pub(crate) closed: Option<Closed>,
    /// What the daemons' processes take.
    pub(crate) processes: Processes,
    /// What is under way, what is next and what failed lately.
    #[serde(flatten)]
    pub(crate) activity: Activity,
    /// What today's turns cost.
    pub(crate) today: Spending,
}
