//! Ends of runs that the gateway itself decides on.

use std::error::Error;

use openclaw_daemon::failure;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::event::{Code, Failed, Kind};

/// The advice when the runner cannot be reached.
const LOOK_AT_RUNNER: &str =
    "look at it with: systemctl --user status openclaw-agent-runner.service";

pub(super) fn failed(code: Code, message: impl Into<String>, backend: &str) -> Kind {
    Kind::Failed(Failed {
        code,
        message: message.into(),
        retry_after_ms: None,
        backend_session: None,
        backend: backend.to_owned(),
    })
}

/// A failure of our own; logged here, the one place that gives up on it.
pub(super) fn internal(operation: &'static str, error: &(dyn Error + 'static)) -> Kind {
    failure::report(operation, error);
    let message = format!("cannot {operation}: {}", failure::advice(error));
    failed(Code::Internal, message, "")
}

/// Whether the provider found the prompt too long.
pub(super) fn is_overflow(outcome: &Kind) -> bool {
    matches!(outcome, Kind::Failed(failed) if failed.code == Code::ContextOverflow)
}

/// The runner did not take the turn.
pub(super) fn not_started(error: &CallError) -> Kind {
    let (code, message) = match error.code() {
        Some(RefusalCode::ResourceExhausted) => (
            Code::Overloaded,
            format!("the agent-runner takes no more turns: {error}"),
        ),
        Some(_) => (
            Code::Internal,
            format!("the agent-runner refused the turn: {error}"),
        ),
        None => (
            Code::Interrupted,
            format!("the agent-runner cannot be reached ({error}); {LOOK_AT_RUNNER}"),
        ),
    };
    tracing::error_span!("refused", code = code.as_str())
        .in_scope(|| failure::report_text("start the turn", &message));
    failed(code, message, "")
}

/// The turn's events broke off and cannot be had again.
pub(super) fn lost(error: &CallError, backend: &str) -> Kind {
    let what = if error.is_refused(RefusalCode::NotFound) {
        "the agent-runner stopped while the turn ran, and the turn with it".to_owned()
    } else {
        format!("the connection to the agent-runner broke off ({error})")
    };
    let message = format!("{what}; what was said so far is kept; {LOOK_AT_RUNNER}");
    failure::report_text("follow the turn", &message);
    failed(Code::Interrupted, message, backend)
}

/// The end of a run that was under way when the backup was made from which the state was restored.
pub(crate) fn of_backup() -> Kind {
    failed(
        Code::Interrupted,
        "the state was restored from a backup that was made while this was under way; what was \
         done since is not in it: send the message again if it is still wanted",
        "",
    )
}

/// The end of a run whose gateway died.
pub(crate) fn interrupted() -> Kind {
    failed(
        Code::Interrupted,
        "the gateway stopped while this was being answered; send the message again",
        "",
    )
}
