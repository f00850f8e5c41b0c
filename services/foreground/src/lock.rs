//! One `openclawctl run` for each runtime directory.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::Pid;
use openclaw_config::lock_file;
use openclaw_terminal::{Failure, words};

/// The lock file's name in the runtime directory.
const NAME: &str = "run.lock";

/// The lock. The kernel releases it when the process ends in any way; its
/// file is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    was_stale: bool,
    /// Kept for as long as the lock is held.
    _file: Flock<File>,
}

/// The lock as another process finds it.
#[derive(Debug)]
pub(crate) enum Holder {
    /// Nobody runs.
    None,
    /// A process runs.
    Process {
        /// It.
        pid: Pid,
        /// To wait for it.
        file: File,
    },
}

impl Lock {
    /// Takes the lock and writes the process id into its file.
    pub(crate) fn take(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(NAME);
        loop {
            let file = lock_file::open(&path)
                .with_context(|| format!("cannot open {}", path.display()))?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                // A holder that ends removes the file first; then this is
                // the lock of nothing.
                Ok(file) if !is_at(&file, &path) => continue,
                Ok(file) => return Self::written(path, file),
                Err((file, Errno::EWOULDBLOCK)) => return Err(held(file)),
                Err((_, errno)) => {
                    let failed = anyhow::Error::new(errno);
                    return Err(failed
                        .context(format!("cannot lock {}", path.display()))
                        .into());
                }
            }
        }
    }

    /// Whether an earlier holder ended without removing the file: it was
    /// killed, and its daemons may still be ending.
    pub(crate) fn was_stale(&self) -> bool {
        self.was_stale
    }

    fn written(path: PathBuf, mut file: Flock<File>) -> Result<Self, Failure> {
        let was_stale = file.metadata().is_ok_and(|found| found.len() > 0);
        file.set_len(0)
            .and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            path,
            was_stale,
            _file: file,
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // What stays is found stale by the next holder.
        let _ = fs::remove_file(&self.path);
    }
}

/// Who holds the lock in `folder`.
pub(crate) fn holder(folder: &Path) -> Result<Holder, Failure> {
    let path = folder.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holder::None),
        Err(error) => {
            let context = format!("cannot open {}", path.display());
            return Err(anyhow::Error::new(error).context(context).into());
        }
    };
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(_) => Ok(Holder::None),
        Err((mut file, _)) => match pid(&mut file) {
            Some(pid) => Ok(Holder::Process { pid, file }),
            None => Err(Failure::new(
                "openclawctl run is just being started; try again",
            )),
        },
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else {
        return false;
    };
    file.metadata()
        .is_ok_and(|locked| (locked.dev(), locked.ino()) == (found.dev(), found.ino()))
}

fn held(mut file: File) -> Failure {
    let since = file.metadata().and_then(|found| found.modified()).ok();
    let since = since.and_then(|since| since.elapsed().ok());
    let since = since.map_or_else(String::new, |since| {
        format!(
            ", for {}",
            words::elapsed(Duration::from_secs(since.as_secs()))
        )
    });
    let who = match pid(&mut file) {
        Some(pid) => format!("openclawctl run is running already, as process {pid}{since}"),
        None => "openclawctl run is just being started".to_owned(),
    };
    Failure::taken(who).hint("openclawctl run --stop ends it")
}

fn pid(file: &mut File) -> Option<Pid> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok().map(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_one_is_told_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        assert!(!lock.was_stale());
        let refused = Lock::take(folder.path()).unwrap_err().text();
        let pid = std::process::id().to_string();
        let told = format!("process {pid}, for ");
        assert!(refused.contains(&told), "{refused}");
        assert!(matches!(
            holder(folder.path()).unwrap(),
            Holder::Process { pid, .. } if pid == Pid::this()
        ));
        drop(lock);
        assert!(matches!(holder(folder.path()).unwrap(), Holder::None));
        assert!(!folder.path().join(NAME).exists());
    }

    #[test]
    fn file_left_by_a_killed_holder_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "999999\n").unwrap();
        assert!(matches!(holder(folder.path()).unwrap(), Holder::None));
        assert!(Lock::take(folder.path()).unwrap().was_stale());
    }
}
