//! Who reads standard output in place of the terminal, and what to do when that one has
//! shown nothing of it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The pipe to the pager: what is opened by this name can read from it.
const STANDARD_OUTPUT: &str = "/proc/self/fd/1";
/// Bytes that are kept until the pager has ended; one that has taken so many shows them.
const KEPT_LIMIT: usize = 1 << 20;
/// How soon a pager has ended that has shown nothing.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How sh ends where a program cannot be started, or is not there.
const NOT_STARTED: [i32; 2] = [126, 127];

/// The pager that reads standard output now.
static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

#[derive(Debug)]
struct Running {
    child: Child,
    begun: Instant,
    /// Standard output without it.
    terminal: OwnedFd,
    /// What it was given. `None`: more than is kept.
    given: Option<Vec<u8>>,
    /// Bytes of that that are in the pipe or were read from it.
    passed: u64,
}

impl Running {
    /// Hands `text` on, and counts what is taken.
    fn give(&mut self, text: &[u8]) -> io::Result<()> {
        if let Some(given) = &mut self.given {
            given.extend_from_slice(text);
            if given.len() > KEPT_LIMIT {
                self.given = None;
            }
        }
        let mut rest = text;
        while !rest.is_empty() {
            // Not by way of the standard library's buffer, which would keep what is not taken.
            match nix::unistd::write(io::stdout(), rest) {
                Ok(taken) => {
                    rest = rest.get(taken..).unwrap_or_default();
                    self.passed = self.passed.saturating_add(taken as u64);
                }
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for its end; what is still to be shown, because it has shown nothing. What it
    /// has not read is in `pipe` still.
    fn end(&mut self, pipe: impl AsFd) -> Option<Vec<u8>> {
        let ended = self.child.wait().ok()?;
        let unread = rustix::io::ioctl_fionread(pipe).ok()?;
        let has_read = unread < self.passed;
        if has_read || !has_failed_at_once(ended, self.begun.elapsed()) {
            return None;
        }
        self.given.take()
    }
}

fn has_failed_at_once(ended: ExitStatus, after: Duration) -> bool {
    match ended.code() {
        None | Some(0) => false,
        Some(code) => NOT_STARTED.contains(&code) || after < AT_ONCE,
    }
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has `child` read standard output, from the other side of `pipe`.
pub(crate) fn begin(child: Child, pipe: &ChildStdin) -> io::Result<()> {
    io::stdout().flush()?;
    let terminal = io::stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdout(pipe)?;
    *running() = Some(Running {
        child,
        begun: Instant::now(),
        terminal,
        given: Some(Vec::new()),
        passed: 0,
    });
    Ok(())
}

/// Gives `text` to the pager; `None`: there is none.
pub(crate) fn give(text: &[u8]) -> Option<io::Result<()>> {
    Some(running().as_mut()?.give(text))
}

/// Makes standard output the terminal again when the pager no longer reads and has shown
/// nothing; what is to be written again.
pub(crate) fn take_back() -> Option<Vec<u8>> {
    let mut running = running();
    let given = running.as_mut()?.end(io::stdout())?;
    let taken = running.take()?;
    nix::unistd::dup2_stdout(&taken.terminal).ok()?;
    Some(given)
}

/// Waits for the end of the pager, if there is one still.
pub(crate) fn end() {
    let Some(mut running) = running().take() else {
        return;
    };
    // What it has not read is lost with the last end of the pipe.
    let pipe = File::open(STANDARD_OUTPUT);
    // It ends when nobody can write to it any more.
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = nix::unistd::dup2_stdout(&nothing);
    }
    let Ok(pipe) = pipe else {
        let _ = running.child.wait();
        return;
    };
    if let Some(given) = running.end(&pipe) {
        // A terminal that is gone shows nothing any more.
        let _ = File::from(running.terminal).write_all(&given);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pager_that_fails_at_once_is_told_from_one_that_ends() {
        use std::os::unix::process::ExitStatusExt as _;
        let ended = |code: i32, seconds| {
            has_failed_at_once(
                ExitStatus::from_raw(code << 8),
                Duration::from_secs(seconds),
            )
        };
        assert!(ended(127, 9) && ended(126, 9) && ended(1, 0));
        assert!(!ended(0, 0) && !ended(1, 9));
        let killed = ExitStatus::from_raw(2);
        assert!(!has_failed_at_once(killed, Duration::ZERO));
    }
}
