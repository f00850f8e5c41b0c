//! Questions that are answered with a line.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;

use crate::output;

/// Whether somebody is there to be asked.
pub fn can_be_asked() -> bool {
    io::stdin().is_terminal()
}

/// What is answered to `question`, in lower case; `None` at the end of input.
/// Whoever does not see the question answers it with a line end.
///
/// # Errors
/// When standard input cannot be read.
pub fn ask(question: &str) -> anyhow::Result<Option<String>> {
    output::stderr(question);
    let mut answer = String::new();
    let length = io::stdin()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok((length > 0).then(|| answer.trim().to_lowercase()))
}

/// Whether `question` is answered with yes.
///
/// # Errors
/// When standard input cannot be read.
pub fn says_yes(question: &str) -> anyhow::Result<bool> {
    Ok(ask(question)?.is_some_and(|answer| answer == "y" || answer == "yes"))
}
