//! Tells the clients what a run does: the families `chat` and `agent`, and the events of seed 002.

mod entries;
mod frames;
mod levels;
mod seed;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_conversations::storage::RESET_COMMAND;
use openclaw_doors::shown;
use openclaw_proto::event::{Event, Kind, Usage};
use openclaw_proto::gateway::Accepted;
use openclaw_sessions::{SessionKey, now_ms, silence};
use openclaw_settings::{AgentCli, Backend};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::audience::Audience;
use super::hub::Hub;
use super::injected;
use super::reported_runs::{ReportedRun, ReportedRuns};
use super::session_change::tell_changed;
use levels::Levels;
use openclaw_runs::{Core, MessageStatus, Run, model};
use tools::Tool;

/// Bytes of a run's text that a client is sent in a second. Every delta carries
/// the whole text so far, so a long answer in small pieces would fill any line;
/// pieces of a text beyond some kilobytes are put together instead.
const TEXT_RATE: f64 = 2.0 * 1024.0 * 1024.0;

/// Texts up to this many bytes are passed on piece by piece at any speed.
const SHORT_TEXT: usize = 8 * 1024;

/// Why a session changed whose user said something, in OpenClaw's words.
const SENT: &str = "send";

/// Tells the clients of runs.
pub(super) struct RunReporter {
    core: Arc<Core>,
    hub: Arc<Hub>,
    /// The runs that they are told of.
    pub(super) reported: ReportedRuns,
}

impl RunReporter {
    pub(super) fn new(core: Arc<Core>, hub: Arc<Hub>) -> Arc<Self> {
        Arc::new(Self {
            core,
            hub,
            reported: ReportedRuns::default(),
        })
    }

    /// A run began: the clients are told of it, at once or when the one that asked
    /// for it has its answer.
    pub(super) fn begun(self: &Arc<Self>, run: &Arc<Run>) {
        if !self.reported.holds(run) {
            self.report(run);
        }
    }

    /// Tells the clients of `run`, from its first event to its last. Nothing is
    /// done when there is no client; the first one that comes gets the rest.
    pub(super) fn report(self: &Arc<Self>, run: &Arc<Run>) {
        if self.hub.count() > 0 {
            self.begin(run, 0);
        }
    }

    /// Takes up the runs that nobody told of yet.
    pub(super) fn catch_up(self: &Arc<Self>) {
        for run in self.core.runs.live() {
            self.begin(&run, run.log.last());
        }
    }

    /// Events up to `known` are taken note of and not told.
    fn begin(self: &Arc<Self>, run: &Arc<Run>, known: u64) {
        if let Some(reported) = self.reported.begin(run) {
            let work = Arc::clone(self).follow(Arc::clone(run), reported, known);
            self.core.spawn(work);
        }
    }

    async fn follow(self: Arc<Self>, run: Arc<Run>, _reported: ReportedRun, known: u64) {
        let MessageStatus::Accepted(accepted) = run.settled().await else {
            return;
        };
        if let Some(command) = run.command() {
            self.tell_answer(&run, known).await;
            if command == RESET_COMMAND {
                tell_changed(&self.core, &self.hub, &run.key, command).await;
            }
            return;
        }
        let mut report = RunReport::new(&self.core, &self.hub, &run, &accepted);
        report.levels = Levels(shown::of(&self.core, &run).await);
        report.silent = known > 0;
        report.accepted();
        report.tell_change().await;
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
            report.silent = event.seq <= known;
            seq = event.seq + 1;
            let (event, next) = gather(&run, event, known);
            seq = seq.max(next);
            report.take(event);
            report.tell_change().await;
            report.pause().await;
        }
    }
}

impl RunReporter {
    /// Tells what a command was answered, in one event.
    async fn tell_answer(&self, run: &Run, known: u64) {
        run.log.ended().await;
        let mut text = String::new();
        for seq in 1..=run.log.last() {
            match run.log.ready(seq).map(|event| event.kind) {
                Some(Kind::TextDelta { text: more }) => text.push_str(&more),
                Some(Kind::Failed(failed)) => text = format!("⚠️ {}", failed.message),
                _ => {}
            }
        }
        if known < run.log.last() {
            let said = injected::said(&text, Some(run.public_id()));
            injected::tell(&self.hub, &run.key, run.public_id(), 1, said);
        }
    }

    /// Tells those who follow the index that a session changed.
    pub(super) fn session_changed(self: &Arc<Self>, key: &SessionKey, reason: &str) {
        let (own, key, reason) = (Arc::clone(self), key.clone(), reason.to_owned());
        self.core.spawn(async move {
            tell_changed(&own.core, &own.hub, &key, &reason).await;
        });
    }

    /// Tells those who follow the session of what was said in it without a run, and
    /// those who follow the index that it changed.
    pub(super) fn said(self: &Arc<Self>, key: &SessionKey, message_id: &str) {
        let messages = Audience::Messages(key.as_str());
        if !self.hub.has(Audience::Index) && !self.hub.has(messages) {
            return;
        }
        let (own, key, id) = (Arc::clone(self), key.clone(), message_id.to_owned());
        self.core.spawn(async move {
            entries::tell_said(&own.core, &own.hub, &key, &id).await;
            tell_changed(&own.core, &own.hub, &key, "message").await;
        });
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

/// The state of the report of a run.
struct RunReport<'a> {
    core: &'a Core,
    hub: &'a Hub,
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
    /// The start of the text after the last tool.
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
    /// The change of the session that is not announced yet.
    change: Option<&'static str>,
}

impl<'a> RunReport<'a> {
    fn new(core: &'a Core, hub: &'a Hub, run: &'a Run, accepted: &'a Accepted) -> Self {
        Self {
            core,
            hub,
            run,
            key: run.key.as_str(),
            agent_id: run.key.agent().as_str(),
            session_id: &accepted.session_id,
            run_id: run.public_id(),
            model: model::configured(&core.configuration.settings(), run.key.agent().as_str()),
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
        if is_known && self.core.lanes.is_first(&self.run.key, &self.run.id) {
            self.prepare();
        }
        self.change = Some(SENT);
    }

    /// The backend that answers, or the configured one until one is chosen.
    fn backend(&self) -> Option<&str> {
        let chosen = self.run.backend.get().map(String::as_str);
        chosen.or_else(|| {
            let settings = self.core.configuration.settings();
            let agent = settings.agent(self.agent_id)?;
            Some(agent.backend.name())
        })
    }

    /// Another program answers, which prepares itself what it needs: OpenClaw tells less of those.
    fn is_cli(&self) -> bool {
        self.backend().and_then(AgentCli::of_backend).is_some()
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
            Kind::Done(mut done) => {
                done.stop_reason = silence::told(&done.stop_reason).to_owned();
                self.done(&done);
            }
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

    /// Begins a new item of text.
    fn next_item(&mut self) {
        if self.text.len() > self.item_start {
            self.item_start = self.text.len();
            self.item += 1;
        }
    }

    fn more_thinking(&mut self, more: &str) {
        if self.levels.hides_thinking() {
            return;
        }
        self.thinking.push_str(more);
        let data = json!({ "text": self.thinking, "delta": more });
        self.agent("thinking", data);
    }

    /// A family `agent` event with the next number.
    fn agent(&mut self, stream: &str, data: Value) {
        self.seq += 1;
        self.tell(Audience::Run(self.key), stream, data);
    }

    fn tell(&self, audience: Audience<'_>, stream: &str, data: Value) {
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
        self.hub.tell(audience, "agent", || frame);
    }

    /// A tool's event, to those who are told of tools.
    fn tool(&mut self, data: Value) {
        self.seq += 1;
        if let Some(data) = self.levels.unasked(&data) {
            self.tell(Audience::Toolless(self.key), "tool", data);
        }
        self.tell(Audience::Tools(self.key), "tool", data);
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
        self.hub.tell(Audience::Run(self.key), "chat", || frame);
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
