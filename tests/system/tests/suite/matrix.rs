//! Every backend with every kind of tool, as tests/integration has it, with the
//! units of a user manager.

use anyhow::{Result, ensure};

use crate::clis::CLIS;
use crate::stage::{PROGRAMS, Stage, stage};

/// What a test has for its own suite is somebody's here: out of the way.
const ASIDE: &str =
    "systemctl --user stop openclaw.target 'openclaw-*'; mv ~/.openclaw ~/.openclaw.aside";
const BACK: &str = "rm -rf ~/.openclaw && mv ~/.openclaw.aside ~/.openclaw";

/// Set where the backends are tried that are other people's programs, which
/// takes six minutes. The gate tries our own loop.
const ALL: &str = "OPENCLAW_TEST_MATRIX";

fn cells(stage: &Stage, backend: &str) -> Result<()> {
    let cli = CLIS.iter().find(|cli| cli.name == backend);
    let program = cli.map_or_else(String::new, |cli| {
        format!("{}=$(echo {}/{})", cli.variable, cli.at, cli.program)
    });
    for event in ["approval", "cancel", "kill"] {
        let line =
            format!("env OPENCLAW_TEST_UNITS=1 {program} {PROGRAMS}/matrix {backend} {event}");
        let matrix = stage.attempt(&line)?;
        ensure!(matrix.status == 0, "{}", matrix.describe());
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn matrix_every_backend_has_its_tools_in_units() -> Result<()> {
    let stage = stage()?;
    let is_all = std::env::var_os(ALL).is_some();
    let clis = CLIS.iter().filter(|cli| is_all && cli.folder().is_some());
    let backends = ["native"].into_iter().chain(clis.map(|cli| cli.name));
    stage.configured(
        |_| {},
        || {
            stage.user(ASIDE)?;
            let done = backends
                .into_iter()
                .try_for_each(|backend| cells(&stage, backend));
            stage.user(BACK)?;
            done
        },
    )
}
