//! Who reads standard output in place of the terminal, and what to do when that one has
//! shown nothing of it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
}

impl Running {
    /// Waits for its end; what is still to be shown, because it has shown nothing.
    fn end(&mut self) -> Option<Vec<u8>> {
        let ended = self.child.wait().ok()?;
        if has_shown_nothing(ended, self.begun.elapsed()) {
            return self.given.take();
        }
        None
    }
}

fn has_shown_nothing(ended: ExitStatus, after: Duration) -> bool {
    match ended.code() {
        None | Some(0) => false,
        Some(code) => NOT_STARTED.contains(&code) || after < AT_ONCE,
    }
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what the pager, if there is one, is given.
pub(crate) fn keep(text: &str) {
    if let Some(running) = running().as_mut()
        && let Some(given) = &mut running.given
    {
        given.extend_from_slice(text.as_bytes());
        if given.len() > KEPT_LIMIT {
            running.given = None;
        }
    }
}

/// Has `child` read standard output, from the other side of `pipe`.
pub(crate) fn begin(child: Child, pipe: &ChildStdin) -> io::Result<()> {
    let terminal = io::stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdout(pipe)?;
    *running() = Some(Running {
        child,
        begun: Instant::now(),
        terminal,
        given: Some(Vec::new()),
    });
    Ok(())
}

/// Has standard output be the terminal again where the pager reads no more, and has shown
/// nothing; what is to be written again.
pub(crate) fn take_back() -> Option<Vec<u8>> {
    let mut running = running();
    let given = running.as_mut()?.end()?;
    let taken = running.take()?;
    nix::unistd::dup2_stdout(&taken.terminal).ok()?;
    Some(given)
}

/// Waits for the end of the pager, if there is one still.
pub(crate) fn end() {
    let Some(mut running) = running().take() else {
        return;
    };
    // It ends when nobody can write to it any more.
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = nix::unistd::dup2_stdout(&nothing);
    }
    if let Some(given) = running.end() {
        // A terminal that is gone shows nothing any more.
        let _ = File::from(running.terminal).write_all(&given);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pager_that_ends_at_once_has_shown_nothing() {
        use std::os::unix::process::ExitStatusExt as _;
        let ended = |code: i32, seconds| {
            has_shown_nothing(
                ExitStatus::from_raw(code << 8),
                Duration::from_secs(seconds),
            )
        };
        assert!(ended(127, 9) && ended(126, 9) && ended(1, 0));
        assert!(!ended(0, 0) && !ended(1, 9));
        let killed = ExitStatus::from_raw(2);
        assert!(!has_shown_nothing(killed, Duration::ZERO));
    }
}
