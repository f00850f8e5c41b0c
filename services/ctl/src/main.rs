//! `openclawctl`, the command-line client of the OpenClaw suite.

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_terminal::Failure;

use crate::cli::Command;

mod approvals;
mod auth;
mod backup;
mod cancel;
mod chat;
mod cli;
mod config;
mod connection;
mod doctor;
mod events;
mod export;
mod import;
mod libraries;
mod memory;
mod message;
mod run;
mod sessions;
mod setup;
mod sockets;
mod status;
mod token;
mod turns;

fn main() -> ExitCode {
    let command = match cli::parse() {
        Ok(command) => command,
        Err(code) => return code,
    };
    match execute(command, &Environment::inherit()) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn execute(command: Command, environment: &Environment) -> Result<ExitCode, Failure> {
    match command {
        Command::Chat(arguments) => chat::execute(arguments, environment),
        Command::Message(arguments) => message::execute(arguments, environment),
        Command::Status(arguments) => status::execute(&arguments, environment),
        Command::Doctor(arguments) => doctor::execute(&arguments, environment),
        Command::Sessions(arguments) => sessions::execute(&arguments, environment),
        Command::Memory(command) => memory::execute(command, environment),
        Command::Config(arguments) => config::execute(arguments, environment),
        Command::Import(arguments) => import::execute(&arguments, environment),
        Command::Export(arguments) => export::execute(&arguments, environment),
        Command::Backup(arguments) => backup::execute(&arguments, environment),
        Command::Restore(arguments) => backup::restore::execute(&arguments, environment),
        Command::Turns(arguments) => turns::execute(&arguments, environment),
        Command::Events(arguments) => events::execute(&arguments, environment),
        Command::Cancel(arguments) => cancel::execute(&arguments, environment),
        Command::Approvals(arguments) => approvals::execute(&arguments, environment),
        Command::Auth(arguments) => auth::execute(&arguments, environment),
        Command::Channels(arguments) => libraries::channels(&arguments, environment),
        Command::Pairing(arguments) => libraries::pairing(&arguments, environment),
        Command::Send(arguments) => libraries::send(&arguments, environment),
        Command::Cron(arguments) => libraries::cron(&arguments, environment),
        Command::Token(arguments) => token::execute(&arguments, environment),
        Command::Sockets(arguments) => sockets::execute(&arguments, environment),
        Command::Setup(arguments) => setup::execute(&arguments, environment),
        Command::Run(arguments) => run::execute(&arguments, environment),
        Command::Activate(arguments) => Err(run::activate(arguments)),
    }
}
