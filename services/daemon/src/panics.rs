//! A panic is logged as every other error is, and ends the process.

use std::any::Any;
use std::panic::{PanicHookInfo, set_hook};
use std::thread;

use crate::failure;

/// From now on a panic of any thread or task is one record of the log, with
/// its place and a stack trace, and the end of the process by SIGABRT: a
/// daemon that goes on without one of its tasks looks alive and answers
/// nobody, while one that ended is started again. Call it after the log is
/// installed.
pub fn install() {
    set_hook(Box::new(|panic| {
        tell(panic);
        std::process::abort();
    }));
}

fn tell(panic: &PanicHookInfo<'_>) {
    let place = panic
        .location()
        .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let thread = thread::current();
    let message = message(panic.payload());
    failure::report_panic(&place, thread.name().unwrap_or("unnamed"), message);
}

/// The words of a panic, which are a text of one of two types.
fn message(payload: &dyn Any) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let lent = payload.downcast_ref::<&str>().copied();
    owned.or(lent).unwrap_or("no message")
}
