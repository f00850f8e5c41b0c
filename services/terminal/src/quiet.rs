//! A screen that is painted anew is not to have what is typed on it.

use std::io;

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

use crate::output;

/// Stops a terminal from marking what is pasted, as an editor of lines asks for.
const PASTES_AS_TYPED: &str = "\u{1b}[?2004l";

/// The terminal as it was, which it is again when this is dropped: an editor of lines that is
/// left in the middle of one leaves it as it has it.
#[derive(Debug)]
pub struct TerminalModes(Option<Termios>);

impl TerminalModes {
    /// As it is now.
    #[must_use]
    pub fn now() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }
}

impl Drop for TerminalModes {
    fn drop(&mut self) {
        let Some(before) = &self.0 else { return };
        // A terminal that is gone shows nothing any more.
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        if output::stdout_takes_escapes() {
            let _ = output::write_stdout(PASTES_AS_TYPED);
        }
    }
}

/// A terminal that shows nothing of what is typed, such as `^C`; as before when dropped, and
/// what was typed meanwhile is thrown away.
#[derive(Debug)]
pub struct Quiet(Option<Termios>);

impl Quiet {
    /// Puts the terminal into that state, where standard input and output are one and it is this program's
    /// turn there: in the background it would be stopped for it.
    #[must_use]
    pub fn begin() -> Self {
        let is_others = tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp());
        if is_others || !output::stdout_is_terminal() {
            return Self(None);
        }
        let Ok(before) = tcgetattr(io::stdin()) else {
            return Self(None);
        };
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        match tcsetattr(io::stdin(), SetArg::TCSANOW, &quiet) {
            Ok(()) => Self(Some(before)),
            Err(_) => Self(None),
        }
    }

    /// Restores it, and leaves what was typed meanwhile to whoever reads next.
    pub fn end(mut self) {
        if let Some(before) = self.0.take() {
            // As in drop.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &before);
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // What was typed meanwhile is no line for the shell. A terminal that is gone shows
            // nothing any more.
            let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, before);
        }
    }
}
