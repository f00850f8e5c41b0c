//! The modes of the terminal while a line is edited, which it is to have again when the program
//! was stopped meanwhile: shells give it their own.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use nix::sys::signal::Signal;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use openclaw_terminal::{Failure, output};
use rustyline::ExternalPrinter;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

/// What is printed above the line so that it is drawn once more: a line up, and down again.
const NOTHING: &str = "\u{1b}[A\n";

/// Those of the editor; nothing while no line is edited.
#[derive(Debug, Clone, Default)]
pub(super) struct Modes(Arc<Mutex<Option<Termios>>>);

impl Modes {
    /// A line is drawn. Before the first time the editor has set the terminal.
    pub(super) fn note(&self) {
        let mut modes = self.modes();
        if modes.is_none() {
            // A terminal that is gone has none.
            *modes = tcgetattr(io::stdin()).ok();
        }
    }

    /// No line is edited any more.
    pub(super) fn forget(&self) {
        *self.modes() = None;
    }

    /// Sets the terminal and has the line drawn once more whenever the program goes on after it
    /// was stopped.
    ///
    /// # Errors
    /// When the signal cannot be taken.
    pub(super) fn follow(
        &self,
        mut printer: Box<dyn ExternalPrinter + Send>,
    ) -> Result<JoinHandle<()>, Failure> {
        let continued = SignalKind::from_raw(Signal::SIGCONT as i32);
        let mut continued = signal(continued).context("cannot take signals")?;
        let modes = self.clone();
        Ok(tokio::spawn(async move {
            while continued.recv().await.is_some() {
                if modes.set_again() && output::stdout_takes_escapes() {
                    let _ = printer.print(NOTHING.to_owned());
                }
            }
        }))
    }

    /// Whether a line is edited.
    fn set_again(&self) -> bool {
        let modes = self.modes();
        if let Some(modes) = &*modes {
            // In the background this stops the program until it has the terminal. One that is
            // gone has no modes.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, modes);
        }
        modes.is_some()
    }

    fn modes(&self) -> MutexGuard<'_, Option<Termios>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
