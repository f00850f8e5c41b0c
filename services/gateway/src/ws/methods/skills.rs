//! `skills.status`: the skills that are in an agent's folders.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

/// Bytes of a SKILL.md that are looked at; its head is at the beginning.
const HEAD_LIMIT: usize = 16 * 1024;

/// Skills of one folder.
const FOLDER_LIMIT: usize = 500;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    session_key: Option<Filled>,
}

/// `skills.status`
pub(super) async fn status(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let session = params.session_key.as_deref().unwrap_or_default();
    let key = call.gateway.key(session, agent)?;
    let settings = call.gateway.configuration.settings();
    let workspace = match settings.agent(key.agent().as_str()) {
        Some(agent) => agent.workspace.clone(),
        None => settings.paths.default_workspace(key.agent().as_str()),
    };
    let managed = settings.paths.state.join("skills");
    let folders = vec![
        (workspace.join("skills"), "openclaw-workspace"),
        (managed.clone(), "openclaw-managed"),
    ];
    let skills = tokio::task::spawn_blocking(move || all(&folders))
        .await
        .map_err(|_| Failure::unavailable("the reading thread ended"))?;
    Ok(json!({
        "agentId": key.agent().as_str(),
        "workspaceDir": workspace.display().to_string(),
        "managedSkillsDir": managed.display().to_string(),
        "skills": skills,
    })
    .into())
}

/// The skills of the folders; of two with one name the first.
fn all(folders: &[(PathBuf, &'static str)]) -> Vec<Value> {
    let mut skills: Vec<Value> = Vec::new();
    for (folder, source) in folders {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path().join("SKILL.md"))
            .filter(|file| file.is_file())
            .take(FOLDER_LIMIT)
            .collect();
        files.sort();
        for file in files {
            let Some(skill) = skill(&file, source) else {
                continue;
            };
            if !skills.iter().any(|known| known["name"] == skill["name"]) {
                skills.push(skill);
            }
        }
    }
    skills
}

fn skill(file: &Path, source: &str) -> Option<Value> {
    let bytes = fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_LIMIT)]).into_owned();
    let folder = file.parent()?;
    let own_name = folder.file_name()?.to_string_lossy().into_owned();
    let name = field(&text, "name").unwrap_or(own_name);
    let none = json!({ "bins": [], "anyBins": [], "env": [], "config": [], "os": [] });
    Some(json!({
        "name": name,
        "description": field(&text, "description").unwrap_or_default(),
        "source": source,
        "bundled": false,
        "filePath": file.display().to_string(),
        "baseDir": folder.display().to_string(),
        "skillKey": name,
        "always": false,
        "disabled": false,
        "blockedByAllowlist": false,
        "eligible": true,
        "requirements": none,
        "missing": none,
        "configChecks": [],
        "install": [],
    }))
}

/// A plain field of the head between the two lines of dashes.
fn field(text: &str, name: &str) -> Option<String> {
    let head = text.strip_prefix("---")?;
    let head = &head[..head.find("\n---")?];
    let value = head.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.trim_start().strip_prefix(':')?;
        Some(rest.trim().trim_matches(['"', '\'']).to_owned())
    })?;
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_found_by_their_heads() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let folder = dir.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("SKILL.md"), text).unwrap();
        };
        write(
            "a",
            "---\nname: weather\ndescription: \"Tells it: well\"\n---\nBody",
        );
        write("b", "no head");
        fs::create_dir(dir.path().join("empty")).unwrap();
        let skills = all(&[(dir.path().to_owned(), "x")]);
        assert_eq!(skills.len(), 2);
        assert_eq!(skills[0]["name"], "weather");
        assert_eq!(skills[0]["description"], "Tells it: well");
        assert_eq!(skills[1]["name"], "b");
    }
}
