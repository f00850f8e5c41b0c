//! Where agents work, as OpenClaw has it (`resolveAgentWorkspaceDir`): the folder of
//! the defaults is that of the agent that is marked as the default one or is the only one,
//! and of any other agent a folder in it or, where there is none, in the state directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::paths::Paths;

use crate::keys::Agents;

/// The agent that is always there.
pub(super) const MAIN: &str = "main";

/// The agent that messages go to which name none, as OpenClaw has it: the first that is
/// marked, else the first of the list, else the main one.
pub(super) fn default_agent(agents: &Agents) -> &str {
    let list = &agents.list;
    let marked = list.iter().find(|it| it.default);
    marked.or(list.first()).map_or(MAIN, |it| it.id.as_str())
}

/// Where each agent works, and what is to be known of it, each a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Workspaces {
    pub(super) folders: BTreeMap<String, PathBuf>,
    pub(super) notes: Vec<String>,
}

impl Workspaces {
    /// Those of the agents of `agents`, and of the main one.
    ///
    /// Earlier versions had some agents elsewhere. Where they left files, and there are none where
    /// the agent belongs, it stays: nothing is moved, and it forgets nothing.
    pub(super) fn of(agents: &Agents, paths: &Paths) -> Self {
        let rule = Rule { agents, paths };
        let mut ids: Vec<&str> = agents.list.iter().map(|it| it.id.as_str()).collect();
        if !ids.contains(&MAIN) {
            // Last: it gives way to an agent that is listed.
            ids.push(MAIN);
        }
        let mut all = Self::default();
        for id in ids {
            let (now, before) = (rule.now(id), rule.before(id));
            let is_taken = all.folders.values().any(|folder| *folder == before);
            if now != before && !is_taken && has_files(&before) && rule.is_free(id, &now) {
                all.notes.push(format!(
                    "the agent {id} works in {}, where an earlier version put it, and not in {}, \
                     where OpenClaw would: move the files there, or set the agent's own \
                     workspace to where they are",
                    before.display(),
                    now.display()
                ));
                all.folders.insert(id.to_owned(), before);
            } else {
                all.folders.insert(id.to_owned(), now);
            }
        }
        all
    }
}

struct Rule<'a> {
    agents: &'a Agents,
    paths: &'a Paths,
}

impl Rule<'_> {
    /// The agent that has the folder of the defaults: the one that is marked, if one alone is, or
    /// the only one there is. Without either it is the main agent, unless it is listed with others.
    fn owner(&self) -> Option<&str> {
        let list = &self.agents.list;
        let mut marked = list.iter().filter(|it| it.default);
        match (marked.next(), marked.next()) {
            (Some(agent), None) => Some(&agent.id),
            (None, _) if list.len() == 1 => Some(&list[0].id),
            (None, _) => {
                let is_listed = list.iter().any(|it| it.id == MAIN);
                (!is_listed).then_some(MAIN)
            }
            (Some(_), Some(_)) => None,
        }
    }

    fn own(&self, id: &str) -> Option<PathBuf> {
        let agent = self.agents.list.iter().find(|it| it.id == id)?;
        let folder = said(agent.agent.workspace.as_deref());
        folder.map(|it| self.paths.expand(it))
    }

    fn defaults(&self) -> Option<PathBuf> {
        let folder = said(self.agents.defaults.workspace.as_deref());
        folder.map(|it| self.paths.expand(it))
    }

    fn now(&self, id: &str) -> PathBuf {
        let is_owner = self.owner() == Some(id);
        self.own(id).unwrap_or_else(|| match self.defaults() {
            Some(folder) if is_owner => folder,
            Some(folder) => folder.join(id),
            None if is_owner => self.paths.default_workspace(),
            None => self.paths.workspace_of(id),
        })
    }

    /// Where earlier versions had the agent.
    fn before(&self, id: &str) -> PathBuf {
        let marked = self.agents.list.iter().rfind(|it| it.default);
        let default_agent = marked.map_or(MAIN, |it| it.id.as_str());
        self.own(id).unwrap_or_else(|| match self.defaults() {
            Some(folder) if id == default_agent => folder,
            _ if id == MAIN => self.paths.default_workspace(),
            _ => self.paths.workspace_of(id),
        })
    }

    /// Whether an agent that has files elsewhere has none at `folder`: what is there
    /// may be the main agent's, of an earlier version.
    fn is_free(&self, id: &str, folder: &Path) -> bool {
        !has_files(folder) || (id != MAIN && self.before(MAIN) == folder)
    }
}

/// A folder that is named; blanks name none, and not the folder of the configuration.
fn said(folder: Option<&str>) -> Option<&str> {
    folder.map(str::trim).filter(|it| !it.is_empty())
}

/// Whether somebody worked in a folder: one that holds only those of other agents has
/// no files of its own.
fn has_files(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name() != ".git")
        .any(|entry| {
            entry.file_type().is_ok_and(|it| it.is_file()) || entry.file_name() == "memory"
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn placed(state: &Path, agents: &Value) -> Workspaces {
        let state = state.to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        Workspaces::of(&serde_json::from_value(agents.clone()).unwrap(), &paths)
    }

    /// What OpenClaw 2026.9.6 answers, but for the main agent where it is not listed,
    /// which it does not have.
    #[test]
    fn workspaces_are_where_openclaw_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let two = json!([{"id": "main"}, {"id": "work"}]);
        let marked = json!([{"id": "alpha"}, {"id": "boss", "default": true}]);
        let both = json!([{"id": "a", "default": true}, {"id": "b", "default": true}]);
        let own = json!([{"id": "boss", "default": true, "workspace": "/own"}]);
        let all = |pairs: &[(&str, &str)]| -> BTreeMap<String, PathBuf> {
            let place = |it: &str| state.join(it);
            pairs
                .iter()
                .map(|(id, it)| ((*id).to_owned(), place(it)))
                .collect()
        };
        for (agents, expected) in [
            (json!({}), all(&[("main", "workspace")])),
            (
                json!({"defaults": {"workspace": "/B"}}),
                all(&[("main", "/B")]),
            ),
            (
                json!({"defaults": {"workspace": " "}, "list": [{"id": "main", "workspace": ""}]}),
                all(&[("main", "workspace")]),
            ),
            (
                json!({"list": [{"id": "main"}]}),
                all(&[("main", "workspace")]),
            ),
            (
                json!({"list": [{"id": "solo"}]}),
                all(&[("main", "workspace-main"), ("solo", "workspace")]),
            ),
            (
                json!({"list": two}),
                all(&[("main", "workspace-main"), ("work", "workspace-work")]),
            ),
            (
                json!({"defaults": {"workspace": "/B"}, "list": two}),
                all(&[("main", "/B/main"), ("work", "/B/work")]),
            ),
            (
                json!({"list": marked}),
                all(&[
                    ("alpha", "workspace-alpha"),
                    ("boss", "workspace"),
                    ("main", "workspace-main"),
                ]),
            ),
            (
                json!({"defaults": {"workspace": "/B"}, "list": marked}),
                all(&[("alpha", "/B/alpha"), ("boss", "/B"), ("main", "/B/main")]),
            ),
            (
                json!({"list": both}),
                all(&[
                    ("a", "workspace-a"),
                    ("b", "workspace-b"),
                    ("main", "workspace-main"),
                ]),
            ),
            (
                json!({"list": own}),
                all(&[("boss", "/own"), ("main", "workspace-main")]),
            ),
        ] {
            let found = placed(state, &agents);
            assert_eq!(found.folders, expected, "{agents}");
            assert_eq!(found.notes, [""; 0], "{agents}");
        }
    }

    #[test]
    fn default_agent_is_the_one_that_is_marked_or_the_first() {
        for (list, expected) in [
            (json!([]), "main"),
            (json!([{"id": "solo"}]), "solo"),
            (json!([{"id": "a"}, {"id": "main"}]), "a"),
            (json!([{"id": "a"}, {"id": "b", "default": true}]), "b"),
            (
                json!([{"id": "a"}, {"id": "b", "default": true}, {"id": "c", "default": true}]),
                "b",
            ),
        ] {
            let agents = serde_json::from_value(json!({ "list": list })).unwrap();
            assert_eq!(default_agent(&agents), expected, "{list}");
        }
    }

    #[test]
    fn workspaces_of_earlier_versions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let fill = |name: &str| {
            std::fs::create_dir_all(state.join(name)).unwrap();
            std::fs::write(state.join(name).join("SOUL.md"), "x").unwrap();
        };
        let agents = json!({"list": [{"id": "alpha"}, {"id": "boss", "default": true}]});
        let found = |id: &str| placed(state, &agents).folders[id].clone();
        // OpenClaw's own: nobody else is put there.
        fill("workspace");
        assert_eq!(found("boss"), state.join("workspace"));
        assert_eq!(found("main"), state.join("workspace-main"));
        // Ours: the main agent has its folder, the marked one its own.
        fill("workspace-boss");
        assert_eq!(found("boss"), state.join("workspace-boss"));
        assert_eq!(found("main"), state.join("workspace"));
        let notes = placed(state, &agents).notes;
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].contains("the agent boss works in"), "{notes:?}");

        let shared = state.join("B");
        let agents =
            json!({"defaults": {"workspace": shared}, "list": [{"id": "main"}, {"id": "work"}]});
        let found = |id: &str| placed(state, &agents).folders[id].clone();
        fill("B/main");
        assert_eq!(found("work"), shared.join("work"));
        fill("workspace-work");
        assert_eq!(found("work"), state.join("workspace-work"));
        fill("B/work");
        assert_eq!(found("work"), shared.join("work"));
        assert_eq!(found("main"), shared.join("main"));
    }
}
