//! What is typed at a terminal and shown nowhere.

use std::io;
use std::os::fd::AsFd as _;

use anyhow::Context as _;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use openclaw_config::secret::Secret;

use crate::failure::Failure;
use crate::{output, signals};

/// What ends a program, unless it was started so that they are ignored.
const ENDING: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGHUP,
];
/// Bytes that are read at once; a terminal gives a line.
const CHUNK: usize = 4096;

/// What is typed at `text`, without being shown; `None`: nothing.
///
/// # Errors
/// When the terminal cannot hide it or cannot be read, and when a signal ends the program, which
/// is to be left with the code of it.
pub fn ask(text: &str) -> Result<Option<Secret>, Failure> {
    let taken = Taken::begin().context("cannot take signals")?;
    // Before the question: what is typed ahead of it is discarded, and is not shown.
    let unseen = Unseen::begin().context("cannot hide what is typed")?;
    output::stderr(text);
    let line = line(text, &taken, &unseen);
    drop(unseen);
    output::stderr("\n");
    drop(taken);
    let line = line?;
    let line = String::from_utf8(line).context("what is typed is no text")?;
    let typed = line.trim();
    Ok((!typed.is_empty()).then(|| Secret::new(typed)))
}

/// The line that is typed next. While the program is stopped the terminal is as it was.
fn line(text: &str, taken: &Taken, unseen: &Unseen) -> Result<Vec<u8>, Failure> {
    let mut typed = Vec::new();
    loop {
        match taken.next().context("cannot wait for what is typed")? {
            None => {
                let mut bytes = [0; CHUNK];
                let read = nix::unistd::read(io::stdin().as_fd(), &mut bytes);
                let count = read.context("cannot read what is typed")?;
                typed.extend_from_slice(&bytes[..count]);
                if count == 0 || typed.ends_with(b"\n") {
                    return Ok(typed);
                }
            }
            Some(signal @ (Signal::SIGTSTP | Signal::SIGCONT)) => {
                if signal == Signal::SIGTSTP {
                    unseen.show();
                    output::stderr("\n");
                    taken.stop();
                }
                // Shells change a terminal while a program is stopped, and what was typed of the
                // line is gone.
                unseen.hide().context("cannot hide what is typed")?;
                typed.clear();
                output::stderr(text);
            }
            Some(signal) => return Err(signals::ended_by(signal as i32)),
        }
    }
}

/// Signals that are waited for with what is typed; as before when dropped. They would end or
/// stop the program with a terminal that shows nothing.
struct Taken {
    before: SigSet,
    waiting: SignalFd,
}

impl Taken {
    fn begin() -> nix::Result<Self> {
        let ending = ENDING.into_iter();
        let mut set: SigSet = ending
            .filter(|signal| !signals::is_ignored(*signal as i32))
            .collect();
        set.add(Signal::SIGTSTP);
        set.add(Signal::SIGCONT);
        let waiting = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let before = SigSet::thread_get_mask()?;
        set.thread_block()?;
        Ok(Self { before, waiting })
    }

    /// Waits: `None` when something was typed.
    fn next(&self) -> nix::Result<Option<Signal>> {
        let stdin = io::stdin();
        loop {
            let mut waited = [
                PollFd::new(self.waiting.as_fd(), PollFlags::POLLIN),
                PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut waited, PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            if let Some(signal) = self.waiting.read_signal()? {
                let number = i32::try_from(signal.ssi_signo);
                return number
                    .map_or(Err(Errno::EINVAL), Signal::try_from)
                    .map(Some);
            }
            if waited[1].any().unwrap_or(true) {
                return Ok(None);
            }
        }
    }

    /// Stops the program as the signal does that was taken, until it is continued. What ends it
    /// meanwhile finds the terminal as it was. The kernel stops nobody whom no shell continues.
    fn stop(&self) {
        let taken = SigSet::thread_get_mask();
        // Without it the program goes on asking.
        if self.before.thread_set_mask().is_ok() {
            let _ = raise(Signal::SIGTSTP);
        }
        if let Ok(taken) = taken {
            let _ = taken.thread_set_mask();
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // What was not blocked before can be let through again.
        let _ = self.before.thread_set_mask();
    }
}

/// The terminal as it was, which it is again afterwards.
struct Unseen(Termios);

impl Unseen {
    fn begin() -> nix::Result<Self> {
        let unseen = Self(tcgetattr(io::stdin())?);
        unseen.hide()?;
        Ok(unseen)
    }

    fn hide(&self) -> nix::Result<()> {
        let mut hidden = self.0.clone();
        hidden.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &hidden)
    }

    fn show(&self) {
        // A terminal that is gone shows nothing any more.
        let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &self.0);
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        self.show();
    }
}
