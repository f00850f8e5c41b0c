//! What is typed at a terminal and shown nowhere.

use std::io;

use anyhow::Context as _;
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};
use openclaw_config::secret::Secret;

use crate::failure::Failure;
use crate::output;

/// What Ctrl-C types.
const INTERRUPT: char = '\u{3}';

/// What is typed at `text`, without being shown; `None`: nothing.
///
/// # Errors
/// When the terminal cannot hide it or cannot be read, and at Ctrl-C.
pub fn ask(text: &str) -> Result<Option<Secret>, Failure> {
    // Before the question: what is typed ahead of it is discarded, and is not shown.
    let unseen = Unseen::begin().context("cannot hide what is typed")?;
    output::stderr(text);
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    drop(unseen);
    output::stderr("\n");
    read.context("cannot read what is typed")?;
    if line.contains(INTERRUPT) {
        return Err(Failure::new("interrupted"));
    }
    let typed = line.trim();
    Ok((!typed.is_empty()).then(|| Secret::new(typed)))
}

/// The terminal as it was, which it is again afterwards.
struct Unseen(Termios);

impl Unseen {
    /// Ctrl-C ends the line instead of this process, which could not give the
    /// terminal back what it had.
    fn begin() -> nix::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden
            .local_flags
            .remove(LocalFlags::ECHO | LocalFlags::ISIG);
        hidden.control_chars[SpecialCharacterIndices::VEOL as usize] = INTERRUPT as u8;
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing any more.
        let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &self.0);
    }
}
