//! The one place that logs at error level (seed 002, property 25): what failed,
//! why, and a stack trace. Clippy refuses `tracing::error!` everywhere else.

use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{ErrorCode, ffi};

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

/// What people can do about an error whose cause is a full disk, a quota that is used
/// up, or a file system that nobody may write to. The error itself names the file.
pub fn remedy(error: &(dyn Error + 'static)) -> Option<&'static str> {
    causes(error).find_map(|cause| {
        if is_full(cause) {
            Some("free space on the file system that it is on, then try again")
        } else if is_read_only(cause) {
            Some("have the file system that it is on mounted writable, then try again")
        } else {
            None
        }
    })
}

/// Whether an error or one of its causes is that there is no room on the disk, as the
/// kernel or SQLite says it.
pub fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(is_full)
}

/// An error, what caused it, and what caused that.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| <dyn Error>::source(*error))
}

fn is_full(error: &(dyn Error + 'static)) -> bool {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    of_kernel(error).is_some_and(|kind| full.contains(&kind))
        || of_sqlite(error) == Some(ErrorCode::DiskFull)
}

fn is_read_only(error: &(dyn Error + 'static)) -> bool {
    of_kernel(error) == Some(io::ErrorKind::ReadOnlyFilesystem)
        || of_sqlite(error) == Some(ErrorCode::ReadOnly)
}

fn of_kernel(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let plain = error.downcast_ref::<io::Error>();
    let shared = || error.downcast_ref::<Arc<io::Error>>().map(|it| &**it);
    plain.or_else(shared).map(io::Error::kind)
}

/// SQLite's own error is the last cause of whatever its library says.
fn of_sqlite(error: &(dyn Error + 'static)) -> Option<ErrorCode> {
    error.downcast_ref::<ffi::Error>().map(|error| error.code)
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
    #[error(transparent)]
    struct Table(rusqlite::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("the ledger /s/l failed")]
    struct Ledger(#[source] Arc<Table>);

    fn ledger(code: i32) -> Ledger {
        let error = ffi::Error::new(code);
        let error = rusqlite::Error::SqliteFailure(error, None);
        Ledger(Arc::new(Table(error)))
    }

    #[test]
    fn full_disks_have_a_way_out_that_others_have_not() {
        let advice_on = |kind: io::ErrorKind| advice(&Append(Arc::new(kind.into())));
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let told = advice_on(kind);
            assert!(told.starts_with("cannot append to /s/a.jsonl: "), "{told}");
            assert!(told.contains("; free space on the file system"), "{told}");
        }
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_READONLY_DIRECTORY] {
            let told = advice(&ledger(code));
            assert!(told.starts_with("the ledger /s/l failed: "), "{told}");
            assert_eq!(told.contains("; free space"), code == ffi::SQLITE_FULL);
            assert!(told.contains(" the file system that it is on"), "{told}");
        }
        let busy = advice(&ledger(ffi::SQLITE_BUSY));
        assert!(!busy.contains("file system"), "{busy}");
        let read_only = advice_on(io::ErrorKind::ReadOnlyFilesystem);
        assert!(read_only.contains("; have the file system"), "{read_only}");
        let other = advice_on(io::ErrorKind::PermissionDenied);
        assert!(!other.contains("free space"), "{other}");
    }
}
