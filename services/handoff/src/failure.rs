//! A turn that fails for an error of ours.

use openclaw_daemon::failure;
use openclaw_proto::event::{Code, Failed, Kind};

/// Logs an error that ended a turn and makes the event of it.
pub fn failed(
    operation: &'static str,
    code: Code,
    error: &(dyn std::error::Error + 'static),
) -> Kind {
    failure::report(operation, error);
    Kind::Failed(Failed {
        code,
        message: failure::advice(error),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}
