//! Asks the daemons.

use std::future::Future;
use std::time::Duration;

use openclaw_config::Paths;
use openclaw_foreground::obstacle;
use openclaw_proto::call::{CallError, RefusalCode, within};
use openclaw_proto::channel_admin::{self, AccountState};
use openclaw_proto::{gateway, memory, runner};

use crate::processes::{Process, Processes};
use crate::report::{Answer, GatewayStatus, Memory, Runner, Suite};
use openclaw_connection as connection;

/// The longest a daemon may take to answer: time enough to be started for it,
/// and for the gateway to ask the two others.
const DEADLINE: Duration = Duration::from_secs(20);

/// What the suite of `paths` says of itself. The gateway speaks for all; when
/// it does not answer, the others are asked themselves.
pub async fn ask(paths: &Paths) -> Suite {
    let client = gateway::Client::new(paths.gateway_socket());
    match answer("gateway", client.status()).await {
        Ok(status) => Suite {
            channels: channels(paths).await,
            runner: told(status.runner.clone(), &status.runner_problem).into(),
            memory: told(status.memory.clone(), &status.memory_problem).into(),
            gateway: Answer::Given(GatewayStatus::from(status)),
            state_problem: obstacle::find(paths).map(|obstacle| obstacle.text()),
        },
        Err(problem) => ask_alone(paths, problem).await,
    }
}

/// The same, without starting a daemon that is at rest.
pub async fn ask_awake(paths: &Paths, processes: &Processes) -> Suite {
    if !processes.gateway.at_rest && !processes.others_rest() {
        return ask(paths).await;
    }
    if connection::asks_gateway_alone() && !processes.all_rest() {
        return ask(paths).await;
    }
    let runner = runner::Client::new(paths.runner_socket());
    let memory = memory::Client::new(paths.memory_socket());
    let (gateway, channels) = if processes.gateway.at_rest {
        (Answer::resting(), Answer::Given(Vec::new()))
    } else {
        let client = gateway::Client::new(paths.gateway_socket());
        let status = answer("gateway", client.own_status()).await;
        (
            status.map(GatewayStatus::from).into(),
            channels(paths).await,
        )
    };
    let (runner, memory) = tokio::join!(
        awake("agent-runner", processes.runner, runner.status()),
        awake("memory daemon", processes.memory, memory.status()),
    );
    Suite {
        gateway,
        runner,
        memory,
        channels,
        state_problem: obstacle::find(paths).map(|obstacle| obstacle.text()),
    }
}

async fn awake<W, D: From<W>>(
    daemon: &str,
    process: Process,
    question: impl Future<Output = Result<W, CallError>>,
) -> Answer<D> {
    if process.at_rest {
        return Answer::resting();
    }
    answer(daemon, question).await.map(D::from).into()
}

async fn ask_alone(paths: &Paths, problem: String) -> Suite {
    let runner = runner::Client::new(paths.runner_socket());
    let memory = memory::Client::new(paths.memory_socket());
    let (runner, memory) = tokio::join!(
        answer("agent-runner", runner.status()),
        answer("memory daemon", memory.status()),
    );
    Suite {
        gateway: Answer::Missing { problem },
        runner: runner.map(Runner::from).into(),
        memory: memory.map(Memory::from).into(),
        channels: Answer::Given(Vec::new()),
        state_problem: obstacle::of_client(paths).map(|obstacle| obstacle.text()),
    }
}

async fn channels(paths: &Paths) -> Answer<Vec<AccountState>> {
    let client = channel_admin::Client::new(paths.gateway_socket());
    match within(DEADLINE, client.accounts()).await {
        // Of a version that knows no channels.
        Err(error) if error.is_refused(RefusalCode::Unimplemented) => Answer::Given(Vec::new()),
        answer => answer
            .map_err(|error| connection::problem("gateway", &error))
            .into(),
    }
}

/// What the gateway heard from another daemon.
fn told<W, D: From<W>>(status: Option<W>, problem: &str) -> Result<D, String> {
    match (status, problem) {
        (Some(status), _) => Ok(status.into()),
        (None, "") => Err("the gateway has not asked it".to_owned()),
        (None, problem) => Err(problem.to_owned()),
    }
}

async fn answer<T>(
    daemon: &str,
    question: impl Future<Output = Result<T, CallError>>,
) -> Result<T, String> {
    let answer = within(DEADLINE, question).await;
    answer.map_err(|error| connection::problem(daemon, &error))
}
