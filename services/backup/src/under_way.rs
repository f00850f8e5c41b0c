//! Turns that outlive the daemons: nobody may take the state from below them.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc;
use openclaw_config::Paths;

use crate::error::Error;

/// The ending of a spool, which its turn's process locks as long as it lives.
const SPOOL: &str = "events";

/// Fails where a turn is under way in the state of `paths`. Whoever asks holds the lock of the
/// agent-runner, so that none is begun meanwhile.
pub(crate) fn require_none(paths: &Paths) -> Result<(), Error> {
    let folder = paths.turns();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("list", &folder))?,
    };
    for entry in entries {
        let path = entry.map_err(Error::io("list", &folder))?.path();
        if path.extension().is_some_and(|ending| ending == SPOOL) && is_written(&path)? {
            let run = path.file_stem().unwrap_or_default();
            return Err(Error::UnderWay {
                state: paths.state.clone(),
                run: run.to_string_lossy().into_owned(),
            });
        }
    }
    Ok(())
}

fn is_written(path: &Path) -> Result<bool, Error> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file.map_err(Error::io("open", path))?,
    };
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(_) => Ok(false),
        Err((_, Errno::EWOULDBLOCK)) => Ok(true),
        Err((_, errno)) => Err(Error::io("look at the lock of", path)(errno.into())),
    }
}
