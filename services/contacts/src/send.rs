//! `send`: something said on a channel.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::Text;
use openclaw_terminal::{Failure, output};

use crate::gateway::Gateway;
use crate::sent_file;

/// Bytes that are read from standard input.
const INPUT_LIMIT: u64 = 64 * 1024;

/// Arguments of `send`.
#[derive(Debug, Args)]
pub struct Send {
    /// Whom or where: the channel and the id there, such as telegram:123456
    #[arg(long, value_name = "CHANNEL:ID")]
    to: String,
    /// The account that says it [default: the channel's default one]
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    account: String,
    /// The thread or topic
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// A file to send along, at most 20 MB; a picture is shown as one
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What to say, several words are joined; `-` reads standard input, and so does nothing without a file
    text: Vec<String>,
}

impl Send {
    /// Has it said.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        let (channel, to) = place(&self.to)?;
        let account = AccountName {
            channel: channel.to_owned(),
            account: self.account.clone(),
        };
        // All that can be wrong with it is told before anything is sent.
        let read = |path| sent_file::read(path, gateway.environment);
        let content = self.file.as_deref().map(read).transpose()?;
        let words = self.words()?;
        let file = match content {
            Some(content) => Some(sent_file::put(content, account.clone(), gateway).await?),
            None => None,
        };
        let text = Text {
            account,
            to: to.to_owned(),
            thread: self.thread.clone(),
            text: words,
            file,
        };
        let is_attended = gateway.client.send(text).await;
        let is_attended = is_attended.map_err(|error| (gateway.failure)(&error))?;
        output::stdout_line(if is_attended {
            "it is being said"
        } else {
            "it is said as soon as a daemon attends the account"
        })
    }

    fn words(&self) -> Result<String, Failure> {
        let is_input = self.text.is_empty() && self.file.is_none() || self.text == ["-"];
        if !is_input {
            return Ok(self.text.join(" "));
        }
        words_of(std::io::stdin())
    }
}

/// What is to be said, all of it: half of it would be something else.
fn words_of(input: impl Read) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::new(format!("standard input {why}"));
    let mut bytes = Vec::new();
    let read = input.take(INPUT_LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(&format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > INPUT_LIMIT {
        return Err(failed(&format!(
            "is more than the {INPUT_LIMIT} bytes that are said at once"
        )));
    }
    String::from_utf8(bytes).map_err(|_| failed(&"is no text (UTF-8)"))
}

/// The channel, and the id there.
fn place(to: &str) -> Result<(&str, &str), Failure> {
    match to.split_once(':') {
        Some((channel, id)) if !channel.is_empty() && !id.is_empty() => Ok((channel, id)),
        _ => Err(Failure::usage(format!(
            "--to {to} is not CHANNEL:ID, such as telegram:123456"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_said_as_a_whole_or_not_at_all() {
        assert_eq!(words_of(&b"hello\n"[..]).unwrap(), "hello\n");
        let most = vec![b'x'; INPUT_LIMIT as usize];
        assert_eq!(words_of(&most[..]).unwrap().len(), most.len());
        let more = [&most[..], b"x"].concat();
        let text = words_of(&more[..]).unwrap_err().text();
        assert!(text.contains("65536 bytes"), "{text}");
        assert!(words_of(&[0xff][..]).is_err());
    }

    #[test]
    fn place_is_a_channel_and_an_id_there() {
        assert_eq!(place("telegram:-100:7").unwrap(), ("telegram", "-100:7"));
        for wrong in ["telegram", "telegram:", ":1", ""] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
