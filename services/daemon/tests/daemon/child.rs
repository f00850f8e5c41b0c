//! The daemon's side.

use std::error::Error;
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

use openclaw_daemon::{Daemon, failure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Set for a process that is to be a daemon.
pub(crate) const VARIABLE: &str = "OPENCLAW_TEST_DAEMON";
/// What the log shows of a field.
pub(crate) const SESSION: &str = "agent:main:main";

/// Is no test: the others start it.
#[test]
#[ignore = "is the daemon that the tests start"]
fn daemon() {
    if std::env::var_os(VARIABLE).is_some() {
        let code = openclaw_daemon::main("openclaw-test", openclaw_settings::load_from, run);
        assert_eq!(code, ExitCode::SUCCESS);
    }
}

async fn run(_daemon: Daemon) -> anyhow::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    say("ready");
    while let Some(line) = lines.next_line().await? {
        let order: Value = serde_json::from_str(&line)?;
        obey(&order).await;
        say("done");
    }
    Ok(())
}

/// Not with `println!`, which the test harness keeps for itself.
fn say(word: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "\n{word}").and_then(|()| out.flush());
}

async fn obey(order: &Value) {
    let text = |name: &str| order[name].as_str().unwrap_or_default();
    match text("do") {
        "panic in a task" => {
            let words = text("message").to_owned();
            let task = tokio::spawn(async move { panic!("{words}") });
            // A daemon has nobody who looks at the end of most of its tasks.
            drop(task);
            tokio::task::yield_now().await;
        }
        "panic in a thread" => {
            let words = text("message").to_owned();
            let named = std::thread::Builder::new().name("worker".to_owned());
            let _ = named.spawn(move || panic!("{words}")).unwrap().join();
        }
        "panic in blocking work" => {
            let words = text("message").to_owned();
            let _ = tokio::task::spawn_blocking(move || panic!("{words}")).await;
        }
        _ => log(order),
    }
}

/// Logs what `order` says, inside the spans that a turn has.
fn log(order: &Value) {
    let run = order["run"].as_str().unwrap_or_default();
    let span = tracing::info_span!(
        target: "openclaw_test",
        "turn",
        openclaw_session = SESSION,
        openclaw_run = tracing::field::Empty
    );
    span.record("openclaw_run", run);
    match order["spans"].as_bool() {
        Some(true) => span.in_scope(|| emit(order)),
        _ => emit(order),
    }
}

fn emit(order: &Value) {
    let text = |name: &str| order[name].as_str().unwrap_or_default();
    let (message, word) = (text("message"), text("word"));
    let number = order["number"].as_i64().unwrap_or_default();
    match (text("target"), text("level")) {
        ("ours", "error") => {
            let causes = order["causes"].as_array().cloned().unwrap_or_default();
            let causes: Vec<&str> = causes.iter().filter_map(Value::as_str).collect();
            failure::report(text("operation"), &Failed::of(message, &causes));
        }
        ("ours", "warn") => tracing::warn!(target: "openclaw_test", word, number, "{message}"),
        ("ours", "info") => tracing::info!(target: "openclaw_test", word, number, "{message}"),
        ("ours", _) => tracing::debug!(target: "openclaw_test", word, number, "{message}"),
        // What a library does, which knows nothing of our way to report.
        (_, "error") => {
            tracing::event!(target: "library", tracing::Level::ERROR, word, number, "{message}");
        }
        (_, "warn") => tracing::warn!(target: "library", word, number, "{message}"),
        (_, "info") => tracing::info!(target: "library", word, number, "{message}"),
        _ => tracing::debug!(target: "library", word, number, "{message}"),
    }
}

/// An error with its causes.
#[derive(Debug)]
struct Failed {
    text: String,
    cause: Option<Box<Self>>,
}

impl Failed {
    fn of(text: &str, causes: &[&str]) -> Self {
        let cause = causes.split_first();
        Self {
            text: text.to_owned(),
            cause: cause.map(|(cause, rest)| Box::new(Self::of(cause, rest))),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
