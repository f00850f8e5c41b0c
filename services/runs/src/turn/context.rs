//! What memory adds to a message.

use std::future::Future;
use std::time::Duration;

use openclaw_proto::call::{CallError, Patience, within};
use openclaw_proto::memory::{Client, Hit, Recall};
use openclaw_proto::origin::Origin;
use openclaw_proto::runner::{ContextFile, Passage};

use crate::run::Run;

/// How long a turn waits for memory. A daemon that has to be started first
/// answers well within it.
const DEADLINE: Duration = Duration::from_secs(5);

/// Characters of the message that memory is told; it looks at no more of a
/// long one.
const TOLD: usize = 2000;

/// What memory adds to a message.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) bootstrap: Vec<ContextFile>,
    pub(super) recall: Recall,
    /// When the message came, in Unix milliseconds.
    pub(super) received_ms: i64,
    /// What the user should know of it.
    pub(super) notes: Vec<String>,
}

/// Asks memory. What it does not answer is left out; the user is told once.
pub(super) async fn fetch(memory: &Client, run: &Run, text: &str, received_ms: i64) -> Context {
    let agent = run.key.agent().as_str();
    let origin = Origin {
        run_id: run.id.clone(),
        session_key: run.key.to_string(),
    };
    let told: String = text.chars().take(TOLD).collect();
    let (bootstrap, recall) = tokio::join!(
        in_time(|| memory.load_bootstrap(&origin, agent)),
        in_time(|| memory.recall(&origin, agent, &told)),
    );
    let problems = [
        ("bootstrap files", bootstrap.as_ref().err()),
        ("passages", recall.as_ref().err()),
    ];
    for (what, error) in problems
        .iter()
        .filter_map(|(what, error)| Some((what, (*error)?)))
    {
        tracing::warn!(
            "memory gave no {what} ({}), going on without",
            openclaw_escape::line(&error.to_string())
        );
    }
    let is_silent = problems.iter().any(|(_, error)| error.is_some());
    let note = is_silent.then(|| {
        "memory did not answer; this reply is made without it \
         (systemctl --user status openclaw-memory.service)"
            .to_owned()
    });
    Context {
        notes: note.into_iter().collect(),
        bootstrap: bootstrap
            .unwrap_or_default()
            .into_iter()
            .map(file)
            .collect(),
        recall: recall.unwrap_or_default(),
        received_ms,
    }
}

/// Asks memory, again where it died over it: what is asked has no effects, and
/// a daemon that was killed is back in a moment.
async fn in_time<T, F>(call: impl Fn() -> F) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
{
    within(DEADLINE, Patience::of(DEADLINE).call(call)).await
}

fn file(file: openclaw_proto::memory::BootstrapFile) -> ContextFile {
    ContextFile {
        name: file.name,
        content: file.content,
    }
}

/// A passage as the runner has it.
pub(super) fn passage(hit: Hit) -> Passage {
    Passage {
        path: hit.path,
        start_line: hit.start_line,
        end_line: hit.end_line,
        score: hit.score,
        snippet: hit.snippet,
        role: if hit.speaker.is_empty() {
            hit.kind
        } else {
            hit.speaker
        },
        timestamp_ms: hit.timestamp_ms,
        context: hit.context,
        answer: hit.answer,
    }
}
