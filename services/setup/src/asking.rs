//! What is asked at a terminal.

use std::io;

use anyhow::Context as _;
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};
use openclaw_config::secret::Secret;
use openclaw_terminal::{Failure, output, question};

use crate::Person;

/// What Ctrl-C types.
const INTERRUPT: char = '\u{3}';

/// Asks, unless everything is agreed to.
#[derive(Debug)]
pub struct Asking {
    /// Whether everything is agreed to, and nothing asked.
    pub agrees: bool,
}

impl Person for Asking {
    fn agrees(&mut self, text: &str) -> bool {
        if self.agrees {
            return true;
        }
        // Who cannot be heard has not agreed.
        let answer = question::ask(&format!("{text} [Y/n] ")).unwrap_or_default();
        answer.is_some_and(|answer| ["", "y", "yes"].contains(&answer.as_str()))
    }
}

/// Which of `choices` somebody takes; `None`: none of them.
pub(crate) fn choice(text: &str, choices: &[String]) -> Result<Option<usize>, Failure> {
    output::stderr_line(text);
    for (index, choice) in choices.iter().enumerate() {
        output::stderr_line(&format!("  {}  {}", index + 1, output::line(choice)));
    }
    loop {
        let Some(answer) = question::ask(&format!("1 to {}, or nothing: ", choices.len()))? else {
            return Ok(None);
        };
        match answer.parse() {
            Ok(number) if (1..=choices.len()).contains(&number) => return Ok(Some(number - 1)),
            _ if answer.is_empty() => return Ok(None),
            _ => output::stderr_line("that is none of them"),
        }
    }
}

/// What is typed at `text`, without being shown; `None`: nothing.
pub(crate) fn secret(text: &str) -> Result<Option<Secret>, Failure> {
    // Before the question: what is typed ahead of it is discarded, and is not shown.
    let unseen = Unseen::begin().context("cannot hide what is typed")?;
    output::stderr(text);
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    drop(unseen);
    output::stderr("\n");
    read.context("cannot read the key")?;
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
