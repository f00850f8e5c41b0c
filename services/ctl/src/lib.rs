//! `openclawctl`, the command-line client of the OpenClaw suite.

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_terminal::Failure;
use openclaw_terminal::aliases::Aliases;
use openclaw_terminal::pager::Pager;

use crate::cli::{Command, SecurityAction};
use openclaw_connection as connection;

mod approvals;
mod backup;
mod cancel;
mod chat;
mod cli;
mod completions;
mod config;
mod doctor;
mod events;
mod export;
mod import;
mod libraries;
mod lifecycle;
mod manual;
mod message;
mod run;
mod sessions;
mod setup;
mod turns;
mod version;

/// The program.
pub fn main() -> ExitCode {
    let environment = Environment::inherit();
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let aliases = || Aliases::read(&environment);
    let cli = match cli::parse(words.collect(), aliases) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let environment = match (cli.system, cli.command.of_users_alone()) {
        (false, _) => environment,
        (true, None) => connection::of_machine(environment),
        (true, Some(name)) => return connection::of_users_alone(name).report(),
    };
    let is_paged = !cli.no_pager && is_long(&cli.command);
    let pager = is_paged.then(Pager::begin).flatten();
    let code = match execute(cli.command, &environment) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    };
    drop(pager);
    code
}

/// Whether what it prints may be longer than a screen, and is read from its
/// beginning.
fn is_long(command: &Command) -> bool {
    match command {
        Command::Logs(logs) => !logs.follow,
        Command::Turns(turns) => !matches!(turns.action, Some(cli::turns::Action::Attach(_))),
        Command::Doctor(_) | Command::Security(_) => true,
        Command::Sessions(sessions) => sessions.only_reads(),
        Command::Config(config) => config.only_shows(),
        Command::Memory(memory) => memory.only_shows(),
        _ => false,
    }
}

fn execute(command: Command, environment: &Environment) -> Result<ExitCode, Failure> {
    match command {
        Command::Chat(arguments) => chat::execute(arguments, environment),
        Command::Message(arguments) => message::execute(arguments, environment),
        Command::Status(arguments) => arguments.execute(environment, run::environment),
        Command::Doctor(arguments) => doctor::execute(&arguments, environment),
        Command::Sessions(arguments) => sessions::execute(&arguments, environment),
        Command::Memory(command) => openclaw_recollection::execute(command, environment),
        Command::Config(arguments) => config::execute(arguments, environment),
        Command::Import(arguments) => import::execute(&arguments, environment),
        Command::Export(arguments) => export::execute(&arguments, environment),
        Command::Backup(arguments) => backup::execute(&arguments, environment),
        Command::Restore(arguments) => backup::restore::execute(&arguments, environment),
        Command::Turns(arguments) => turns::execute(&arguments, environment),
        Command::Events(arguments) => events::execute(&arguments, environment),
        Command::Logs(arguments) => arguments.execute(environment),
        Command::Cancel(arguments) => cancel::execute(&arguments, environment),
        Command::Approvals(arguments) => approvals::execute(&arguments, environment),
        Command::Start(arguments) => lifecycle::start(&arguments, environment),
        Command::Stop => lifecycle::stop(environment),
        Command::Restart(arguments) => lifecycle::restart(&arguments, environment),
        Command::Agents(arguments) => arguments.execute(environment),
        Command::Models(arguments) => arguments.execute(environment),
        Command::Auth(arguments) => libraries::auth(&arguments, environment),
        Command::Security(arguments) => match arguments.action {
            SecurityAction::Audit(audit) => audit.execute(environment),
        },
        Command::Completions(arguments) => completions::script(&arguments),
        Command::Complete(arguments) => completions::complete(&arguments, environment),
        Command::Manual(arguments) => manual::execute(&arguments, environment),
        Command::Version(arguments) => version::execute(&arguments, environment),
        Command::Channels(arguments) => libraries::channels(&arguments, environment),
        Command::Pairing(arguments) => libraries::pairing(&arguments, environment),
        Command::Devices(arguments) => libraries::devices(&arguments, environment),
        Command::Send(arguments) => libraries::send(&arguments, environment),
        Command::Cron(arguments) => libraries::cron(&arguments, environment),
        Command::Token(arguments) => libraries::token(&arguments, environment),
        Command::Sockets(arguments) => openclaw_sockets::execute(&arguments, environment),
        Command::Setup(arguments) => setup::execute(&arguments, environment),
        Command::Run(arguments) => run::execute(&arguments, environment),
        Command::Activate(arguments) => Err(run::activate(arguments)),
    }
}
