//! Memory's additions to a message.

use std::future::Future;
use std::time::Duration;

use openclaw_conversations::storage::TurnOptions;
use openclaw_proto::call::{CallError, Patience, within};
use openclaw_proto::memory::{Hit, Recall};
use openclaw_proto::origin::Origin;
use openclaw_proto::runner::{self, ContextFile, Passage};

use super::Turns;
use crate::held;
use crate::run::Run;

/// How long a turn waits for memory. A daemon that has to be started first answers well within it.
const DEADLINE: Duration = Duration::from_secs(5);

/// The same for a message that memory alone answers, for which it reads the files
/// first that it has not read since its start.
const PATIENT: Duration = Duration::from_secs(10);

/// Characters of the message that memory is told; it looks at no more of a long one.
const TOLD: usize = 2000;

/// The note for the user where memory does not answer,
const SILENT: &str = "memory did not answer; this reply is made without it \
                      (systemctl --user status openclaw-memory.service)";
/// and where it has just been started.
const UNREAD: &str = "memory is still reading your notes, so that this reply may lack what is in \
                      them; ask again in a moment (openclawctl memory status says how far it is)";

/// Memory's additions to a message.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) bootstrap: Vec<ContextFile>,
    pub(super) recall: Recall,
    /// When the message came, in Unix milliseconds.
    pub(super) received_ms: i64,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl Context {
    /// With what the message wants for its turn.
    pub(super) fn bound_by(&mut self, options: &TurnOptions) {
        if options.light_context {
            self.bootstrap.clear();
        }
        self.bootstrap.extend(options.instructions.iter().cloned());
    }
}

/// Asks memory. Missing answers are left out, and the user is told once.
pub(super) async fn fetch(turns: &Turns, run: &Run, text: &str, received_ms: i64) -> Context {
    let memory = &turns.memory;
    let agent = run.key.agent().as_str();
    let origin = origin(run);
    let told: String = text.chars().take(TOLD).collect();
    let recall = async {
        let session_id = turns.session_ids.of(run).await;
        recalled(turns, &origin, &told, (agent, &session_id)).await
    };
    let (bootstrap, recall) =
        tokio::join!(in_time(|| memory.load_bootstrap(&origin, agent)), recall,);
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
    let (recall, is_unread) = recall.unwrap_or_default();
    let notes = [(is_silent, SILENT), (is_unread, UNREAD)];
    let notes = notes.into_iter().filter(|(is_so, _)| *is_so);
    let notes = notes.map(|(_, note)| note.to_owned());
    let bootstrap = bootstrap.unwrap_or_default();
    let left_out = bootstrap.problems.iter();
    let left_out = left_out.map(|problem| openclaw_escape::line(problem));
    Context {
        notes: notes.chain(left_out).collect(),
        bootstrap: bootstrap.files.into_iter().map(file).collect(),
        recall,
        received_ms,
    }
}

fn origin(run: &Run) -> Origin {
    Origin {
        run_id: run.id.clone(),
        session_key: run.key.to_string(),
    }
}

/// What memory has on `told`, and whether an answer of memory alone lacks files that
/// are still being read. A model is not kept waiting for them.
async fn recalled(
    turns: &Turns,
    origin: &Origin,
    told: &str,
    (agent, session_id): (&str, &str),
) -> Result<(Recall, bool), CallError> {
    let memory = &turns.memory;
    let recall = in_time(|| memory.recall(origin, agent, (told, false), session_id)).await?;
    if !recall.partial || !is_offline(&turns.runner, agent).await {
        return Ok((recall, false));
    }
    let patient = memory.recall(origin, agent, (told, true), session_id);
    let patient = within(PATIENT, patient).await;
    // What was found at once is better than nothing.
    let recall = patient.unwrap_or(recall);
    let is_unread = recall.partial;
    Ok((recall, is_unread))
}

async fn is_offline(runner: &runner::Client, agent: &str) -> bool {
    let held = tokio::time::timeout(DEADLINE, held::agent(runner, agent)).await;
    held.ok().flatten().is_some_and(|held| held.is_offline())
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
        held: false,
    }
}
