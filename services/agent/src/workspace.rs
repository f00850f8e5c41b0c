//! Files of the workspace that are read for whoever writes to the agent, and not by a tool.

use std::path::Path;

use openclaw_folder::{ConfiguredFolder, Error};

/// What the regular file `relative` says; None when there is none. At level `text` the sandbox
/// bounds no reading: a link that was left there before would be the way to any file, and a FIFO
/// to a turn that never ends.
pub(crate) fn read(workspace: &Path, relative: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    match ConfiguredFolder::from(workspace).open()? {
        Some(folder) => folder.read(relative, limit),
        None => Ok(None),
    }
}
