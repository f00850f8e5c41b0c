//! What a fresh workspace begins with.
//!
//! Missing files are made once: a marker in the workspace says that it was
//! done, so that a file the user deletes stays deleted. In a workspace that
//! OpenClaw used before, what is there stays and only what is missing is made.
//! Deleting the marker brings missing ones back.

use std::io::Write as _;

use crate::workspace::{Error, Workspace};

/// Says that the templates were made here.
const MARKER: &str = ".openclaw/bootstrapped";
const MARKER_FOLDER: &str = ".openclaw";

/// Sent with every conversation until the user changes them, so they are
/// short: about 300 tokens.
const TEMPLATES: [(&str, &str); 4] = [
    (
        "SOUL.md",
        "# Identity\n\
         You are OpenClaw, a personal assistant that runs on the user's own Linux machine.\n\n\
         # Capabilities\n\
         - Read, write and list files in your workspace\n\
         - Run shell commands\n\
         - Remember what matters, and search what you remembered\n\n\
         # Guidelines\n\
         - Be concise and helpful. Answer first, explain when it helps.\n\
         - Ask when a request is unclear or could destroy something.\n\
         - Say what you did, and what you could not do.\n",
    ),
    ("IDENTITY.md", "# Identity\n- Name: OpenClaw\n"),
    (
        "USER.md",
        "# User profile\n\
         Nothing is known yet. Keep here what the user tells about themselves:\n\
         name, language, time zone, preferences.\n",
    ),
    (
        "AGENTS.md",
        "# How to work here\n\
         - MEMORY.md keeps what stays true; memory/YYYY-MM-DD.md what happened on a day.\n\
         - Search memory before saying that you do not know something about the user.\n\
         - Files here are the user's: never delete one unasked.\n",
    ),
];

/// Makes the files that are missing, unless that was done before.
pub(crate) fn create_missing(workspace: &Workspace) -> Result<(), Error> {
    if workspace.stamp(MARKER)?.is_some() {
        return Ok(());
    }
    for (name, text) in TEMPLATES {
        if let Some(mut file) = workspace.create(name)? {
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
                .map_err(|source| workspace.error("write", name, source))?;
        }
    }
    workspace.sync_folder("")?;
    workspace.create_folder(MARKER_FOLDER)?;
    workspace.create(MARKER)?;
    Ok(())
}

/// Whether `text` is what the template of the file at `path` says: it tells
/// nothing of the user, so nobody searches for it.
pub(crate) fn is_unedited(path: &str, text: &str) -> bool {
    TEMPLATES.contains(&(path, text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(&folder.path().into()).unwrap().unwrap();
        (folder, workspace)
    }

    #[test]
    fn missing_files_are_made_and_others_left() {
        let (folder, workspace) = workspace();
        fs::write(folder.path().join("SOUL.md"), "mine").unwrap();
        create_missing(&workspace).unwrap();
        let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("SOUL.md"), "mine");
        for name in ["IDENTITY.md", "USER.md", "AGENTS.md"] {
            assert!(is_unedited(name, &read(name)), "{name}");
        }
        assert!(!is_unedited("SOUL.md", "mine"));
    }

    #[test]
    fn deleted_files_stay_deleted() {
        let (folder, workspace) = workspace();
        create_missing(&workspace).unwrap();
        fs::remove_file(folder.path().join("USER.md")).unwrap();
        create_missing(&workspace).unwrap();
        assert!(!folder.path().join("USER.md").exists());
    }

    #[test]
    fn templates_are_short() {
        let size: usize = TEMPLATES.iter().map(|(_, text)| text.len()).sum();
        assert!(size < 1500, "{size}");
    }
}
