//! A panic is one record and the end, wherever it happens.

use std::os::unix::process::ExitStatusExt as _;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::process::{Mode, Process};

#[test]
fn panic_is_one_error_record_and_the_end_of_the_daemon() {
    for mode in [Mode::Json, Mode::Journal] {
        for (what, thread) in [
            ("panic in a task", "child::daemon"),
            ("panic in a thread", "worker"),
            ("panic in blocking work", "tokio-rt-worker"),
        ] {
            let Some(mut daemon) = Process::start(mode, "error") else {
                continue;
            };
            let message = "the \u{1b}[2Jroof\nis on fire";
            assert!(
                !daemon.order(&json!({"do": what, "message": message})),
                "{what}: it lives on"
            );
            assert_eq!(
                daemon.ended().signal(),
                Some(Signal::SIGABRT as i32),
                "{what}"
            );
            let records = daemon.records();
            let [record] = records.as_slice() else {
                panic!("{what}: {records:#?}");
            };
            assert_eq!(record.level, "error");
            let text = &record.message;
            assert!(
                text.starts_with("panicked at ") && text.contains("is on fire"),
                "{text}"
            );
            assert!(!text.contains(char::is_control), "{text:?}");
            let context = &record.context;
            assert_eq!(context["operation"], "panic", "{record:?}");
            let place = context["place"].as_str().unwrap();
            assert!(place.contains("child.rs:"), "{place}");
            assert_eq!(context["thread"], thread, "{record:?}");
            let trace = record.stack_trace.as_deref().unwrap();
            assert!(trace.contains("child"), "{what}: {trace}");
        }
    }
}
