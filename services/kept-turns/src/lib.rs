//! Turns that the runner keeps until they are closed.

use std::time::Duration;

use openclaw_proto::call::{CallError, Patience, within};
use openclaw_proto::runner::{self, End};

/// How long a runner that does not answer is waited for, since its last event.
/// The turn goes on meanwhile; systemd starts a runner again within a second.
pub const ABSENCE: Duration = Duration::from_secs(60);

/// Between attempts to reach a runner that is away for long.
const PAUSE: Duration = Duration::from_secs(5);

/// How long the runner may take to say what it keeps, or to forget it.
const CLOSE_DEADLINE: Duration = Duration::from_secs(10);

/// Lets the runner forget a turn whose end is durable. When it cannot be told
/// it keeps what it has, and the next gateway tells it.
pub async fn close(runner: &runner::Client, run_id: &str) {
    if let Err(error) = patiently(|| runner.close_turn(run_id)).await {
        tracing::debug!("the runner was not told to forget the turn: {error}");
    }
}

/// Ends a turn whose answer nobody waits for, and lets the runner forget it.
pub async fn end(runner: &runner::Client, run_id: &str) {
    let nobody = End {
        reason: "nobody waits for it",
        at_once: false,
    };
    let end = patiently(|| runner.cancel_turn(run_id, nobody)).await;
    if let Err(error) = end {
        tracing::debug!("a turn that is not wanted was not ended: {error}");
    }
    close(runner, run_id).await;
}

/// Ends a turn whose run was stopped, however long the runner is away, and
/// waits until its processes are gone.
pub async fn stop(runner: &runner::Client, run_id: &str, reason: &str) {
    let end = End {
        reason,
        at_once: true,
    };
    insistently(|| runner.cancel_turn(run_id, end)).await;
}

/// The turns that the runner keeps until they are closed, however long it is away.
pub async fn all(runner: &runner::Client) -> Vec<String> {
    let kept = insistently(|| runner.kept_turns()).await;
    kept.unwrap_or_default()
}

/// Asks the runner until it answers. None when it refuses: asking again would not help.
async fn insistently<T, F>(call: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Result<T, CallError>>,
{
    loop {
        match patiently(&call).await {
            Ok(answer) => return Some(answer),
            Err(error) => {
                tracing::debug!("the runner does not answer: {error}");
                error.code().is_none().then_some(())?;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Asks the runner again where it could not be reached.
async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
{
    let patience = Patience::of(ABSENCE).with_absent();
    patience.call(|| within(CLOSE_DEADLINE, call())).await
}
