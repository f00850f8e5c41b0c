//! Tells the clients what a run does: the families `chat` and `agent`, and the
//! events of seed 002.

mod entries;
mod frames;
mod levels;
mod seed;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::settings::Backend;
use openclaw_proto::event::{Event, Kind, Usage};
use openclaw_proto::gateway::Accepted;
use openclaw_sessions::now_ms;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::audience::Audience;
use super::narrations::Narration;
use crate::server::Server;
use levels::Levels;
use openclaw_runs::{MessageStatus, Run};
use tools::Tool;

/// Bytes of a run's text that a client is sent in a second. Every delta carries
/// the whole text so far, so a long answer in small pieces would fill any line;
/// pieces of a text beyond some kilobytes are put together instead.
const TEXT_RATE: f64 = 2.0 * 1024.0 * 1024.0;

/// Texts up to this many bytes are passed on piece by piece at any speed.
const SHORT_TEXT: usize = 8 * 1024;

/// Why a session changed whose user said something, in OpenClaw's words.
const SENT: &str = "send";

/// A run began: the clients are told of it, at once or when the one that asked
/// for it has its answer.
pub(super) fn begun(server: &Arc<Server>, run: &Arc<Run>) {
    if !server.hub.narrations.holds(run) {
        narrate(server, run);
    }
}

/// Tells the clients of `run`, from its first event to its last. Nothing is
/// done when there is no client; the first one that comes gets the rest.
pub(super) fn narrate(server: &Arc<Server>, run: &Arc<Run>) {
    if server.hub.count() > 0 {
        begin(server, run, 0);
    }
}

/// Takes up the runs that nobody told of yet.
pub(super) fn catch_up(server: &Arc<Server>) {
    for run in server.core.runs.live() {
        begin(server, &run, run.log.last());
    }
}

/// Events up to `known` are taken note of and not told.
fn begin(server: &Arc<Server>, run: &Arc<Run>, known: u64) {
    if let Some(narration) = server.hub.narrations.begin(run) {
        let work = follow(Arc::clone(server), Arc::clone(run), narration, known);
        server.core.spawn(work);
    }
}

async fn follow(server: Arc<Server>, run: Arc<Run>, _narration: Narration, known: u64) {
    let MessageStatus::Accepted(accepted) = run.settled().await else {
        return;
    };
    let mut narrator = Narrator::new(&server, &run, &accepted);
    // A session that is gone has no wishes.
    if let Ok(entry) = server.core.sessions.entry(&run.key).await {
        narrator.levels = Levels::of(&entry);
    }
    narrator.silent = known > 0;
    narrator.accepted();
    narrator.tell_change().await;
    let mut seq = 1;
    loop {
        let event = match run.log.wait_for(seq).await {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(missed) => {
                seq = missed.first();
                continue;
            }
        };
        narrator.silent = event.seq <= known;
        seq = event.seq + 1;
        let (event, next) = gather(&run, event, known);
        seq = seq.max(next);
        narrator.take(event);
        narrator.tell_change().await;
        narrator.pause().await;
    }
}

/// A piece of text together with those that are there already.
fn gather(run: &Run, mut event: Event, known: u64) -> (Event, u64) {
    let mut next = event.seq + 1;
    if let Kind::TextDelta { text } = &mut event.kind {
        while next > known
            && let Some(Kind::TextDelta { text: more }) =
                run.log.ready(next).map(|event| event.kind)
        {
            text.push_str(&more);
            next += 1;
        }
    }
    (event, next)
}

/// What was told of a run so far.
struct Narrator<'a> {
    server: &'a Server,
    run: &'a Run,
    key: &'a str,
    agent_id: &'a str,
    session_id: &'a str,
    run_id: &'a str,
    /// Provider and model, as far as they are known.
    model: (String, String),
    /// Counts what was told.
    seq: u64,
    text: String,
    /// Where the part after the last tool begins.
    item_start: usize,
    item: u32,
    thinking: String,
    usage: Usage,
    cost_usd: Option<f64>,
    levels: Levels,
    started_ms: i64,
    /// Clients were told that the run is being prepared.
    prepared: bool,
    model_told: bool,
    /// A tool has answered, and the model is asked again.
    asked_again: bool,
    tools: HashMap<String, Tool>,
    tools_done: Vec<String>,
    /// The calls that wait for an approval, by its id.
    approvals: HashMap<String, String>,
    /// Nobody is told: it is only taken note of.
    silent: bool,
    /// When the next piece of text may be told.
    text_at: Instant,
    /// What changed of the session and nobody was told of yet.
    change: Option<&'static str>,
}

impl<'a> Narrator<'a> {
    fn new(server: &'a Server, run: &'a Run, accepted: &'a Accepted) -> Self {
        Self {
            server,
            run,
            key: run.key.as_str(),
            agent_id: run.key.agent().as_str(),
            session_id: &accepted.session_id,
            run_id: run.public_id(),
            model: super::methods::models::configured(server, run.key.agent().as_str()),
            seq: 0,
            text: String::new(),
            item_start: 0,
            item: 1,
            thinking: String::new(),
            usage: Usage::default(),
            cost_usd: None,
            levels: Levels::default(),
            started_ms: now_ms(),
            prepared: false,
            model_told: false,
            asked_again: false,
            tools: HashMap::new(),
            tools_done: Vec::new(),
            approvals: HashMap::new(),
            silent: false,
            text_at: Instant::now(),
            change: None,
        }
    }

    fn accepted(&mut self) {
        // One that waits for another turn is not being prepared, and who
        // prepares is not known where the runner has the choice.
        let is_known = self.backend() != Some(Backend::Auto.name());
        if is_known && self.server.core.lanes.is_first(&self.run.key, &self.run.id) {
            self.prepare();
        }
        self.change = Some(SENT);
    }

    /// Whoever answers, or is configured to as long as nobody is chosen.
    fn backend(&self) -> Option<&str> {
        let chosen = self.run.backend.get().map(String::as_str);
        chosen.or_else(|| {
            let settings = self.server.core.configuration.settings();
            let agent = settings.agent(self.agent_id)?;
            Some(agent.backend.name())
        })
    }

    /// Another program answers, which prepares itself what it needs: OpenClaw
    /// tells less of those.
    fn is_cli(&self) -> bool {
        let clis = [Backend::ClaudeCli.name(), Backend::CodexCli.name()];
        self.backend()
            .is_some_and(|backend| clis.contains(&backend))
    }

    fn prepare(&mut self) {
        if !std::mem::replace(&mut self.prepared, true) && !self.is_cli() {
            self.status("preparing_workspace");
        }
    }

    fn take(&mut self, event: Event) {
        self.begin_model(&event.kind);
        self.ask_again(&event.kind);
        self.seed_event(&event);
        match event.kind {
            Kind::TextDelta { text } => self.more_text(&text),
            Kind::Thinking { text } => self.more_thinking(&text),
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => self.tool_call(id, name, arguments),
            Kind::ToolResult(result) => {
                self.tool_result(&result);
                self.asked_again = true;
            }
            Kind::Usage(usage) => {
                self.usage.add(&usage);
                let data = json!({ "outputTokens": self.usage.output });
                self.agent("usage", data);
            }
            Kind::Resources(resources) => self.cost_usd = resources.cost_usd,
            Kind::ApprovalRequested(request) => self.approval_requested(&request),
            Kind::ApprovalResolved(resolved) => self.approval_resolved(&resolved),
            Kind::ToolOutput { call_id, text } => self.tool_output(&call_id, &text),
            Kind::Steered { .. } => {
                self.next_item();
                self.asked_again = true;
            }
            // It is for the model that thought it.
            Kind::ThinkingSigned(_) => {}
            Kind::Note { text } => self.agent("notice", json!({ "text": text })),
            Kind::Done(done) => self.done(&done),
            Kind::Failed(failed) => self.failed(&failed),
            Kind::Aborted { reason, .. } => self.aborted(&reason),
        }
    }

    /// Once, before the first thing that a model says.
    fn begin_model(&mut self, kind: &Kind) {
        if self.model_told || matches!(kind, Kind::Note { .. }) {
            return;
        }
        self.model_told = true;
        if let Some(chosen) = self.run.model.get() {
            self.model = chosen.clone();
        }
        // Ended before anything was asked of a model.
        let not_asked = matches!(kind, Kind::Aborted { backend, .. } if backend.is_empty());
        if not_asked || self.run.is_absorbed() {
            return;
        }
        self.prepare();
        if !self.is_cli() {
            self.status("preparing_context");
        }
        let data = json!({ "phase": "start", "startedAt": self.started_ms });
        self.lifecycle(data);
        self.status("starting_model");
        if !self.is_cli() {
            self.name_model();
        }
    }

    /// Once after the results of tools, before what the model says to them.
    fn ask_again(&mut self, kind: &Kind) {
        let speaks = matches!(
            kind,
            Kind::TextDelta { .. } | Kind::Thinking { .. } | Kind::ToolCall { .. }
        );
        if speaks && std::mem::take(&mut self.asked_again) && !self.is_cli() {
            self.name_model();
        }
    }

    fn name_model(&mut self) {
        let (provider, model) = &self.model;
        let data = json!({ "phase": "model", "provider": provider, "model": model });
        self.lifecycle(data);
    }

    fn more_text(&mut self, more: &str) {
        let mut delta = more;
        if self.item > 1 && self.text.len() == self.item_start {
            // What sets items apart belongs to none.
            delta = more.trim_start_matches('\n');
            self.item_start += more.len() - delta.len();
        }
        self.text.push_str(more);
        let data = json!({
            "text": self.text[self.item_start..],
            "delta": delta,
            "itemId": format!("{}:{}", self.run_id, self.item),
        });
        self.agent("assistant", data);
        self.chat(json!({
            "state": "delta",
            "deltaText": more,
            "message": self.message(),
        }));
        if !self.silent {
            let bytes = self.text.len().saturating_sub(SHORT_TEXT);
            let pause = Duration::from_secs_f64(bytes as f64 / TEXT_RATE);
            self.text_at = Instant::now() + pause;
        }
    }

    /// Waits until more text may be told.
    async fn pause(&self) {
        if self.text.len() > SHORT_TEXT && !self.silent {
            sleep_until(self.text_at).await;
        }
    }

    /// What is said from here on is another item.
    fn next_item(&mut self) {
        if self.text.len() > self.item_start {
            self.item_start = self.text.len();
            self.item += 1;
        }
    }

    fn more_thinking(&mut self, more: &str) {
        if self.levels.hides_thinking {
            return;
        }
        self.thinking.push_str(more);
        let data = json!({ "text": self.thinking, "delta": more });
        self.agent("thinking", data);
    }

    /// A family `agent` event with the next number.
    fn agent(&mut self, stream: &str, data: Value) {
        self.agent_to(Audience::Run(self.key), stream, data);
    }

    fn agent_to(&mut self, audience: Audience<'_>, stream: &str, data: Value) {
        self.seq += 1;
        if self.silent {
            return;
        }
        let frame = frames::Agent {
            run_id: self.run_id,
            stream,
            data,
            session_key: self.key,
            agent_id: self.agent_id,
            session_id: self.session_id,
            seq: self.seq,
            ts: now_ms(),
            is_heartbeat: false,
        };
        self.server.hub.tell(audience, "agent", || frame);
    }

    /// A tool's event, to those who are told of tools.
    fn tool(&mut self, data: Value) {
        let data = self.levels.shown(data);
        self.agent_to(self.levels.of_tools(self.key), "tool", data);
    }

    fn lifecycle(&mut self, data: Value) {
        self.agent("lifecycle", data);
    }

    /// A family `chat` event with the number of the last `agent` event.
    fn chat(&self, state: Value) {
        if self.silent {
            return;
        }
        let frame = frames::Chat {
            run_id: self.run_id,
            session_key: self.key,
            agent_id: self.agent_id,
            seq: self.seq,
            state,
        };
        self.server
            .hub
            .tell(Audience::Run(self.key), "chat", || frame);
    }

    /// Both families say what is being prepared.
    fn status(&mut self, phase: &str) {
        self.seq += 1;
        self.chat(json!({ "state": "status", "phase": phase }));
        self.seq -= 1;
        self.agent("run_status", json!({ "phase": phase }));
    }

    /// The text so far as a message.
    fn message(&self) -> Value {
        self.message_of(&self.text)
    }

    /// The whole text, with what it took when the session wants to know.
    fn last_message(&self) -> Value {
        match self.levels.usage_line(&self.usage, self.cost_usd) {
            Some(line) => self.message_of(&format!("{}\n\n{line}", self.text)),
            None => self.message(),
        }
    }

    fn message_of(&self, text: &str) -> Value {
        json!({
            "role": "assistant",
            "content": [{ "type": "text", "text": text }],
            "timestamp": now_ms(),
        })
    }
}
