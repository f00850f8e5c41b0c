//! The reply of a run, on its way to the readers and to the disk.

use std::collections::HashSet;

use openclaw_conversations::storage::{Closing, Fault, Pending};
use openclaw_proto::event::{Kind, Resources};
use openclaw_proto::paragraphs::Paragraphs;
use openclaw_sessions::transcript::Message;
use openclaw_sessions::{now_ms, silence};

use super::assembler::{Assembler, Assembly};
use super::{Turns, outcome};
use crate::bus::DomainEvent;
use crate::reply_text::{self, Author};
use crate::run::Run;
use openclaw_compaction::Spent;

/// The operation at the end of a run, for errors.
const SAVE: &str = "save the reply";

/// Entries, and whether they are on the disk.
type Appended = (Vec<Message>, Result<Pending<()>, Fault>);

/// The reply of a run, on its way to the readers and to the disk.
pub(super) struct Reply<'a> {
    pub(super) turns: &'a Turns,
    pub(super) run: &'a Run,
    pub(super) assembler: Assembler,
    pub(super) paragraphs: Paragraphs,
    /// Entries that are on the disk already, when the run is resumed.
    pub(super) skip: usize,
    /// Events of the turn that were heard.
    pub(super) heard: u64,
    /// The entries appended so far.
    appends: Vec<Appended>,
    /// Whether the agent has said or done anything.
    pub(super) has_spoken: bool,
    /// Calls of tools that have no result yet.
    pub(super) open_calls: HashSet<String>,
    /// The command that is answered; no prompt sees it.
    pub(super) command: Option<&'static str>,
    /// Whether it is an answer beside the turns of its session.
    pub(super) of_command: bool,
    /// US dollars that the run cost before its turn: summaries.
    pub(super) cost_before: f64,
    /// All that was said.
    text: String,
    /// The end of it that nobody was told of yet.
    held: String,
}

impl<'a> Reply<'a> {
    pub(super) fn new(turns: &'a Turns, run: &'a Run, skip: usize) -> Self {
        let settings = turns.configuration.settings();
        Self {
            turns,
            run,
            assembler: Assembler::new(&run.id, settings.provider_apis.clone()),
            paragraphs: Paragraphs::default(),
            skip,
            heard: 0,
            appends: Vec::new(),
            has_spoken: false,
            open_calls: HashSet::new(),
            command: None,
            of_command: false,
            cost_before: 0.0,
            text: String::new(),
            held: String::new(),
        }
    }

    /// All that was said.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Counts what summaries took before the turn.
    pub(super) fn add_before(&mut self, spent: &Spent) {
        self.cost_before += spent.cost_usd;
        self.assembler.add_before(&spent.usage);
    }

    /// Takes an event that does not end the run.
    pub(super) async fn take(&mut self, mut kind: Kind) {
        if let Kind::Resources(Resources {
            cost_usd: Some(cost),
            ..
        }) = &mut kind
        {
            *cost += self.cost_before;
        }
        if let Kind::Steered { run_ids } = &kind {
            self.turns.queue.taken(self.run, run_ids);
        }
        self.note(&kind);
        if let Some(mut messages) = self.assembler.add(&kind, now_ms()) {
            // A run's events make the same entries every time.
            let known = self.skip.min(messages.len());
            messages.drain(..known);
            self.skip -= known;
            if !messages.is_empty() {
                self.append(messages).await;
            }
        }
        self.turns.approvals.observe(self.run, &kind).await;
        // Not in the transcript, where each round is an entry of its own.
        self.paragraphs.set_apart(&mut kind);
        if let Kind::TextDelta { text } = &kind {
            self.text.push_str(text);
        }
        if let Some(kind) = self.hold_back(kind) {
            self.tell(kind);
        }
    }

    /// Appends `messages`. Whether they are on disk is asked when the reply is to be.
    pub(super) async fn append(&mut self, messages: Vec<Message>) {
        self.forget_kept();
        let storage = &self.turns.storage;
        let pending = storage.append(&self.run.key, messages.clone()).await;
        self.appends.push((messages, pending));
    }

    /// Keeps only those appended entries that are not on the disk yet: a turn may say much.
    fn forget_kept(&mut self) {
        self.appends.retain_mut(|(_, append)| {
            let Some(answer) = append.as_mut().ok().and_then(Pending::answered) else {
                return true;
            };
            let is_kept = answer.is_ok();
            if let Err(fault) = answer {
                *append = Err(fault);
            }
            !is_kept
        });
    }

    /// The same, waiting until it is durable, and returns whether it is.
    pub(super) async fn append_durably(&mut self, messages: Vec<Message>) -> bool {
        let storage = &self.turns.storage;
        let answer = match storage.append(&self.run.key, messages.clone()).await {
            Ok(pending) => pending.answer().await,
            Err(fault) => Err(fault),
        };
        match answer {
            Ok(()) => true,
            Err(fault) => {
                self.appends.push((messages, Err(fault)));
                false
            }
        }
    }

    /// Keeps what may turn out to say nothing until that is known.
    fn hold_back(&mut self, kind: Kind) -> Option<Kind> {
        match kind {
            Kind::TextDelta { text } => {
                self.held.push_str(&text);
                if silence::may_be_silent(&self.text) {
                    return None;
                }
                let text = std::mem::take(&mut self.held);
                return Some(Kind::TextDelta { text });
            }
            Kind::ToolCall { .. } | Kind::ToolResult(_) | Kind::Steered { .. } => self.let_out(),
            _ => {}
        }
        Some(kind)
    }

    /// Tells what was held back.
    fn let_out(&mut self) {
        let text = std::mem::take(&mut self.held);
        if !text.is_empty() {
            self.tell(Kind::TextDelta { text });
        }
    }

    fn tell(&self, kind: Kind) {
        let seq = self.run.publish(kind);
        let run = self.run;
        self.turns.bus.publish(&DomainEvent::RunSaid { run, seq });
    }

    fn note(&mut self, kind: &Kind) {
        self.has_spoken |= matches!(kind, Kind::TextDelta { .. } | Kind::ToolCall { .. });
        match kind {
            Kind::ToolCall { id, .. } => drop(self.open_calls.insert(id.clone())),
            Kind::ToolResult(result) => drop(self.open_calls.remove(&result.call_id)),
            _ => {}
        }
    }

    /// Makes the end durable and returns what the readers are told: only a
    /// reply that is on disk is one. What is not is returned too.
    pub(super) async fn close(mut self, mut outcome: Kind) -> (Kind, Option<Closing>) {
        // Before the ledger is told how it ended, which is what the readers are told.
        let (lost, fault) = self.kept().await;
        if let Some(fault) = fault {
            outcome = outcome::internal(SAVE, &fault);
        }
        let is_silent = matches!(outcome, Kind::Done(_)) && silence::is_silent(&self.text);
        if !is_silent {
            self.let_out();
        }
        let Assembly {
            mut messages,
            usage,
            context_tokens,
            resources,
        } = self.assembler.finish(&outcome, now_ms());
        if let Kind::Done(done) = &mut outcome
            && is_silent
        {
            silence::STOP_REASON.clone_into(&mut done.stop_reason);
        }
        // The last one, which says how the run ended, is not there: the run would have been closed.
        let known = self.skip.min(messages.len().saturating_sub(1));
        messages.drain(..known);
        if self.run.is_absorbed() {
            // Nobody said anything: the answer is another run's.
            messages.clear();
        }
        let is_heard = self.has_spoken || self.heard > 0 || self.run.reached_a_model();
        if matches!(outcome, Kind::Aborted { .. }) && !is_heard {
            messages.iter_mut().for_each(Message::set_withdrawn);
        }
        messages.splice(0..0, lost);
        if let Some(command) = self.command {
            messages
                .iter_mut()
                .for_each(|message| message.set_command(command));
        }
        let settings = self.turns.configuration.settings();
        let agent = settings.agent(self.run.key.agent().as_str());
        let author = if self.of_command {
            Author::Gateway
        } else {
            Author::Agent(&self.turns.runner, agent)
        };
        let reply = reply_text::on_channel(self.run, &outcome, self.text, author).await;
        let closing = Closing {
            run_id: self.run.id.clone(),
            key: self.run.key.clone(),
            messages,
            outcome: outcome.clone(),
            usage,
            context_tokens,
            resources,
            reply,
            of_command: self.of_command,
        };
        match self.turns.storage.close(closing.clone()).await {
            Ok(()) => (outcome, None),
            Err(fault) => {
                let outcome = outcome::internal(SAVE, &fault);
                let closing = Closing {
                    outcome: outcome.clone(),
                    ..closing
                };
                (outcome, Some(closing))
            }
        }
    }

    /// Waits until what was said so far is on disk. It was appended a round of
    /// the model ago, so that this takes no time. Returns what is not, and why.
    async fn kept(&mut self) -> (Vec<Message>, Option<Fault>) {
        let (mut lost, mut why) = (Vec::new(), None);
        for (messages, append) in self.appends.drain(..) {
            let kept = match append {
                Ok(pending) => pending.answer().await,
                Err(fault) => Err(fault),
            };
            if let Err(fault) = kept {
                lost.extend(messages);
                why = Some(fault);
            }
        }
        (lost, why)
    }
}
