//! The folder in which the CLI keeps its threads: the agent's own.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::places::Places;

/// Its name in a home.
pub(super) const FOLDER: &str = ".codex";
/// What the CLI would read there and obey. Its configuration comes with its
/// start; these could only be the agent's, which can write there: servers,
/// hooks and rules that run commands unasked.
const NOT_READ: [&str; 5] = ["config.toml", "rules", "hooks.json", "hooks", "AGENTS.md"];

/// Where it is.
pub(super) fn folder(places: &Places) -> PathBuf {
    places.home.join(FOLDER)
}

/// Makes it ready for a turn.
pub(super) fn prepare(places: &Places) -> io::Result<()> {
    let folder = folder(places);
    fs::create_dir_all(&folder)?;
    for name in NOT_READ {
        let path = folder.join(name);
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        tracing::info!(path = %path.display(), "an agent's own settings for Codex are not read and removed");
        match metadata.is_dir() {
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
    }
    Ok(())
}
