//! Whether the indexes of sessions know every transcript. Only while no gateway
//! runs: it has them in memory, and writes them when it likes.

use std::fs;
use std::path::PathBuf;

use openclaw_config::{Paths, state_lock};
use openclaw_sessions::AgentId;
use openclaw_sessions::store::{self, Known};

use crate::check::Check;
use crate::remedy::Mend;

const NAME: &str = "session index";
/// Who writes them.
pub(crate) const GATEWAY: &str = "openclaw-gateway";

/// Looks at the index of each agent.
pub(crate) fn sessions(paths: &Paths) -> Vec<Check> {
    if state_lock::holder(paths, GATEWAY).is_some() {
        return Vec::new();
    }
    let agents = agents(paths).into_iter();
    agents
        .filter_map(|(agent, folder)| check(agent, folder))
        .collect()
}

fn agents(paths: &Paths) -> Vec<(AgentId, PathBuf)> {
    let folders = fs::read_dir(paths.agents()).into_iter().flatten().flatten();
    let mut agents: Vec<(AgentId, PathBuf)> = folders
        .filter_map(|folder| {
            let agent: AgentId = folder.file_name().to_str()?.parse().ok()?;
            Some((agent, folder.path().join("sessions")))
        })
        .filter(|(_, folder)| folder.is_dir())
        .collect();
    agents.sort_by(|a, b| a.1.cmp(&b.1));
    agents
}

fn check(agent: AgentId, folder: PathBuf) -> Option<Check> {
    let place = folder.join(store::INDEX);
    let place = place.display();
    let detail = match store::known(&folder, &agent) {
        Ok(Known::All) => return None,
        Ok(Known::Missing(count)) => format!("{place} does not have {count} transcripts"),
        Ok(Known::Nothing) => format!("there are transcripts, and no {place}"),
        Ok(Known::Broken(problem)) => format!("{place} is broken: {problem}"),
        Err(error) => {
            let fix = format!("make {} accessible to you", folder.display());
            return Some(Check::fail(NAME, error.to_string(), fix));
        }
    };
    let fix = "it is made from the transcripts at the gateway's next start";
    let mend = Mend::Index { agent, folder };
    Some(Check::warn(NAME, detail, fix).mended_by(mend))
}
