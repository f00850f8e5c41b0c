//! The one place that logs at error level (seed 002, property 25): what failed,
//! why, and a stack trace. Clippy refuses `tracing::error!` everywhere else.

use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

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
pub fn report(operation: &str, error: &(dyn Error + 'static)) {
    record(operation, &format!("{operation}: {}", chain(error)));
}

/// As [`report`], for an error that does not name the file it is about.
pub fn report_at(operation: &str, path: &Path, error: &(dyn Error + 'static)) {
    let path = path.display();
    record(operation, &format!("{operation}: {path}: {}", chain(error)));
}

/// As [`report`], where the reason is in words and no error is at hand.
pub fn report_text(operation: &str, reason: &str) {
    record(operation, &format!("{operation}: {reason}"));
}

/// Logs that this process panicked, which is about to end it.
pub(crate) fn report_panic(place: &str, thread: &str, message: &str) {
    let operation = "panic";
    let text = format!("panicked at {place} in thread {thread}: {message}");
    let _span = tracing::error_span!("panic", place, thread).entered();
    record(operation, &text);
}

/// What is in `message` may be quoted from anywhere; it is read on a terminal.
pub(crate) fn record(operation: &str, message: &str) {
    let stack_trace = Backtrace::force_capture();
    let message = openclaw_escape::line(message);
    // The macro of that name is for nobody else.
    tracing::event!(tracing::Level::ERROR, operation, %stack_trace, "{message}");
}
