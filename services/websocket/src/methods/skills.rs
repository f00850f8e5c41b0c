//! `skills.status`: the skills that are in an agent's folders.

use crate::refused::refused;
use std::path::Path;

use openclaw_folder::{ConfiguredFolder, Entry, Folder, Kind};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

/// Bytes of a SKILL.md that are read; its head is at the beginning.
const HEAD_LIMIT: u64 = 16 * 1024;

/// Names of one folder that are looked at.
const FOLDER_LIMIT: usize = 500;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    session_key: Option<Filled>,
}

/// Where skills are: in the folder `skills` of a root.
struct Source {
    name: &'static str,
    /// The agent writes there, or nobody does but the user.
    root: ConfiguredFolder,
}

impl Source {
    fn folder(&self) -> Result<Option<Folder>, openclaw_folder::Error> {
        match self.root.open()? {
            Some(root) => root.folder("skills"),
            None => Ok(None),
        }
    }
}

/// `skills.status`
pub(super) async fn status(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let session = params.session_key.as_deref().unwrap_or_default();
    let key = call.context.core.key(session, agent).map_err(refused)?;
    let settings = call.context.core.configuration.settings();
    let workspace = match settings.agent(key.agent().as_str()) {
        Some(agent) => agent.workspace.clone(),
        None => settings.folder(settings.paths.default_workspace(key.agent().as_str())),
    };
    let managed = settings.paths.state.join("skills");
    let folders = [
        Source {
            name: "openclaw-workspace",
            root: workspace.clone(),
        },
        Source {
            name: "openclaw-managed",
            root: settings.folder(settings.paths.state.clone()),
        },
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
fn all(folders: &[Source]) -> Vec<Value> {
    let mut skills: Vec<Value> = Vec::new();
    for source in folders {
        let folder = match source.folder() {
            Ok(Some(folder)) => folder,
            Ok(None) => continue,
            Err(error) => {
                let error = openclaw_daemon::failure::chain(&error);
                tracing::debug!(error, "a folder of skills is left out");
                continue;
            }
        };
        for skill in of(&folder, source.name) {
            if !skills.iter().any(|known| known["name"] == skill["name"]) {
                skills.push(skill);
            }
        }
    }
    skills
}

/// The skills of one folder, by the names of their own.
fn of(folder: &Folder, source: &str) -> Vec<Value> {
    let mut entries = folder.entries(FOLDER_LIMIT).unwrap_or_default();
    entries.retain(|entry| entry.kind == Kind::Folder);
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let skill = |entry: &Entry| skill(folder, Path::new(&entry.name), source);
    entries.iter().filter_map(skill).collect()
}

fn skill(folder: &Folder, own: &Path, source: &str) -> Option<Value> {
    let file = own.join("SKILL.md");
    // One that cannot be read, or is a link, is none.
    let head = folder.read_head(&file, HEAD_LIMIT).ok()??;
    let text = String::from_utf8_lossy(&head).into_owned();
    let own_name = own.to_string_lossy().into_owned();
    let name = field(&text, "name").unwrap_or(own_name);
    let none = json!({ "bins": [], "anyBins": [], "env": [], "config": [], "os": [] });
    Some(json!({
        "name": name,
        "description": field(&text, "description").unwrap_or_default(),
        "source": source,
        "bundled": false,
        "filePath": folder.path().join(&file).display().to_string(),
        "baseDir": folder.path().join(own).display().to_string(),
        "skillKey": name,
        "always": false,
        // No agent is given skills.
        "disabled": true,
        "blockedByAllowlist": false,
        "eligible": false,
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
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn sources(root: &Path) -> [Source; 1] {
        let root = root.into();
        [Source { name: "x", root }]
    }

    fn write(root: &Path, name: &str, text: &str) {
        let folder = root.join("skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    #[test]
    fn skills_are_found_by_their_heads() {
        let dir = tempfile::tempdir().unwrap();
        let head = "---\nname: weather\ndescription: \"Tells it: well\"\n---\nBody";
        write(dir.path(), "a", head);
        write(dir.path(), "b", "no head");
        fs::create_dir(dir.path().join("skills/empty")).unwrap();
        let skills = all(&sources(dir.path()));
        assert_eq!(skills.len(), 2);
        assert_eq!(skills[0]["name"], "weather");
        assert_eq!(skills[0]["description"], "Tells it: well");
        assert_eq!(skills[1]["name"], "b");
    }

    #[test]
    fn what_an_agent_put_in_the_place_of_a_skill_is_not_read() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(outside.path(), "secret", "---\nname: secret\n---\n");
        let skills = dir.path().join("skills");
        for name in ["file", "fifo", "folder"] {
            fs::create_dir_all(skills.join(name)).unwrap();
        }
        let secret = outside.path().join("skills/secret");
        symlink(&secret, skills.join("link")).unwrap();
        symlink(secret.join("SKILL.md"), skills.join("file/SKILL.md")).unwrap();
        fs::create_dir(skills.join("folder/SKILL.md")).unwrap();
        let fifo = skills.join("fifo/SKILL.md");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(all(&sources(dir.path())), [Value::Null; 0]);
        fs::rename(&skills, dir.path().join("other")).unwrap();
        symlink(outside.path().join("skills"), &skills).unwrap();
        assert_eq!(all(&sources(dir.path())), [Value::Null; 0]);
    }

    #[test]
    fn a_huge_skill_costs_its_head_and_a_full_folder_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "huge", "---\nname: huge\n---\n");
        let huge = dir.path().join("skills/huge/SKILL.md");
        fs::OpenOptions::new()
            .append(true)
            .open(huge)
            .and_then(|file| file.set_len(8 << 30))
            .unwrap();
        assert_eq!(all(&sources(dir.path()))[0]["name"], "huge");
        for number in 0..FOLDER_LIMIT + 50 {
            fs::create_dir(dir.path().join(format!("skills/{number}"))).unwrap();
        }
        let root = Folder::open(&dir.path().join("skills")).unwrap().unwrap();
        assert_eq!(root.entries(FOLDER_LIMIT).unwrap().len(), FOLDER_LIMIT);
        assert!(all(&sources(dir.path())).len() <= 1);
    }
}
