//! `start`, `stop` and `restart`: of the units, where the user's systemd has them,
//! else of the daemons in the background, as `run --detach` runs them.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use openclaw_config::{Environment, Paths, programs};
use openclaw_foreground::background::{StandardError, ended_at_once};
use openclaw_foreground::obstacle;
use openclaw_service_manager as manager;
use openclaw_terminal::{Failure, output};
use tokio::time::sleep;

use crate::cli;
use openclaw_connection as connection;
use openclaw_status::{self as status, Suite};

/// What all units stand under.
const TARGET: &str = "openclaw.target";
/// How long the daemons may take until all answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often they are asked.
const PAUSE: Duration = Duration::from_millis(50);

/// Starts the suite and waits until it answers; one that runs stays as it is.
pub(crate) fn start(
    arguments: &cli::Start,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    if let Some(pid) = openclaw_foreground::pid(&paths) {
        if let Some(port) = arguments.port {
            has_port(port, pid, &paths)?;
        }
        output::stdout_line(&format!("openclaw runs already, as process {pid}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if has_units(environment) {
        refuse_in_vain(&paths)?;
        if let Some(port) = arguments.port {
            keep_port(port, environment)?;
        }
        tell(&["start", TARGET], environment)?;
        answering(&paths, None)?;
        output::stdout_line("openclaw is started")?;
        return Ok(ExitCode::SUCCESS);
    }
    in_background(arguments.port, environment)
}

/// Refuses to start units that cannot work, and would reach their start limits.
fn refuse_in_vain(paths: &Paths) -> Result<(), Failure> {
    obstacle::find(paths).map_or(Ok(()), Err)
}

fn in_background(port: Option<u16>, environment: &Environment) -> Result<ExitCode, Failure> {
    let port = port.map(|port| ("gateway.port".to_owned(), port.to_string()));
    let overrides: Vec<(String, String)> = port.into_iter().collect();
    detach(&overrides, environment)
}

/// Refuses a port that the suite of process `pid`, which runs, does not have.
fn has_port(port: u16, pid: i32, paths: &Paths) -> Result<(), Failure> {
    let suite = connection::runtime()?.block_on(status::ask(paths));
    let listeners = suite.gateway.given().map(|it| it.listeners.as_slice());
    let mut addresses = listeners.unwrap_or_default().iter();
    let is_at_it = |address: &str| {
        let address = address.parse::<SocketAddr>();
        address.is_ok_and(|address| address.port() == port)
    };
    if addresses.any(|listener| is_at_it(&listener.address)) {
        return Ok(());
    }
    let said = format!("openclaw runs already, as process {pid}, and not at port {port}");
    Err(Failure::new(said).hint(format!("openclawctl restart --port {port} does it")))
}

/// Stops what runs.
pub(crate) fn stop(environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    if openclaw_foreground::is_running(&paths) {
        return openclaw_foreground::stop(&paths);
    }
    if !has_units(environment) {
        output::stdout_line("openclaw is not running")?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(&["stop", TARGET], environment)?;
    output::stdout_line("openclaw is stopped")?;
    Ok(ExitCode::SUCCESS)
}

/// Stops it and starts it. What ran in the foreground goes on in the background.
pub(crate) fn restart(
    arguments: &cli::Start,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let ran = openclaw_foreground::is_running(&paths);
    if !ran && has_units(environment) {
        refuse_in_vain(&paths)?;
        if let Some(port) = arguments.port {
            keep_port(port, environment)?;
        }
        tell(&["restart", TARGET], environment)?;
        answering(&paths, None)?;
        output::stdout_line("openclaw is started again")?;
        return Ok(ExitCode::SUCCESS);
    }
    // Before it is stopped: what it was started with goes with it.
    let environment = &openclaw_foreground::environment(&paths, environment, cli::settings_of_run);
    if ran {
        openclaw_foreground::stop(&paths)?;
    }
    in_background(arguments.port, environment)
}

/// The suite in the background; returns when it answers.
#[expect(
    clippy::disallowed_methods,
    reason = "this program itself, with arguments of its own: no agent"
)]
pub(crate) fn detach(
    overrides: &[(String, String)],
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    if let Some(pid) = openclaw_foreground::pid(&paths) {
        return Err(Failure::taken(format!(
            "openclawctl run is running already, as process {pid}"
        ))
        .hint("openclawctl stop ends it"));
    }
    let program = programs::own().context("cannot find this program")?;
    let mut command = Command::new(program);
    command.arg("run");
    // Those of a suite that is restarted, and before them what is said now.
    let earlier = environment.overrides().iter();
    for (key, value) in earlier.chain(overrides) {
        command.args(["--set", &format!("{key}={value}")]);
    }
    command.env_clear().envs(environment.beginning_with(""));
    // It goes on when the terminal is closed, and Ctrl-C in it is not meant for it.
    let nothing = || Stdio::null();
    // What it says while it is waited for; later it has its log, and nobody reads.
    let mut child = command
        .process_group(0)
        .stdin(nothing())
        .stdout(nothing())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start openclawctl run")?;
    let pid = child.id();
    let said = child.stderr.take().map(StandardError::listen);
    let suite = answering(&paths, Some((child, said)))?;
    output::stdout_line(&format!("openclaw is started, as process {pid}"))?;
    let listeners = suite.gateway.given().map(|it| it.listeners.as_slice());
    let listeners = listeners.unwrap_or_default().iter();
    let addresses: Vec<&str> = listeners.map(|it| it.address.as_str()).collect();
    if !addresses.is_empty() {
        output::stdout_line(&format!("it listens on {}", addresses.join(", ")))?;
    }
    output::stdout_line("openclawctl stop ends it")?;
    Ok(ExitCode::SUCCESS)
}

/// Waits until every daemon answers.
fn answering(
    paths: &Paths,
    mut started: Option<(Child, Option<StandardError>)>,
) -> Result<Suite, Failure> {
    let end = Instant::now() + PATIENCE;
    let runtime = connection::runtime()?;
    let waited = runtime.block_on(async {
        loop {
            let mut is_ours = true;
            if let Some((child, said)) = &mut started {
                if let Ok(Some(ended)) = child.try_wait() {
                    let said = said.take().map(StandardError::end).unwrap_or_default();
                    let reason = obstacle::ended(paths);
                    return Err(reason.unwrap_or_else(|| ended_at_once(ended, &said)));
                }
                // Somebody else's suite may answer there, too.
                let runs = openclaw_foreground::pid(paths);
                is_ours = runs.and_then(|pid| u32::try_from(pid).ok()) == Some(child.id());
            }
            let suite = status::ask(paths).await;
            if is_ours && suite.is_whole() {
                return Ok(suite);
            }
            if let (None, Some(problem)) = (&started, suite.state_problem) {
                return Err(Failure::new(problem));
            }
            if Instant::now() > end {
                return Err(Failure::new("the daemons do not answer yet")
                    .hint("openclawctl status says which, openclawctl logs why"));
            }
            sleep(PAUSE).await;
        }
    });
    runtime.shutdown_background();
    waited
}

/// Whether the user's systemd runs and has the units.
fn has_units(environment: &Environment) -> bool {
    if manager::runtime(environment).is_none() {
        return false;
    }
    let asked = manager::ask(
        "systemctl",
        &["--user", "show", "--property=LoadState", TARGET],
        environment,
    );
    asked.is_ok_and(|said| said.output() == "LoadState=loaded")
}

fn keep_port(port: u16, environment: &Environment) -> Result<(), Failure> {
    let sockets = openclaw_sockets::Sockets {
        check: false,
        port: Some(openclaw_sockets::Port::Number(port)),
        keep_set: false,
    };
    openclaw_sockets::execute(&sockets, environment)?;
    tell(&["daemon-reload"], environment)?;
    // The target's restart alone leaves sockets as they are.
    tell(&["restart", TARGET, "openclaw-*.socket"], environment)
}

fn tell(arguments: &[&str], environment: &Environment) -> Result<(), Failure> {
    let mut all = vec!["--user"];
    all.extend(arguments);
    manager::tell("systemctl", &all, environment).map_err(|error| {
        Failure::from(anyhow::Error::from(error)).hint(if environment.is_of_machine() {
            "it is for root: sudo openclawctl --system start, stop or restart; openclawctl --system logs says more"
        } else {
            "openclawctl logs says why; systemctl --user status openclaw.target what stands still"
        })
    })
}
