//! The one place that logs an error with its causes (seed 002, property 25).

use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt::Write as _;

/// An error and its causes on one line.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// Logs `error`, which ended `operation`, with a stack trace. The session and
/// the run come from the spans it is called in.
pub fn report(operation: &'static str, error: &(dyn Error + 'static)) {
    let stack_trace = Backtrace::force_capture();
    // A message is read on a terminal; what failed may be quoted in it.
    let chain = openclaw_escape::line(&chain(error));
    tracing::error!(operation, %stack_trace, "{operation}: {chain}");
}
