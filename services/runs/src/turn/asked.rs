//! The request to the runner for a message: the conversation as far as it fits.

use std::collections::HashSet;
use std::path::PathBuf;

use openclaw_conversations::storage::{Admitted, Intent, Overrides};
use openclaw_daemon::failure;
use openclaw_proto::approval::GrantedCommand;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::Accepted;
use openclaw_proto::runner::{Purpose, Turn};
use openclaw_sessions::history::History;
use openclaw_sessions::now_ms;
use openclaw_sessions::transcript::{Message, UserMessage};
use openclaw_settings::Ask;

use super::context::Context;
use super::reply::Reply;
use super::{Turns, conversation, outcome};
use crate::run::Run;
use crate::system_event;
use openclaw_compaction::{Made, Room, Spent};

/// How much longer a conversation may be by the estimate than by the count of
/// its tokens, and still be taken whole.
const ESTIMATE_SLACK: usize = 4;

/// A message with everything that is sent along.
pub(super) struct Asked {
    accepted: Accepted,
    transcript: PathBuf,
    overrides: Overrides,
    text: String,
    /// The events from elsewhere with which `text` begins.
    events: Option<system_event::WaitingEvents>,
    context: Context,
    /// All that may be sent to the model, in tokens,
    tokens: u64,
    /// what of a request is not the conversation,
    reserved: usize,
    /// and what is left for that.
    budget: usize,
    /// Runs whose messages are not part of the conversation yet.
    waiting: HashSet<String>,
    /// Commands that were allowed for good.
    granted: Vec<GrantedCommand>,
}

impl Asked {
    pub(super) fn new(reply: &Reply<'_>, admitted: Admitted, context: Context) -> Self {
        let Reply { turns, run, .. } = reply;
        let text = match admitted.said {
            Intent::Text(text) => text,
            Intent::Reset | Intent::Command => String::new(),
        };
        let text = system_event::asked(&run.channel, text);
        let events = turns.system_events.take(&run.key);
        let text = match &events {
            Some(events) => format!("{}\n\n{text}", events.text()),
            None => text,
        };
        let settings = turns.configuration.settings();
        let chosen = admitted.overrides.model.as_deref();
        let model = chosen.or_else(|| settings.model_of(run.key.agent().as_str()));
        let tokens = settings.context_tokens(model);
        let agent = settings.agent(run.key.agent().as_str());
        let of_servers = usize::try_from(admitted.overrides.server_tool_tokens);
        let reserved = conversation::reserved(agent, &text, &context)
            .saturating_add(of_servers.unwrap_or(usize::MAX));
        let mut waiting = turns.lanes.runs(&run.key);
        waiting.extend(run.collected());
        Self {
            accepted: admitted.accepted,
            transcript: admitted.transcript,
            overrides: admitted.overrides,
            reserved,
            budget: usize::try_from(tokens)
                .unwrap_or(usize::MAX)
                .saturating_sub(reserved),
            tokens,
            text,
            events,
            context,
            waiting,
            granted: Vec::new(),
        }
    }

    /// The turn, after what does not fit was summarised.
    pub(super) async fn turn(&mut self, reply: &mut Reply<'_>) -> Result<Turn, Kind> {
        let (turns, run) = (reply.turns, reply.run);
        self.keep_events(reply).await;
        let (sessions, history, granted) = tokio::join!(
            turns.storage.begin(&run.id, &run.key),
            self.history(turns, run, self.budget),
            granted(turns, run),
        );
        self.granted = granted;
        let sessions = sessions.map_err(|fault| outcome::internal("begin the turn", &fault))?;
        let mut history = history?;
        let sound = turns
            .sessions
            .keep_aside(&self.transcript, &history.corrupt);
        sound.await;
        if history.cut && self.has_room() {
            history = self.shorten(reply, history).await?;
        } else if history.cut {
            self.tell_of_no_room(reply).await;
        }
        let history = Self::given(reply, history);
        self.recall_beside(reply.run, &history);
        let sessions = conversation::backend_sessions(&history, sessions);
        Ok(Turn {
            backend_sessions: sessions,
            ..self.filled(reply, history)
        })
    }

    /// Takes what answers beside the conversation itself: what it holds answers best and
    /// is not given again, and what answers almost as well was left out for it.
    fn recall_beside(&mut self, run: &Run, history: &History) {
        if self.own(run, history).has_some_of(&self.context.recall) {
            self.context.recall.add_beside();
        }
    }

    fn own<'a>(&self, run: &Run, history: &'a History) -> conversation::Own<'a> {
        let session = (self.accepted.session_id.as_str(), &run.key);
        conversation::Own::new(history, session, self.context.received_ms)
    }

    /// Whether there is room for a conversation at all. Without, a summary would find
    /// none either, at each message again.
    fn has_room(&self) -> bool {
        self.budget >= openclaw_prompt::LEAST_CONVERSATION
    }

    /// Says, once for each agent, why nothing of a conversation is known.
    async fn tell_of_no_room(&self, reply: &mut Reply<'_>) {
        if reply.turns.cramped.is_told(reply.run.key.agent()) {
            return;
        }
        let taken = self.reserved;
        let text = format!(
            "a request may have {} tokens, of which instructions, tools and this message take \
             {taken}: it is answered without what was said before. Raise \
             memory.maxContextTokens or the model's contextWindow, or give the agent fewer tools \
             (tools.profile, tools.deny)",
            self.tokens
        );
        reply.take(Kind::Note { text }).await;
    }

    /// Enters what happened into the transcript as what it was: the next turns
    /// are to know of it too.
    async fn keep_events(&mut self, reply: &mut Reply<'_>) {
        let Some(events) = self.events.take() else {
            return;
        };
        let notices = events.notices();
        let event = UserMessage::of_event(&reply.run.id, events.text(), now_ms());
        let event = vec![Message::User(event)];
        if notices.is_empty() {
            reply.append(event).await;
        } else if reply.append_durably(event).await {
            reply.turns.system_events.forget(notices).await;
        }
    }

    /// Another turn after the provider found the first too long; none when
    /// nothing more can give way.
    pub(super) async fn turn_after_overflow(
        &mut self,
        reply: &mut Reply<'_>,
    ) -> Result<Option<Turn>, Kind> {
        if !self.has_room() {
            return Ok(None);
        }
        let note = "the provider says that the conversation is too long; what was said first is \
                    being summarised";
        reply
            .take(Kind::Note {
                text: note.to_owned(),
            })
            .await;
        let (turns, run) = (reply.turns, reply.run);
        let mut spent = Spent::default();
        let room = self.room(reply);
        let made = turns
            .compactor
            .make_more_room(&room, &run.cancel, &mut spent)
            .await;
        reply.add_before(&spent);
        match made {
            Made::Summarised => {}
            Made::Cancelled => return Err(run.aborted("")),
            Made::Fits | Made::Failed(_) => return Ok(None),
        }
        // A backend's own session is what was too long.
        let history = Self::given(reply, self.history(turns, run, self.budget).await?);
        Ok(Some(self.filled(reply, history)))
    }

    /// The conversation after a summary has taken the place of its beginning;
    /// as it was, when there is none.
    async fn shorten(&mut self, reply: &mut Reply<'_>, history: History) -> Result<History, Kind> {
        let (turns, run) = (reply.turns, reply.run);
        let mut spent = Spent::default();
        let room = self.room(reply);
        let made = turns
            .compactor
            .make_room(&room, &run.cancel, &mut spent)
            .await;
        reply.add_before(&spent);
        match made {
            Made::Summarised => self.history(turns, run, self.budget).await,
            Made::Fits => {
                let budget = self.budget.saturating_mul(ESTIMATE_SLACK);
                self.history(turns, run, budget).await
            }
            Made::Cancelled => Err(run.aborted("")),
            Made::Failed(why) => {
                let text = format!(
                    "the conversation is too long and could not be summarised ({why}); this is \
                     answered without its beginning"
                );
                reply.take(Kind::Note { text }).await;
                Ok(history)
            }
        }
    }

    fn room<'a>(&'a self, reply: &'a Reply<'_>) -> Room<'a> {
        Room {
            key: &reply.run.key,
            session_id: &self.accepted.session_id,
            run_id: &reply.run.id,
            tokens: self.tokens,
            reserved: self.tokens.saturating_sub(self.budget as u64),
            waiting: &self.waiting,
            model: self.overrides.model.as_deref(),
            auth_profile: self.overrides.auth_profile.clone(),
        }
    }

    /// The conversation before the message, without messages that came meanwhile and wait for their
    /// own turn.
    async fn history(&mut self, turns: &Turns, run: &Run, budget: usize) -> Result<History, Kind> {
        let transcript = &self.transcript;
        let load = |waiting| conversation::load(&turns.tails, transcript, budget, waiting);
        let history = without_later(&mut self.waiting, load, || turns.lanes.runs(&run.key));
        let read = |error| outcome::internal("read the conversation", &error);
        history.await.map_err(read)
    }

    /// The part of `history` for the model.
    fn given(reply: &Reply<'_>, mut history: History) -> History {
        let settings = reply.turns.configuration.settings();
        if let Some(turns) = conversation::turns_of(&settings, reply.run) {
            history.keep_turns(turns);
        }
        history
    }

    fn filled(&mut self, reply: &Reply<'_>, history: History) -> Turn {
        let own = self.own(reply.run, &history);
        let passages = own.passages(&self.context.recall);
        let context = &mut self.context;
        let session_id = &self.accepted.session_id;
        Turn {
            run_id: reply.run.id.clone(),
            session_key: self.accepted.session_key.clone(),
            session_id: session_id.clone(),
            agent_id: self.accepted.agent_id.clone(),
            channel: reply.run.channel.clone(),
            text: self.text.clone(),
            passages,
            bootstrap: context.bootstrap.clone(),
            received_ms: context.received_ms,
            notes: std::mem::take(&mut context.notes),
            backend_sessions: Vec::new(),
            history: conversation::messages(history),
            model: self.overrides.model.clone(),
            thinking_level: self.overrides.thinking_level.clone(),
            limits: self.overrides.limits.clone(),
            auth_profile: self.overrides.auth_profile.clone(),
            purpose: Purpose::Message,
            granted_commands: self.granted.clone(),
            command_terms: None,
        }
    }
}

/// What `load` reads without what `lane` has: again where more came meanwhile, as a run
/// waits in its lane before its message is written.
async fn without_later<T, E, F: Future<Output = Result<T, E>>>(
    waiting: &mut HashSet<String>,
    load: impl Fn(HashSet<String>) -> F,
    lane: impl Fn() -> HashSet<String>,
) -> Result<T, E> {
    loop {
        let known = waiting.len();
        let history = load(waiting.clone()).await?;
        waiting.extend(lane());
        if waiting.len() == known {
            return Ok(history);
        }
    }
}

/// The commands of the agent that somebody allowed for good. Where nobody is
/// asked there are none to look up.
async fn granted(turns: &Turns, run: &Run) -> Vec<GrantedCommand> {
    let settings = turns.configuration.settings();
    let agent = run.key.agent().as_str();
    let asks = settings.agent(agent);
    let asks = asks.map(|agent| agent.may_ask(settings.sandbox.missing));
    if asks != Some(Ask::OnMiss) {
        return Vec::new();
    }
    let granted = turns.approvals.log.granted(agent.to_owned()).await;
    granted.unwrap_or_else(|fault| {
        failure::report("look up what was allowed", &fault);
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::convert::Infallible;

    use super::*;

    /// A second message is written while the conversation is read for the first.
    #[tokio::test]
    async fn history_is_read_again_without_what_came_meanwhile() {
        let lane = RefCell::new(HashSet::from(["first".to_owned()]));
        let written = RefCell::new(vec!["before"]);
        let load = async |waiting: HashSet<String>| {
            lane.borrow_mut().insert("second".to_owned());
            if !written.borrow().contains(&"second") {
                written.borrow_mut().push("second");
            }
            let said = written.borrow().clone();
            let said = said.into_iter().filter(|run| !waiting.contains(*run));
            Ok::<_, Infallible>(said.collect::<Vec<_>>())
        };
        let mut waiting = lane.borrow().clone();
        let history = without_later(&mut waiting, load, || lane.borrow().clone()).await;
        assert_eq!(history, Ok(vec!["before"]));
        assert!(waiting.contains("second"));
    }
}
