//! The arguments.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, Parser, Subcommand};
use openclaw_completion::suggest;
use openclaw_status::seconds;
use openclaw_terminal::aliases::{self, Aliases, Meaning};
use openclaw_terminal::{Failure, failure, output, question};

pub(crate) mod approvals;
pub(crate) mod backup;
pub(crate) mod config;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod turns;

pub(crate) use approvals::Approvals;
pub(crate) use backup::{Backup, Restore};
pub(crate) use config::Config;
pub(crate) use sessions::{Export, Import, Sessions};
pub(crate) use setup::Setup;
pub(crate) use turns::Turns;

/// Talks to the OpenClaw assistant of this user.
#[derive(Debug, Parser)]
#[command(name = "openclawctl", version)]
pub(crate) struct Line<C: Subcommand> {
    #[command(subcommand)]
    pub(crate) command: C,
    /// Print long output as it is, also at a terminal [there: OPENCLAW_PAGER, PAGER or less]
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Of the suite of this machine, which systemd runs for a group of users, and not of your own
    #[arg(long, global = true)]
    pub(crate) system: bool,
}

/// The options of all commands.
const OF_ALL: [&str; 2] = ["--no-pager", "--system"];

/// The command line.
pub(crate) type Cli = Line<Command>;

/// What is said most often. All commands take longer to set up than to read one.
#[derive(Debug, Subcommand)]
enum Often {
    Message(Message),
}

impl Cli {
    /// Reads the words with no more of the commands than they need. None where they are not
    /// understood so.
    fn of_often(words: &[String]) -> Option<Self> {
        if words.get(1).is_none_or(|word| word != "message") {
            return None;
        }
        let Line {
            command: Often::Message(message),
            no_pager,
            system,
        } = Line::try_parse_from(words).ok()?;
        Some(Self {
            command: Command::Message(message),
            no_pager,
            system,
        })
    }
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
    /// Show what runs, which backend answers and why, and what is wrong
    Status(openclaw_status::Status),
    /// Check the installation and the confinements, and say how to mend them
    Doctor(Doctor),
    /// Search, read and keep what the assistant remembers
    Memory(openclaw_recollection::Memory),
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
    /// Start the suite: its units, or without systemd its daemons
    Start(Start),
    /// Stop the suite
    Stop,
    /// Stop the suite and start it
    Restart(Start),
    /// List the turns that run and those that ended, and what they cost; show or follow one
    #[command(visible_alias = "runs")]
    Turns(Turns),
    /// List the agents, and what answers each
    Agents(openclaw_models::Agents),
    /// List the models, and try whether one answers
    Models(openclaw_models::Models),
    /// Follow what happens in the sessions
    Events(Events),
    /// Show the log of the daemons and of their turns
    Logs(Box<openclaw_logs::Logs>),
    /// End a run and every process it started
    Cancel(Cancel),
    /// List and decide about commands that wait to be allowed
    Approvals(Approvals),
    /// Show the channels, and how they do
    Channels(openclaw_contacts::Channels),
    /// List and decide about those who want to talk on a channel
    Pairing(openclaw_contacts::Pairing),
    /// List and decide about the WebSocket clients that have a token of their own, or want one
    Devices(openclaw_contacts::Devices),
    /// Say something on a channel
    Send(openclaw_contacts::Send),
    /// List, add and change what is done at its time, and see how that went
    Cron(Box<openclaw_cron::Cron>),
    /// List, add and remove the keys and logins that agents run on
    Auth(openclaw_login::Auth),
    /// Look for what lets more in, or out, than it has to
    Security(Security),
    /// Print the token that WebSocket and HTTP clients need
    Token(openclaw_contacts::Token),
    /// Bring systemd's units in line with the configuration: ports, and workspaces elsewhere
    Sockets(openclaw_sockets::Sockets),
    /// Run the daemons in the foreground, where there is no systemd
    Run(Run),
    /// Print what a shell needs to complete commands, sessions and runs
    Completions(Completions),
    /// Print the versions of this program and of the daemons
    Version(Version),
    /// What can be typed next; for the shells.
    #[command(hide = true)]
    Complete(Complete),
    /// Writes the man pages; for the installation.
    #[command(hide = true)]
    Manual(Manual),
    /// Becomes a daemon with its socket as descriptor 3; part of `run`.
    #[command(hide = true)]
    Activate(Activate),
}

impl Command {
    /// The name of a command that does something to files, units or keys of its user, and
    /// knows nothing of those of the machine's suite.
    pub(crate) fn of_users_alone(&self) -> Option<&'static str> {
        Some(match self {
            Self::Setup(_) => "setup",
            Self::Run(_) => "run",
            Self::Sockets(_) => "sockets",
            Self::Auth(_) => "auth",
            Self::Security(_) => "security",
            Self::Channels(_) => "channels",
            Self::Import(_) => "import",
            Self::Backup(_) => "backup",
            Self::Restore(_) => "restore",
            _ => return None,
        })
    }
}

/// Arguments of `message`.
#[derive(Debug, Args)]
pub(crate) struct Message {
    /// The message, several words are joined; without it or with `-` standard input is read
    // A message names files too.
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub(crate) text: Vec<String>,
    /// The session to send it to [default: the agent's main session]
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// The agent that answers [default: the one of the session, or the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// A file or picture that goes with it, copied into the agent's workspace; may be repeated
    #[arg(long = "file", visible_alias = "image", value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
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
    /// Print the reply as it was written, also at a terminal; a pipe has what the model said,
    /// byte for byte, in any case
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

/// Arguments of `events`.
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Only those of this session [default: those of all sessions]
    #[arg(long, value_name = "SESSION_KEY", conflicts_with = "agent")]
    pub(crate) session: Option<String>,
    /// Only those of this agent's sessions
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// First those that are kept after this sequence number; 0: all of them
    #[arg(long, value_name = "SEQ", value_parser = sequence)]
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

/// Arguments of `start` and `restart`.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Have gateway.port keep this port first
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// In the background, where it is in any case; `run` stays in the foreground
    #[arg(short = 'd', long = "detach")]
    _detach: bool,
}

/// Arguments of `security`.
#[derive(Debug, Args)]
pub(crate) struct Security {
    #[command(subcommand)]
    pub(crate) action: SecurityAction,
}

/// What to do about security.
#[derive(Debug, Subcommand)]
pub(crate) enum SecurityAction {
    /// Look for what lets more in, or out, than it has to
    Audit(openclaw_audit::Audit),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: openclaw_completion::Shell,
}

/// Arguments of `complete`.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The shell that asks
    pub(crate) shell: openclaw_completion::Shell,
    /// What is typed so far
    #[arg(last = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

/// Arguments of `manual`.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder for man1, man5, man7 and man8
    pub(crate) folder: PathBuf,
}

/// Arguments of `version`.
#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// End the `openclawctl run` that is running, and wait until it has ended
    #[arg(long, conflicts_with_all = ["detach", "set"])]
    pub(crate) stop: bool,
    /// In the background, until `openclawctl stop`
    #[arg(short, long)]
    pub(crate) detach: bool,
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
/// errors have been printed. `aliases` reads the commands of the user's own, which is done where
/// a command is not known.
pub(crate) fn parse(
    mut words: Vec<String>,
    aliases: impl FnOnce() -> Aliases,
) -> Result<Cli, ExitCode> {
    if words.len() == 1 && question::can_be_asked() && output::stdout_is_terminal() {
        return Ok(Cli {
            command: Command::Chat(Chat::default()),
            no_pager: true,
            system: false,
        });
    }
    if let Some(cli) = Cli::of_often(&words) {
        return Ok(cli);
    }
    let error = match understood(&words) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let aliases = if error.kind() == ErrorKind::InvalidSubcommand {
        aliases()
    } else {
        Aliases::default()
    };
    aliases.tell_problems();
    match by_alias(&mut words, error, &aliases) {
        Ok(cli) => Ok(cli),
        Err(NoAlias::Ended(code)) => Err(code),
        Err(NoAlias::Unknown(error)) => Err(tell(error, &words, &aliases)),
    }
}

/// Why the words of an alias are no command to go on with.
enum NoAlias {
    /// All is said and done.
    Ended(ExitCode),
    /// They are not understood either.
    Unknown(clap::Error),
}

/// The command that `words` are when names of the user's own stand for what they mean; `error` is
/// why they are none as they stand. As git has it: no alias comes before a command, and one may
/// stand for another.
fn by_alias(
    words: &mut Vec<String>,
    mut error: clap::Error,
    aliases: &Aliases,
) -> Result<Cli, NoAlias> {
    let mut known = Vec::new();
    while error.kind() == ErrorKind::InvalidSubcommand
        && let Some(place) = named(words)
    {
        let name = words[place].clone();
        let is_known = known.contains(&name);
        known.push(name);
        if is_known {
            let names = known.join("\" -> \"");
            let loops = Failure::usage(format!("alias loop detected: \"{names}\""));
            return Err(NoAlias::Ended(loops.report()));
        }
        let Some(alias) = aliases.find(&words[place]) else {
            break;
        };
        match &alias.meaning {
            Meaning::Words(meaning) => drop(words.splice(place..=place, meaning.clone())),
            Meaning::Shell(line) => {
                let ended = aliases::run(line, &words[place + 1..]);
                return Err(NoAlias::Ended(ended.unwrap_or_else(Failure::report)));
            }
        }
        error = match understood(words) {
            Ok(cli) => return Ok(cli),
            Err(error) => error,
        };
    }
    Err(NoAlias::Unknown(error))
}

/// Says why `words` are no command, or the help that they ask for; the code to exit with.
fn tell(mut error: clap::Error, words: &[String], aliases: &Aliases) -> ExitCode {
    if error.kind() == ErrorKind::InvalidSubcommand
        && let [_, help, name] = words
        && help == "help"
        && let Some(alias) = aliases.find(name)
    {
        let meaning = &alias.meaning;
        output::stderr_line(&format!("{name:?} is an alias of {meaning}"));
        return ExitCode::SUCCESS;
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let told = whole().try_get_matches_from(words).err().unwrap_or(error);
            match told.print() {
                // Help that nobody reads any more is not a failure.
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    let said = format!("cannot write to standard output: {error}");
                    Failure::new(said).report()
                }
                _ => ExitCode::SUCCESS,
            }
        }
        _ => {
            let names: Vec<&str> = aliases.list.iter().map(|it| it.name.as_str()).collect();
            let words = words.get(1..).unwrap_or_default();
            suggest(&mut error, &definition(), words, &names);
            // It quotes the arguments, which a program may have been given.
            output::stderr_line(error.to_string().trim_end());
            ExitCode::from(failure::USAGE)
        }
    }
}

/// The command line of these words. Options of all commands may stand before a command below
/// one that has options of its own, with which no command goes.
fn understood(words: &[String]) -> Result<Cli, clap::Error> {
    let understood = read(words.iter());
    match understood {
        Err(error) if error.kind() == ErrorKind::ArgumentConflict => {
            let is_of_all = |word: &&String| OF_ALL.contains(&word.as_str());
            let end = words.iter().position(|word| word == "--");
            let (before, behind) = words.split_at(end.unwrap_or(words.len()));
            let of_all = before.iter().filter(is_of_all);
            let others = before.iter().skip(1).filter(|word| !is_of_all(word));
            let program = before.iter().take(1);
            read(program.chain(of_all).chain(others).chain(behind)).or(Err(error))
        }
        understood => understood,
    }
}

fn read<'a>(words: impl Iterator<Item = &'a String>) -> Result<Cli, clap::Error> {
    let mut definition = definition();
    let mut matches = definition.try_get_matches_from_mut(words)?;
    let cli = <Cli as clap::FromArgMatches>::from_arg_matches_mut(&mut matches);
    cli.map_err(|error| error.format(&mut definition))
}

/// All commands. A negative number where a value is wanted is one: what it may be says the
/// value's own parser, and not that there is no such option.
pub(crate) fn definition() -> clap::Command {
    taking_numbers(<Cli as clap::CommandFactory>::command())
}

/// Values of options that begin with a dash and are no number: `--since -2h`.
const OF_ANY_BEGINNING: [&str; 4] = ["WHEN", "SPAN", "TEXT", "LINE"];

fn may_begin_with_a_dash(arg: &clap::Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    let is_of_any = names
        .iter()
        .any(|name| OF_ANY_BEGINNING.contains(&name.as_str()));
    let is_needed = arg.get_num_args().is_none_or(|it| it.min_values() > 0);
    arg.is_allow_hyphen_values_set() || (is_of_any && is_needed && !arg.is_positional())
}

fn taking_numbers(command: clap::Command) -> clap::Command {
    let takes_values = |arg: &clap::Arg| {
        let is_flag = matches!(
            arg.get_action(),
            ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count
        );
        !is_flag
    };
    command
        .mut_args(|arg| {
            let takes_values = takes_values(&arg);
            let is_any = takes_values && may_begin_with_a_dash(&arg);
            arg.allow_negative_numbers(takes_values && !is_any)
                .allow_hyphen_values(is_any)
        })
        .mut_subcommands(taking_numbers)
}

/// Where the command is among the words: behind options, of which none has a value.
fn named(words: &[String]) -> Option<usize> {
    let place = words
        .iter()
        .skip(1)
        .position(|word| !word.starts_with('-'))?;
    Some(place + 1)
}

/// All commands with their examples, which nobody needs who does not ask for help.
pub(crate) fn whole() -> clap::Command {
    openclaw_manual::examples::add(definition())
}

/// The settings on the command line of a process that is `run`.
pub(crate) fn settings_of_run(arguments: Vec<String>) -> Vec<(String, String)> {
    match read(arguments.iter()).map(|cli| cli.command) {
        Ok(Command::Run(run)) => run.set,
        _ => Vec::new(),
    }
}

fn sequence(text: &str) -> Result<u64, String> {
    let number = text.trim().parse();
    number.map_err(|_| "give a sequence number, from 0 on".to_owned())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    openclaw_config::KeyPath::parse(key).map_err(|error| error.to_string())?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests;
