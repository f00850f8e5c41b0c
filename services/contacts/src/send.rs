//! `send`: something said on a channel.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::{Sent, Text};
use openclaw_settings::channels::CHANNELS;
use openclaw_settings::recipient::Recipient;
use openclaw_terminal::{Failure, output};

use crate::gateway::ContactsGateway;
use crate::sent_file;

/// Bytes that are read from standard input.
const INPUT_LIMIT: u64 = 64 * 1024;

/// Arguments of `send`.
#[derive(Debug, Args)]
pub struct Send {
    /// Whom or where: the channel and the id there, such as telegram:123456, or with a topic telegram:-100123:topic:4
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
    #[arg(long, value_name = "THREAD")]
    thread: Option<String>,
    /// A file to send along, at most 20 MB; a picture is shown as one
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What to say, several words are joined; `-` reads standard input, and so does nothing without a file
    text: Vec<String>,
}

impl Send {
    /// Sends it.
    ///
    /// # Errors
    /// What the gateway does not do, and why.
    pub async fn execute(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let (channel, to) = place(&self.to, self.thread.as_deref())?;
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
        let sent = gateway.client.send(text).await;
        match sent.map_err(|error| (gateway.failure)(&error))? {
            Sent::Delivered(_) => output::stdout_line("it is said"),
            Sent::Open(why) if why.is_empty() => output::stdout_line("it is being said"),
            Sent::Open(why) => {
                let why = output::line(&why);
                output::stdout_line(&format!("it is being said; the last attempt failed: {why}"))
            }
            Sent::Unattended => {
                output::stdout_line("it is said as soon as a daemon attends the account")
            }
            Sent::Failed(why) => Err(Failure::new(format!(
                "{} is not told: {}",
                self.to,
                output::line(&why)
            ))),
        }
    }

    fn words(&self) -> Result<String, Failure> {
        let is_input = self.text.is_empty() && self.file.is_none() || self.text == ["-"];
        let words = if is_input {
            words_of(std::io::stdin())?
        } else {
            self.text.join(" ")
        };
        if words.trim().is_empty() && self.file.is_none() {
            let failure = Failure::usage("there is nothing to say");
            return Err(failure.hint("give words, `-` for standard input, or --file FILE"));
        }
        Ok(words)
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

/// The channel, and the id there, which may name its topic. What nobody there can be
/// called is told before the gateway is asked; which channels there are it knows itself.
fn place<'a>(to: &'a str, thread: Option<&str>) -> Result<(&'a str, &'a str), Failure> {
    let named = to.split_once(':');
    let named = named.filter(|(channel, id)| !channel.is_empty() && !id.is_empty());
    let (channel, id) = named.ok_or_else(|| {
        Failure::usage(format!(
            "--to {to} is not CHANNEL:ID, such as telegram:123456"
        ))
    })?;
    let recipient = Recipient::of(channel, id).filter(|_| CHANNELS.contains(&channel));
    let recipient = recipient.map(|it| Recipient {
        topic: it.topic.or(thread),
        ..it
    });
    match recipient.and_then(|it| it.fault()) {
        Some(fault) => {
            let failure = Failure::usage(format!("--to {to}: {fault}"));
            Err(match with_account(channel, id) {
                Some(meant) => failure.hint(meant),
                None => failure,
            })
        }
        None => Ok((channel, id)),
    }
}

/// What is meant where the account stands before the id, as other commands name it.
fn with_account(channel: &str, id: &str) -> Option<String> {
    let (account, id) = id.split_once(':')?;
    let is_name = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-_".contains(it);
    let is_account = account.starts_with(|it: char| it.is_ascii_lowercase())
        && account.chars().all(is_name)
        && Recipient::of(channel, id).is_some_and(|it| it.fault().is_none());
    is_account
        .then(|| format!("the account has its own option: --to {channel}:{id} --account {account}"))
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
    fn send_says_something() {
        let send = |text: &str, file: Option<&str>| Send {
            to: "telegram:5".to_owned(),
            account: String::new(),
            thread: None,
            file: file.map(PathBuf::from),
            text: vec![text.to_owned()],
        };
        assert_eq!(send("a", None).words().unwrap(), "a");
        assert_eq!(send(" ", Some("a.png")).words().unwrap(), " ");
        let nothing = send(" ", None).words().unwrap_err();
        assert_eq!(nothing.text(), "there is nothing to say");
    }

    #[test]
    fn place_is_a_channel_and_an_id_there() {
        let of = |to| place(to, None).ok();
        let topic = "-100:topic:7";
        assert_eq!(of("telegram:-100:topic:7"), Some(("telegram", topic)));
        assert_eq!(of("pigeon:x"), Some(("pigeon", "x")));
        for wrong in [
            "telegram",
            "telegram:",
            ":1",
            "",
            "telegram:notanid",
            "telegram:-100:7",
        ] {
            assert!(place(wrong, None).is_err(), "{wrong}");
        }
        assert!(place("telegram:5", Some("4")).is_ok());
        assert!(place("telegram:work:555", None).is_err());
        let meant = with_account("telegram", "work:555").unwrap();
        assert!(
            meant.ends_with("--to telegram:555 --account work"),
            "{meant}"
        );
        for id in ["555", "-100:7", "work:no id", "Wo rk:555"] {
            assert_eq!(with_account("telegram", id), None, "{id}");
        }
        let text = place("telegram:5", Some("x")).unwrap_err().text();
        assert!(text.contains("no topic on telegram"), "{text}");
    }
}
