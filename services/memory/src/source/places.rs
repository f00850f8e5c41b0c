//! All places of an agent.

use std::path::{Path, PathBuf};

use openclaw_folder::ConfiguredFolder;
use openclaw_settings::{AgentSettings, Settings};

use super::{Place, SESSIONS, Shape};

/// Where an agent's memory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The workspace, whether or not it is searched.
    pub(crate) workspace: ConfiguredFolder,
    /// The transcripts, whether or not they are searched.
    pub(crate) transcripts: PathBuf,
    /// What is searched. A file of two places is that of the first.
    pub(crate) all: Vec<Place>,
}

impl Places {
    /// The places of `agent`.
    pub(crate) fn of(agent: &AgentSettings, settings: &Settings) -> Self {
        let search = &agent.memory;
        let workspace = agent.workspace.clone();
        let transcripts = settings.paths.sessions(&agent.id);
        let mut all = Vec::new();
        if search.enabled && search.notes {
            all.push(Place {
                folder: workspace.clone(),
                shape: Shape::Workspace,
                prefix: String::new(),
            });
            let extra = search.extra_paths.iter();
            let place = |path| extra_place(&workspace.join(path), &workspace, settings);
            all.extend(extra.filter_map(place));
        }
        if search.enabled && search.sessions {
            all.push(Place {
                // No agent writes them: the user's own link leads where it leads.
                folder: transcripts.clone().into(),
                shape: Shape::Transcripts,
                prefix: SESSIONS.to_owned(),
            });
        }
        Self {
            workspace,
            transcripts,
            all,
        }
    }

    /// The place and the path in it of the document `name`.
    pub(crate) fn find<'a>(&self, name: &'a str) -> Option<(usize, &'a str)> {
        let mut places = self.all.iter().enumerate();
        places.find_map(|(number, place)| Some((number, place.path(name)?)))
    }

    /// The name of the document of the file at `path` in place number `place`;
    /// None when another place before it has the same file.
    pub(crate) fn document(&self, place: usize, path: &str) -> Option<String> {
        let name = self.all.get(place)?.document(path);
        let (first, _) = self.find(&name)?;
        (first == place).then_some(name)
    }
}

/// Names of documents are texts, so a path that is none is left out. What ends
/// like a Markdown file is one; a folder of such a name is found by looking.
fn extra_place(path: &Path, workspace: &Path, settings: &Settings) -> Option<Place> {
    let is_file = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("md"))
        && !path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let (folder, shape) = match (is_file, path.parent(), path.file_name()) {
        (true, Some(folder), Some(name)) => (folder, Shape::File(name.to_str()?.to_owned())),
        _ => (path, Shape::Tree),
    };
    let named = folder.strip_prefix(workspace).unwrap_or(folder);
    let prefix = match named.to_str()? {
        "" => String::new(),
        named => format!("{}/", named.trim_end_matches('/')),
    };
    Some(Place {
        folder: settings.folder(folder.to_owned()),
        shape,
        prefix,
    })
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;

    use super::*;

    fn places(memory_search: &str) -> Places {
        let folder = tempfile::tempdir().unwrap();
        let configuration = format!("{{agents:{{defaults:{{memorySearch:{memory_search}}}}}}}");
        std::fs::write(folder.path().join("openclaw.json"), configuration).unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let settings = openclaw_settings::load(&environment).unwrap();
        Places::of(settings.agent("main").unwrap(), &settings)
    }

    #[test]
    fn notes_and_transcripts_are_searched_unless_said_otherwise() {
        let places_of_all = places("{}");
        assert_eq!(places_of_all.all.len(), 2);
        assert_eq!(places_of_all.find("memory/a.md"), Some((0, "memory/a.md")));
        assert_eq!(
            places_of_all.find("sessions/1-2.jsonl"),
            Some((1, "1-2.jsonl"))
        );
        for other in [
            "a.md",
            "/etc/passwd",
            "sessions/../a.jsonl",
            "memory/../../a.md",
            "",
        ] {
            assert_eq!(places_of_all.find(other), None, "{other}");
        }
        assert_eq!(places(r#"{sources: ["memory"]}"#).all.len(), 1);
        assert_eq!(places("{enabled: false}").all.len(), 0);
    }

    #[test]
    fn transcripts_are_searched_where_the_users_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (state, disk) = (folder.path().join("state"), folder.path().join("disk"));
        std::fs::create_dir_all(state.join("agents/main")).unwrap();
        std::fs::create_dir(&disk).unwrap();
        std::os::unix::fs::symlink(&disk, state.join("agents/main/sessions")).unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
        let environment: Environment = variables.into_iter().collect();
        let settings = openclaw_settings::load(&environment).unwrap();
        let places = Places::of(settings.agent("main").unwrap(), &settings);
        let mut logs = places.all.iter().filter(|place| place.is_log());
        assert!(logs.next().unwrap().open().unwrap().is_some());
    }

    #[test]
    fn extra_paths_are_named_as_they_are_seen_from_the_workspace() {
        let places = places(r#"{extraPaths: ["docs", "/srv/wiki/", "memory", "/srv/one.md"]}"#);
        let name = |place, path| places.document(place, path);
        assert_eq!(name(1, "sub/a.md").as_deref(), Some("docs/sub/a.md"));
        assert_eq!(name(2, "a.md").as_deref(), Some("/srv/wiki/a.md"));
        assert_eq!(places.find("/srv/wiki/a.md"), Some((2, "a.md")));
        // What the workspace has already is not there twice.
        assert_eq!(name(3, "a.md"), None);
        assert_eq!(name(4, "one.md").as_deref(), Some("/srv/one.md"));
        assert_eq!(places.find("/srv/two.md"), None);
    }
}
