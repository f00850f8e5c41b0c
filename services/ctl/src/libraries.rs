//! `channels`, `pairing`, `devices`, `send` and `cron`, which are libraries of their own.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_contacts::{Channels, ContactsGateway, Devices, Pairing, Send, Token};
use openclaw_cron::{Cron, ScheduleGateway};
use openclaw_login::Auth;
use openclaw_proto::call::CallError;
use openclaw_proto::{channel_admin, schedule};
use openclaw_terminal::Failure;

use openclaw_connection::{self as connection, Gateway};

pub(crate) fn channels(
    arguments: &Channels,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    execute(environment, async |gateway| {
        arguments.execute(gateway).await
    })
}

pub(crate) fn pairing(arguments: &Pairing, environment: &Environment) -> Result<ExitCode, Failure> {
    execute(environment, async |gateway| {
        arguments.execute(gateway).await
    })
}

pub(crate) fn devices(arguments: &Devices, environment: &Environment) -> Result<ExitCode, Failure> {
    reach(environment, async |paths, failure| {
        arguments.execute(&paths.gateway_socket(), failure).await
    })
}

pub(crate) fn token(arguments: &Token, environment: &Environment) -> Result<ExitCode, Failure> {
    reach(environment, async |paths, failure| {
        arguments.execute(&paths.gateway_socket(), failure).await
    })
}

pub(crate) fn send(arguments: &Send, environment: &Environment) -> Result<ExitCode, Failure> {
    execute(environment, async |gateway| {
        arguments.execute(gateway).await
    })
}

pub(crate) fn cron(arguments: &Cron, environment: &Environment) -> Result<ExitCode, Failure> {
    reach(environment, async |paths, failure| {
        let client = schedule::Client::new(paths.gateway_socket());
        arguments
            .execute(&ScheduleGateway { client, failure })
            .await
    })
}

pub(crate) fn auth(arguments: &Auth, environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    // Under systemd as well as without it, the runner takes up what was changed.
    let reload = || {
        let unit = "openclaw-agent-runner.service";
        if openclaw_service_manager::runtime(environment).is_some() {
            let told = ["--user", "try-reload-or-restart", unit];
            // One that does not run reads them when it is started.
            let _ = openclaw_service_manager::tell("systemctl", &told, environment);
        }
        openclaw_foreground::reload(&paths);
    };
    arguments.execute(environment, &reload)
}

fn execute(
    environment: &Environment,
    command: impl AsyncFnOnce(&ContactsGateway<'_>) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    reach(environment, async |paths, failure| {
        let contacts = ContactsGateway {
            client: channel_admin::Client::new(paths.gateway_socket()),
            failure,
            paths,
            environment,
            reload: &|| openclaw_foreground::reload(paths),
            align: &|| openclaw_sockets::bring_in_line(environment, false, |_| Ok(())),
        };
        command(&contacts).await
    })
}

fn reach(
    environment: &Environment,
    command: impl AsyncFnOnce(&Paths, &dyn Fn(&CallError) -> Failure) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(async {
        let gateway = Gateway::at(&paths);
        command(&paths, &|error| gateway.failure(error)).await
    })?;
    Ok(ExitCode::SUCCESS)
}
