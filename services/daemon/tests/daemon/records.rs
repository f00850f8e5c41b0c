//! Properties 23 to 25 of seed 002: any record of any level, to the journal
//! and as JSON.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::child::SESSION;
use crate::process::{Mode, Process, Record};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;
/// The most severe first.
const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

/// The daemons of a test, one for each place to log to and each level.
#[derive(Default)]
struct Daemons(HashMap<(bool, &'static str), Option<Process>>);

impl Daemons {
    /// What a daemon with the level `least` logs for `order`; none where it
    /// cannot be started.
    fn log(&mut self, mode: Mode, least: &'static str, order: &Value) -> Option<Vec<Record>> {
        let daemon = self.0.entry((mode == Mode::Json, least));
        let daemon = daemon.or_insert_with(|| Process::start(mode, least));
        let daemon = daemon.as_mut()?;
        assert!(daemon.order(order), "the daemon ended");
        Some(daemon.records())
    }
}

/// Something to log.
#[derive(Debug, Clone)]
struct Case {
    /// The daemon's `logging.level`.
    least: &'static str,
    level: &'static str,
    is_ours: bool,
    order: Value,
}

fn case() -> impl Strategy<Value = Case> {
    let words = || prop_oneof!["[a-z]{1,12}", "\\PC{1,40}", "(?s).{1,40}"];
    let level = || prop::sample::select(&LEVELS[..]);
    let order = (
        (words(), words(), any::<i64>(), any::<bool>()),
        (
            "[a-z]{1,10} the [a-z]{1,10}",
            prop::collection::vec(words(), 0..3),
            "[0-9a-f]{8}",
        ),
    );
    (level(), level(), any::<bool>(), order).prop_map(|(least, level, is_ours, order)| {
        let ((message, word, number, spans), (operation, causes, run)) = order;
        let order = json!({
            "level": level, "target": if is_ours { "ours" } else { "library" },
            "message": message, "word": word, "number": number, "spans": spans,
            "operation": operation, "causes": causes, "run": run,
        });
        Case {
            least,
            level,
            is_ours,
            order,
        }
    })
}

/// Has every case logged in both ways; `check` sees the case and its records.
fn each(check: impl Fn(Mode, &Case, &[Record]) -> Result<(), TestCaseError>) {
    let daemons = std::cell::RefCell::new(Daemons::default());
    let configuration = Config {
        failure_persistence: None,
        ..Config::with_cases(CASES)
    };
    let run = |case: Case| {
        for mode in [Mode::Json, Mode::Journal] {
            let records = daemons.borrow_mut().log(mode, case.least, &case.order);
            if let Some(records) = records {
                check(mode, &case, &records)?;
            }
        }
        Ok(())
    };
    TestRunner::new(configuration).run(&case(), run).unwrap();
}

fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// Feature: openclaw-mvp, Property 23: For any log entry, the output SHALL be
/// valid JSON containing timestamp, level, message, and context fields. In the
/// journal they are fields of the record, to which it adds the time.
#[test]
fn property_23_every_record_has_time_level_message_and_context() {
    each(|mode, case, records| {
        for record in records {
            prop_assert_eq!(&record.level, case.level);
            let message = case.order["message"].as_str().unwrap_or_default();
            if case.level != "error" {
                prop_assert_eq!(&record.message, message);
                prop_assert_eq!(&record.context["word"], &case.order["word"]);
                let number = record.context["number"].to_string();
                prop_assert_eq!(number.trim_matches('"'), case.order["number"].to_string());
            }
            prop_assert!(record.context["target"].is_string(), "{:?}", record);
            if case.order["spans"] == true {
                prop_assert_eq!(&record.context["openclaw_session"], SESSION);
                prop_assert_eq!(&record.context["openclaw_run"], &case.order["run"]);
            }
            if mode == Mode::Json {
                let at = record.timestamp.as_deref().unwrap_or_default();
                prop_assert!(at.parse::<jiff::Timestamp>().is_ok(), "{at}");
            }
        }
        Ok(())
    });
}

/// Feature: openclaw-mvp, Property 24: For any log entry, it SHALL only be
/// written if its level is at or above the configured minimum level (error >
/// warn > info > debug). A library's news below a warning are never written.
#[test]
fn property_24_what_is_below_the_level_is_not_written() {
    each(|mode, case, records| {
        let limit = if case.is_ours {
            rank(case.least)
        } else {
            rank(case.least).min(rank("warn"))
        };
        let expected = usize::from(rank(case.level) <= limit);
        prop_assert_eq!(records.len(), expected, "{:?}: {:?}", mode, case);
        Ok(())
    });
}

/// Feature: openclaw-mvp, Property 25: For any error log entry, the output
/// SHALL include a stack trace and relevant context (session ID, operation
/// name).
#[test]
fn property_25_errors_have_a_stack_trace_the_operation_and_the_session() {
    each(|mode, case, records| {
        for record in records.iter().filter(|record| record.level == "error") {
            let trace = record.stack_trace.as_deref().unwrap_or_default();
            prop_assert!(trace.contains("child.rs"), "{:?}: {:?}", mode, record);
            let operation = if case.is_ours {
                case.order["operation"].clone()
            } else {
                "library".into()
            };
            prop_assert_eq!(&record.context["operation"], &operation);
            let causes = case.order["causes"].as_array().cloned().unwrap_or_default();
            for cause in causes.iter().filter(|_| case.is_ours) {
                let shown = openclaw_escape::line(cause.as_str().unwrap_or_default());
                prop_assert!(record.message.contains(shown.trim()), "{:?}", record);
            }
            if case.order["spans"] == true {
                prop_assert_eq!(&record.context["openclaw_session"], SESSION);
            }
        }
        Ok(())
    });
}
