//! Whether the indexes of sessions know every transcript, only while no gateway runs: it
//! has them in memory, and writes them when it likes. And whether two sessions have one
//! conversation.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::{Paths, state_lock};
use openclaw_sessions::AgentId;
use openclaw_sessions::store::{self, Known, Shared};

use crate::check::Check;
use crate::remedy::Mend;

const NAME: &str = "session index";
/// Who writes them.
pub(crate) const GATEWAY: &str = "openclaw-gateway";

/// Looks at the index of each agent.
pub(crate) fn sessions(paths: &Paths) -> Vec<Check> {
    let mut checks: Vec<Check> = agents(paths)
        .into_iter()
        .flat_map(|(agent, folder)| shared(&agent, &folder))
        .collect();
    checks.extend(behind(paths));
    checks
}

fn behind(paths: &Paths) -> Vec<Check> {
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

/// Sessions that have one conversation: what the gateway writes meanwhile makes none.
fn shared(agent: &AgentId, folder: &Path) -> Vec<Check> {
    // An index that cannot be read is told of by the other check.
    let all = store::shared(folder, agent).unwrap_or_default().into_iter();
    let check = |shared: Shared| {
        let place = folder.join(store::INDEX);
        let detail = format!("{}: {shared}", place.display());
        let key = shared.keys.last().cloned().unwrap_or_default();
        let fix = format!(
            "what is said in one of them is said in all; take one out (openclawctl sessions delete \
             {key}): the conversation stays with the others"
        );
        Check::warn(NAME, detail, fix)
    };
    all.map(check).collect()
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

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;
    use serde_json::json;

    use super::*;

    #[test]
    fn sessions_with_one_conversation_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let place = paths.sessions("main");
        fs::create_dir_all(&place).unwrap();
        let put = |second: &str| {
            let index = json!({
                "agent:main:main": {"sessionId": "aaa", "updatedAt": 1},
                "agent:main:work": {"sessionId": second, "updatedAt": 2},
            });
            fs::write(place.join(store::INDEX), index.to_string()).unwrap();
            sessions(&paths)
        };
        assert_eq!(put("bbb").len(), 0);
        let checks = put("aaa");
        assert_eq!(checks.len(), 1);
        let said = format!("{:?}", checks[0]);
        for words in [
            "agent:main:main and agent:main:work have one conversation (aaa.jsonl)",
            "openclawctl sessions delete agent:main:work",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }
}
