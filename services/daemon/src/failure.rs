//! The one place that logs at error level (seed 002, property 25): what failed,
//! why, and a stack trace. Clippy refuses `tracing::error!` everywhere else.

use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

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

/// What people can do about an error whose cause is a full disk, or a quota that is
/// used up. The error itself names the file.
pub fn remedy(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if is_full(error) {
            return Some("free space on the file system that it is on, then try again");
        }
        cause = error.source();
    }
    None
}

/// What SQLite says then, word for word; its errors are of a crate that only those
/// who keep tables use.
const SQLITE_FULL: &str = "database or disk is full";

fn is_full(error: &(dyn Error + 'static)) -> bool {
    let of_kernel = error.downcast_ref::<io::Error>();
    let of_kernel = of_kernel.or_else(|| error.downcast_ref::<Arc<io::Error>>().map(|it| &**it));
    let kind = of_kernel.map(io::Error::kind);
    matches!(
        kind,
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    ) || error.to_string() == SQLITE_FULL
}

/// An error with what people can do about it, for those who have one line alone.
pub fn advice(error: &(dyn Error + 'static)) -> String {
    match remedy(error) {
        Some(remedy) => format!("{}; {remedy}", chain(error)),
        None => chain(error),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot append to /s/a.jsonl")]
    struct Append(#[source] Arc<io::Error>);

    #[derive(Debug, thiserror::Error)]
    #[error("database or disk is full")]
    struct Full;

    #[derive(Debug, thiserror::Error)]
    #[error("the ledger /s/l failed")]
    struct Ledger(#[source] Full);

    #[test]
    fn full_disks_have_a_way_out_that_others_have_not() {
        let advice_on = |kind: io::ErrorKind| advice(&Append(Arc::new(kind.into())));
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let told = advice_on(kind);
            assert!(told.starts_with("cannot append to /s/a.jsonl: "), "{told}");
            assert!(told.contains("; free space on the file system"), "{told}");
        }
        let ledger = advice(&Ledger(Full));
        assert!(ledger.contains("; free space on"), "{ledger}");
        let other = advice_on(io::ErrorKind::PermissionDenied);
        assert!(!other.contains("free space"), "{other}");
    }
}
