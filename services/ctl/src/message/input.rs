//! The message's text: from the arguments or from standard input.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Context as _;
use openclaw_terminal::Failure;

/// The longest message in bytes. Half of what fits in one gRPC message, so
/// that what is around it fits too.
const TEXT_LIMIT: u64 = openclaw_proto::MESSAGE_LIMIT as u64 / 2;

/// The words, or standard input when there are none or only `-`.
pub(super) fn text(words: &[String]) -> Result<String, Failure> {
    let text = match words {
        [] if io::stdin().is_terminal() => {
            return Err(Failure::usage("no message was given")
                .hint("openclawctl message \"text\", or pipe the text into it"));
        }
        [] => standard_input()?,
        [dash] if dash == "-" => standard_input()?,
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the message is empty"));
    }
    if text.len() as u64 > TEXT_LIMIT {
        return Err(Failure::usage(format!(
            "the message is longer than {} MiB",
            TEXT_LIMIT >> 20
        )));
    }
    Ok(text)
}

fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // One more than allowed, so that a longer text shows.
    io::stdin()
        .lock()
        .take(TEXT_LIMIT + 1)
        .read_to_end(&mut bytes)
        .context("cannot read the message from standard input")?;
    let mut text = String::from_utf8(bytes).context("the message on standard input is no text")?;
    // The line end that a shell's pipe adds is not part of what was said.
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined() {
        let words = ["hello", "you  there"].map(str::to_owned);
        assert_eq!(text(&words).unwrap(), "hello you  there");
    }

    #[test]
    fn input_nothing_said_is_wrong_usage() {
        let failure = text(&["  ".to_owned()]).unwrap_err();
        assert_eq!(failure.text(), "the message is empty");
    }
}
