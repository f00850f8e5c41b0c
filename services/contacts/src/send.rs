//! `send`: something said on a channel.

use std::io::Read as _;

use clap::Args;
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::Text;
use openclaw_terminal::{Failure, output};

use crate::Gateway;

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
    /// What to say, several words are joined; without it or with `-` standard input is read
    text: Vec<String>,
}

impl Send {
    /// Has it said.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &Gateway<'_>) -> Result<(), Failure> {
        let (channel, to) = place(&self.to)?;
        let text = Text {
            account: AccountName {
                channel: channel.to_owned(),
                account: self.account.clone(),
            },
            to: to.to_owned(),
            thread: self.thread.clone(),
            text: self.words()?,
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
        let is_input = self.text.is_empty() || self.text == ["-"];
        if !is_input {
            return Ok(self.text.join(" "));
        }
        let mut text = String::new();
        let read = std::io::stdin().take(INPUT_LIMIT).read_to_string(&mut text);
        read.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
        Ok(text)
    }
}

/// The channel, and the id there.
fn place(to: &str) -> Result<(&str, &str), Failure> {
    match to.split_once(':') {
        Some((channel, id)) if !channel.is_empty() && !id.is_empty() => Ok((channel, id)),
        _ => Err(Failure::usage(format!(
            "--to {to} says no channel; write CHANNEL:ID, such as telegram:123456"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_a_channel_and_an_id_there() {
        assert_eq!(place("telegram:-100:7").unwrap(), ("telegram", "-100:7"));
        for wrong in ["telegram", "telegram:", ":1", ""] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
