//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openclaw_handoff::fuzz::{folder, runtime};
use openclaw_handoff::limits::Limits;
use openclaw_handoff::spool::{self, Header, Spool};
use openclaw_mcp_servers::Servers;
use openclaw_model_api::bill::{Bill, Budget};
use openclaw_proto::approval::Terms;
use openclaw_proto::event::Kind;
use openclaw_proto::origin::Origin;
use openclaw_proto::{memory, schedule};
use openclaw_tools::approval::effect::TurnPaths;
use openclaw_tools::approval::{Ask, Rules};
use openclaw_turn::Offer;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::activity::Activity;
use crate::approvals::Approvals;
use crate::host::{Searches, Tools};

pub use crate::claude::fuzz::claude_output;
pub use crate::codex::fuzz::codex_output;
pub use crate::native::fuzz::{agent_output, turn_socket};
pub use crate::tool_pipe::fuzz::tool_pipe;

/// The limits of turns that are not stopped for them.
pub(crate) const LIMITS: Limits = Limits {
    steps: u32::MAX,
    identical_calls: u32::MAX,
    output_tokens: u64::MAX,
    cost_per_turn: 5.0,
    cost_per_day: 25.0,
    spent_today: 0.0,
};

/// Where files may be changed unasked,
pub(crate) const WORKSPACE: &str = "/home/claw/workspace";
/// and where they are gone after the turn.
pub(crate) const TEMPORARY: &str = "/home/claw/temporary";

/// How much longer than its line an event may be, in bytes: words of ours are
/// put around what a line says.
const WORDS: usize = 2048;

/// What a line became is not longer than the line allows: nothing is made up,
/// and nothing multiplies.
pub(crate) fn assert_bounded(line: &str, kinds: &[Kind]) {
    let length: usize = kinds.iter().map(length).sum();
    // A result that failed says what it said as its error too.
    assert!(length <= 4 * line.len() + WORDS, "{length}: {kinds:?}");
}

fn length(kind: &Kind) -> usize {
    match kind {
        Kind::TextDelta { text } | Kind::Thinking { text } | Kind::Note { text } => text.len(),
        Kind::ThinkingSigned(signed) => signed.signature.len(),
        Kind::ToolOutput { call_id, text } => call_id.len() + text.len(),
        Kind::ToolResult(result) => result.call_id.len() + result.output.len(),
        Kind::Failed(failed) => failed.message.len(),
        _ => 0,
    }
}

/// A turn that asks and is never answered: whatever has to be allowed is not.
pub(crate) struct Scene {
    pub(crate) runtime: Runtime,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let runtime = runtime();
        let folder = folder();
        let approvals = runtime.block_on(async { approvals(folder.path().to_owned()) });
        Self {
            runtime,
            approvals: Arc::new(approvals),
            folder,
        }
    }

    /// The host tools of the turn: the one that needs nobody.
    pub(crate) fn tools(&self) -> Tools {
        let _inside = self.runtime.enter();
        Tools {
            memory: memory::Client::new(PathBuf::from("/nonexistent/memory.sock")),
            schedule: schedule::Client::new(PathBuf::from("/nonexistent/gateway.sock")),
            origin: Origin {
                run_id: "r".to_owned(),
                session_key: "agent:main:main".to_owned(),
            },
            agent_id: "main".to_owned(),
            session_id: "s".to_owned(),
            received_ms: 0,
            status: "fine".to_owned(),
            offer: Arc::new(Offer {
                tools: vec!["session_status".to_owned()],
                ..Offer::default()
            }),
            approvals: Arc::clone(&self.approvals),
            searches: Arc::new(self.searches()),
            servers: Arc::new(Servers::none()),
        }
    }

    /// None: there is no memory to be searched.
    fn searches(&self) -> Searches {
        let budget = Budget {
            output_tokens: 1,
            cost_per_turn: 1.0,
            is_firm: false,
            cost_per_day: 1.0,
            spent_today: 0.0,
            spending: self.folder.path().join("usage.json"),
            utc_offset: 0,
        };
        let bill = Bill::new(budget, "main", true);
        let allowance = serde_json::from_value(json!({"limit": 0, "price": null}));
        Searches::new(allowance.expect("an allowance"), Arc::new(bill))
    }
}

fn approvals(folder: PathBuf) -> Approvals {
    let header = Header {
        run_id: "r".to_owned(),
        agent_id: "main".to_owned(),
        pid: 1,
        unit: String::new(),
        memory_max: 0,
        own_limits: Vec::new(),
    };
    let spool = Spool::create(&spool::path(&folder, "r"), &header).expect("a spool");
    let rules = Rules {
        ask: Ask::Always,
        allowlist: Vec::new(),
        granted: Vec::new(),
        safe_bins: openclaw_tools::approval::safe::SafeBins::default(),
        only_listed: false,
        refuses: false,
        open_network: false,
    };
    let ground = TurnPaths {
        workspace: PathBuf::from(WORKSPACE),
        temporary: PathBuf::from(TEMPORARY),
        ..TurnPaths::default()
    };
    Approvals::new(
        (rules, ground, Terms::default()),
        Duration::ZERO,
        Instant::now() + Duration::from_secs(600),
        Arc::new(spool),
        spool::decisions(&folder, "r"),
        Arc::new(Activity::new(false)),
    )
}
