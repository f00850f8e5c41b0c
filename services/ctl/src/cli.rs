//! The arguments.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use openclaw_terminal::{failure, output, question};

use crate::memory;

pub(crate) mod approvals;
pub(crate) mod auth;
pub(crate) mod backup;
pub(crate) mod config;
pub(crate) mod sessions;
pub(crate) mod setup;
mod when;

pub(crate) use approvals::Approvals;
pub(crate) use auth::Auth;
pub(crate) use backup::{Backup, Restore};
pub(crate) use config::Config;
pub(crate) use sessions::{Export, Import, Sessions};
pub(crate) use setup::Setup;

/// Talks to the OpenClaw assistant of this user.
#[derive(Debug, Parser)]
#[command(name = "openclawctl", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send a message and print the reply as it comes
    Message(Message),
    /// Talk at this terminal, message after message; what openclawctl does there without a command
    Chat(Chat),
    /// Do what is still missing after the installation, connect a model, and have a first answer
    Setup(Setup),
    /// Show whether the daemons answer, and which backend answers messages
    Status(Status),
    /// Check the installation and the confinements, and say how to mend them
    Doctor(Doctor),
    /// Search, read and keep what the assistant remembers
    #[command(subcommand)]
    Memory(memory::Command),
    /// List, show, find and change the sessions
    Sessions(Box<Sessions>),
    /// Take sessions over from OpenClaw
    Import(Import),
    /// Write sessions so that OpenClaw imports them
    Export(Export),
    /// Write the whole state into one file, also while the suite runs
    Backup(Backup),
    /// Put back a state that `backup` wrote
    Restore(Restore),
    /// Show, check and change the configuration
    Config(Config),
    /// List the turns that run and those that ended, and what they cost
    Turns(Turns),
    /// Follow what happens in the sessions
    Events(Events),
    /// End a run and every process it started
    Cancel(Cancel),
    /// List and decide about commands that wait to be allowed
    Approvals(Approvals),
    /// Show the channels, and how they do
    Channels(openclaw_contacts::Channels),
    /// List and decide about those who want to talk on a channel
    Pairing(openclaw_contacts::Pairing),
    /// Say something on a channel
    Send(openclaw_contacts::Send),
    /// List, add and change what is done at its time, and see how that went
    Cron(Box<openclaw_cron::Cron>),
    /// Decide about logins of agent CLIs
    Auth(Auth),
    /// Print the token that WebSocket and HTTP clients need
    Token(Token),
    /// Bring systemd's units in line with the configuration: ports, and workspaces elsewhere
    Sockets(Sockets),
    /// Run the daemons in the foreground, where there is no systemd
    Run(Run),
    /// Becomes a daemon with its socket as descriptor 3; part of `run`.
    #[command(hide = true)]
    Activate(Activate),
}

/// Arguments of `message`.
#[derive(Debug, Args)]
pub(crate) struct Message {
    /// The message, several words are joined; without it or with `-` standard input is read
    pub(crate) text: Vec<String>,
    /// The session to send it to [default: the agent's main session]
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// The agent that answers [default: the one of the session, or the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Print every event as one line of JSON; with --no-stream one document at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the reply once, when it is whole
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Cancel the run when it has not ended after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Show tool calls also when standard error is not a terminal, and keep them on the screen
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print the reply as it was written, also at a terminal
    #[arg(long)]
    pub(crate) raw: bool,
}

/// Arguments of `chat`.
#[derive(Debug, Default, Args)]
pub(crate) struct Chat {
    /// The session to talk in [default: the agent's main session]
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// The agent that answers [default: the one of the session, or the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Keep a line of each tool call on the screen
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print replies as they were written
    #[arg(long)]
    pub(crate) raw: bool,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Try again until every daemon answers, for this time at most
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) wait: Option<Duration>,
    /// List every confinement, also those that are enforced
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Mend what can be mended without asking, and say what was done
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `turns`.
#[derive(Debug, Args)]
pub(crate) struct Turns {
    /// The most turns that are listed, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Print a document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Why turns have no whole reply: all of it, instead of its beginning
    #[arg(short, long)]
    pub(crate) wide: bool,
}

/// Arguments of `events`.
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Only those of this session [default: those of all sessions]
    #[arg(long, value_name = "KEY", conflicts_with = "agent")]
    pub(crate) session: Option<String>,
    /// Only those of this agent's sessions
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// First those that are kept after this sequence number; 0: all of them
    #[arg(long, value_name = "SEQ")]
    pub(crate) after: Option<u64>,
    /// Also what runs say while they go on: text, calls of tools
    #[arg(long)]
    pub(crate) live: bool,
    /// Print every event as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cancel`.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// The run, as `turns`, `message --json` and the journal name it, or the
    /// beginning of that [default: the one that runs]
    #[arg(value_name = "RUN_ID")]
    pub(crate) run_id: Option<String>,
    /// All that run or wait
    #[arg(long, conflicts_with = "run_id")]
    pub(crate) all: bool,
}

/// Arguments of `token`.
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Make another one; clients with the old one are disconnected
    #[arg(long)]
    pub(crate) rotate: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sockets`.
#[derive(Debug, Args)]
pub(crate) struct Sockets {
    /// Write nothing; exit with 1 when they are not in line
    #[arg(long)]
    pub(crate) check: bool,
    /// First have gateway.port keep this port; auto: a free one, where somebody else has the configured one
    #[arg(long, value_name = "auto|NUMBER", conflicts_with = "check", value_parser = port)]
    pub(crate) port: Option<Port>,
    /// With --port auto: say that somebody else has a port that was set, and leave it
    #[arg(long, requires = "port")]
    pub(crate) keep_set: bool,
}

/// The port that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    /// Any that is free, where the configured one is not.
    Auto,
    /// This one.
    Number(u16),
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// End the `openclawctl run` that is running, and wait until it has ended
    #[arg(long)]
    pub(crate) stop: bool,
    /// Set a value for this run, before the environment and the file
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
}

/// Arguments of `activate`.
#[derive(Debug, Args)]
pub(crate) struct Activate {
    /// The process that must still be the parent
    pub(crate) parent: i32,
    /// LISTEN_FDNAMES; empty: it has no socket
    pub(crate) name: String,
    /// The daemon
    pub(crate) program: PathBuf,
    /// Standard output brings more sockets
    #[arg(long)]
    pub(crate) more: bool,
    /// Its arguments
    #[arg(last = true)]
    pub(crate) arguments: Vec<String>,
}

/// The command that was asked for, or the code to exit with. Help and usage
/// errors have been printed.
pub(crate) fn parse() -> Result<Command, ExitCode> {
    let is_bare = std::env::args_os().len() == 1;
    if is_bare && question::can_be_asked() && output::stdout_is_terminal() {
        return Ok(Command::Chat(Chat::default()));
    }
    let error = match Cli::try_parse() {
        Ok(cli) => return Ok(cli.command),
        Err(error) => error,
    };
    Err(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Help that nobody reads any more is no failure.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        _ => {
            // It quotes the arguments, which a program may have been given.
            output::stderr_line(error.to_string().trim_end());
            ExitCode::from(failure::USAGE)
        }
    })
}

/// The settings on the command line of a process that is `run`.
pub(crate) fn settings_of_run(arguments: Vec<String>) -> Vec<(String, String)> {
    match Cli::try_parse_from(arguments).map(|cli| cli.command) {
        Ok(Command::Run(run)) => run.set,
        _ => Vec::new(),
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    openclaw_config::KeyPath::parse(key).map_err(|error| error.to_string())?;
    Ok((key.to_owned(), value.to_owned()))
}

fn port(text: &str) -> Result<Port, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Port::Auto),
        (_, Ok(number @ 1..)) => Ok(Port::Number(number)),
        _ => Err("give auto, or a number from 1 to 65535".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "give seconds, such as 30".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("must be more than 0 seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Command, clap::Error> {
        let all = std::iter::once("openclawctl").chain(arguments.iter().copied());
        Cli::try_parse_from(all).map(|cli| cli.command)
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_may_follow_the_words_of_a_message() {
        let command = parsed(&[
            "message",
            "hello",
            "there",
            "--session",
            "s",
            "--timeout",
            "1.5",
        ]);
        let Command::Message(message) = command.unwrap() else {
            panic!("not a message");
        };
        assert_eq!(message.text, ["hello", "there"]);
        assert_eq!(message.session.as_deref(), Some("s"));
        assert_eq!(message.timeout, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn sessions_are_listed_by_default() {
        let sessions = |arguments: &[&str]| match parsed(arguments).unwrap() {
            Command::Sessions(sessions) => sessions,
            other => panic!("not sessions: {other:?}"),
        };
        let plain = sessions(&["sessions", "--json"]);
        assert!(plain.action.is_none() && plain.list.json);
        let listed = sessions(&["sessions", "list", "--limit", "5"]).action;
        assert!(matches!(listed, Some(sessions::Action::List(list)) if list.limit == Some(5)));
    }

    #[test]
    fn a_time_must_be_one() {
        for text in ["0", "-1", "soon", "inf", "NaN"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
