//! What somebody said, did or pressed: judged, made durable, and answered.

use openclaw_commands::SenderRole;
use openclaw_conversations::Refusal;
use openclaw_conversations::channels as ledger;
use openclaw_conversations::storage::{self, TurnOptions};
use openclaw_inbound::SaidAs;
use openclaw_inbound::{
    Facts, PairedPeople, Verdict, about, agent_of, command, one_line, said, said_by, speaker,
};
use openclaw_proto::channel::{
    AccountName, Answer, HandIn, HandedIn, Ignored, IgnoredCode, Message, Outcome, Reaction, Taken,
    What,
};
use openclaw_proto::gateway::{self, ChatKind, Route};
use openclaw_proto::runner::ContextFile;
use openclaw_runs::queue::QueueRequest;
use openclaw_runs::{Extra, Sender};
use openclaw_sessions::{SessionKey, now_ms};
use openclaw_settings::Settings;
use openclaw_settings::keys::channels::{Account, ReactionNotifications};

use super::overheard::Said;
use super::stop::{has_wanted_files, is_stop};
use super::{Channels, Refused};

/// Bytes of a key; a provider's update has a number.
const KEY_LIMIT: usize = 128;

/// Characters of a name that are kept with a message.
const NAME: usize = 100;

/// Files of one message.
const FILES: usize = 20;

/// Where it is said what the channel can.
const CHANNEL_PROMPT: &str = "CHANNEL.md";

/// Where a group's own words for the agent are.
const GROUP_PROMPT: &str = "GROUP.md";

/// Something that came in, with what is known of it.
pub(super) struct Incoming<'a> {
    settings: &'a Settings,
    pub(super) canonical: AccountName,
    pub(super) account: &'a Account,
    pub(super) hand_in: &'a HandIn,
}

/// What becomes of something that came in.
pub(super) enum Step {
    /// This, which is still to be kept.
    Keep(Outcome),
    /// This, which is kept already, or is nothing to keep: nothing was done, so that it
    /// may be found again.
    Over(Outcome),
    /// Its files are used, and are to be had first.
    FilesWanted,
}

/// What is said of a membership.
const NOTED: &str = "it is noted";

/// What the ledger knows of it.
struct Seen {
    /// What became of it before.
    outcome: Option<Outcome>,
    /// Of its sender.
    pairing: ledger::PeerPairing,
    /// Its sender would be given a code.
    may_ask: bool,
}

impl Channels {
    /// Takes what was handed in; durable when this returns, and the same for the
    /// same key. Where its files wait and are used, they are wanted first.
    pub async fn hand_in(&self, mut hand_in: HandIn) -> Result<Answer, Refused> {
        if hand_in.key.len() > KEY_LIMIT {
            return Err(Refused::Invalid(format!(
                "key has more than {KEY_LIMIT} bytes"
            )));
        }
        let settings = self.core.configuration.settings();
        let (canonical, account) = Self::account_that_is_on(&settings, &hand_in.account)?;
        self.find_own(&canonical, &mut hand_in).await?;
        let incoming = Incoming {
            settings: &settings,
            canonical,
            account,
            hand_in: &hand_in,
        };
        let seen = self.looked_up(&incoming).await?;
        if let Some(outcome) = seen.outcome {
            return Ok(Answer::HandedIn(HandedIn {
                is_existing: true,
                outcome,
            }));
        }
        let outcome = match self.outcome(&incoming, &seen).await? {
            Step::Keep(outcome) => {
                self.keep(&incoming, outcome.clone()).await?;
                outcome
            }
            Step::Over(outcome) => outcome,
            Step::FilesWanted => return Ok(Answer::FilesWanted),
        };
        if let What::Message(message) = &hand_in.what {
            self.forget_files(&incoming.canonical, message).await;
        }
        Ok(Answer::HandedIn(HandedIn {
            is_existing: false,
            outcome,
        }))
    }

    /// What became of it before, and what is known of its sender.
    async fn looked_up(&self, incoming: &Incoming<'_>) -> Result<Seen, Refused> {
        let (account, key) = (incoming.canonical.clone(), incoming.hand_in.key.clone());
        let peer = incoming.hand_in.sender.id.clone();
        let look = move |connection: &rusqlite::Connection| {
            Ok(Seen {
                outcome: ledger::outcome(connection, &account, &key)?,
                pairing: ledger::of_peer(connection, &account, &peer)?,
                may_ask: ledger::may_ask(connection, &account, &peer, now_ms())?,
            })
        };
        Ok(self
            .core
            .database
            .read("look up what was handed in", look)
            .await?)
    }

    async fn keep(&self, incoming: &Incoming<'_>, outcome: Outcome) -> Result<(), Refused> {
        let (account, key) = (incoming.canonical.clone(), incoming.hand_in.key.clone());
        let keep = move |connection: &rusqlite::Connection| {
            ledger::keep(connection, &account, &key, &outcome, now_ms())
        };
        Ok(self
            .core
            .database
            .call("keep what was handed in", keep)
            .await?)
    }

    /// What becomes of it.
    async fn outcome(&self, incoming: &Incoming<'_>, seen: &Seen) -> Result<Step, Refused> {
        if let What::Membership(is_member) = incoming.hand_in.what {
            return Ok(Step::Over(noted_membership(incoming, is_member)));
        }
        let owners = &incoming.settings.channels.owners;
        let known = PairedPeople {
            is_paired: seen.pairing.is_paired,
            is_paired_owner: seen.pairing.is_owner,
            has_paired_owner: seen.pairing.has_owner,
            owners,
        };
        let facts = incoming.facts();
        let verdict = self.judged(incoming, &facts, known);
        let (sender, agent, prompt) = match verdict {
            Verdict::Ignore(ignored) => {
                self.tell_of_ignored(incoming, facts.is_to_bot, &ignored.reason);
                return Ok(Step::Over(Outcome::Ignored(ignored)));
            }
            Verdict::Overhear(ignored) => {
                self.overhear(incoming);
                return Ok(Step::Keep(Outcome::Ignored(ignored)));
            }
            Verdict::Pair => return self.pair(incoming, seen.may_ask).await,
            Verdict::Allow {
                sender,
                agent,
                prompt,
            } => (sender, agent, prompt),
        };
        let agent = incoming.agent(&facts, agent);
        if let Err(refusal) = self.key(incoming, &agent) {
            return Ok(Step::Keep(self.declined(incoming, refusal).await?));
        }
        self.allowed(incoming, &agent, sender, prompt).await
    }

    /// What becomes of it, when its sender may talk to `agent`.
    async fn allowed(
        &self,
        incoming: &Incoming<'_>,
        agent: &str,
        sender: Sender,
        prompt: Option<String>,
    ) -> Result<Step, Refused> {
        let outcome = match &incoming.hand_in.what {
            What::Message(message) if message.is_edit => {
                return self.edited(incoming, message, agent).await;
            }
            // What the provider has is fetched for somebody who may talk, and is heard.
            What::Message(message) if has_wanted_files(message) => {
                return Ok(Step::FilesWanted);
            }
            What::Message(message) => {
                let extra = Extra {
                    said_as: said_as(message).map(|it| match incoming.hand_in.place.chat {
                        ChatKind::Direct => it,
                        _ => it.quoted(),
                    }),
                    ..self.extra(incoming, sender, prompt)
                };
                self.submit(incoming, message, agent, extra).await?
            }
            What::Reaction(reaction) => return self.reacted(incoming, reaction, agent).await,
            What::Press(press) if said_by(&press.data).is_some() => {
                // An agent put the words there: whoever presses commands nothing with
                // them, and decides nothing.
                let extra = self.extra(incoming, Sender::program(), prompt);
                let message = Message {
                    text: said_by(&press.data).unwrap_or_default().to_owned(),
                    provider_ids: vec![press.provider_id.clone()],
                    is_to_bot: true,
                    ..Message::default()
                };
                self.submit(incoming, &message, agent, extra).await?
            }
            What::Press(press) => self.press(&incoming.canonical, &sender, &press.data).await,
            What::Membership(_) => ignored(IgnoredCode::Unknown, NOTED),
        };
        Ok(Step::Keep(outcome))
    }

    /// What goes with a message: who said it, and what the agent is told of where.
    fn extra(&self, incoming: &Incoming<'_>, sender: Sender, prompt: Option<String>) -> Extra {
        let place = &incoming.hand_in.place;
        let abilities = self.abilities(&incoming.canonical);
        let channel = abilities.map(|it| about(&incoming.canonical.channel, &it, place));
        let file = |name: &str, content| ContextFile {
            name: name.to_owned(),
            content,
        };
        let channel = channel.map(|content| file(CHANNEL_PROMPT, content));
        let prompt = prompt.map(|content| file(GROUP_PROMPT, content));
        Extra {
            sender,
            turn: TurnOptions {
                instructions: channel.into_iter().chain(prompt).collect(),
                ..TurnOptions::default()
            },
            queue: Some(QueueRequest::default()),
            ..Extra::default()
        }
    }

    /// Begins a run.
    async fn submit(
        &self,
        incoming: &Incoming<'_>,
        message: &Message,
        agent: &str,
        extra: Extra,
    ) -> Result<Outcome, Refused> {
        let is_empty = message.text.trim().is_empty() && message.attachments.is_empty();
        if is_empty {
            return Ok(ignored(IgnoredCode::Empty, "there is nothing in it"));
        }
        if message.attachments.len() > FILES {
            return Err(Refused::Invalid(format!(
                "a message has at most {FILES} files"
            )));
        }
        let workspace = incoming.workspace(agent);
        let paths = self
            .taken_files(&incoming.canonical, message, workspace)
            .await?;
        let text = self.text(incoming, message, &paths, extra.sender.role);
        let message = gateway::Message {
            text,
            session_key: String::new(),
            agent_id: agent.to_owned(),
            idempotency_key: incoming.idempotency_key(),
            channel: incoming.canonical.channel.clone(),
            route: Some(Route {
                message: message.provider_ids.first().cloned(),
                ..incoming.route()
            }),
        };
        let submitter = &self.core.submitter;
        let started = async { submitter.submit(message, extra, None)?.started().await };
        let started = match started.await {
            Ok(started) => started,
            Err(refusal @ Refusal::Blocked) => {
                return Ok(ignored(IgnoredCode::NotAllowed, &refusal.to_string()));
            }
            Err(refusal) => return self.declined(incoming, refusal).await,
        };
        let is_command = started.run.is_some_and(|run| run.command().is_some());
        Ok(Outcome::Taken(Taken {
            run_id: started.accepted.run_id,
            session_key: started.accepted.session_key,
            agent_id: started.accepted.agent_id,
            is_command,
        }))
    }

    /// What the agent is told; a command is what it is, unless a program says it.
    fn text(
        &self,
        incoming: &Incoming<'_>,
        message: &Message,
        paths: &[Option<String>],
        role: SenderRole,
    ) -> String {
        let is_bare = message.attachments.is_empty() || is_stop(message.text.trim());
        let anew = storage::beginning_anew(&incoming.settings.session, message.text.trim());
        let command = command(incoming.hand_in, message, anew);
        if let Some(command) = command.filter(|_| is_bare && role != SenderRole::Program) {
            return command;
        }
        let text = said(incoming.hand_in, message, paths);
        match incoming.hand_in.place.chat {
            ChatKind::Direct => text,
            _ => self.overheard.before(&incoming.group(), text),
        }
    }

    /// Says in the log, once for each group, why somebody is not answered who called
    /// there: the owner may be the one who wonders.
    fn tell_of_ignored(&self, incoming: &Incoming<'_>, is_to_bot: bool, reason: &str) {
        let place = &incoming.hand_in.place;
        let is_called = is_to_bot && matches!(incoming.hand_in.what, What::Message(_));
        if place.chat != ChatKind::Direct
            && is_called
            && self.ignored.is_news(&incoming.group(), reason)
        {
            tracing::info!(
                openclaw_channel = incoming.canonical.channel,
                chat = place.id,
                title = openclaw_escape::line(&place.title),
                sender = openclaw_escape::line(&incoming.hand_in.sender.id),
                "a message in a group is not answered: {reason}"
            );
        }
    }

    fn overhear(&self, incoming: &Incoming<'_>) {
        if let What::Message(message) = &incoming.hand_in.what {
            let text = said(incoming.hand_in, message, &[]);
            let (group, limit) = (incoming.group(), incoming.account.history_limit);
            let said = Said::of(message, &text);
            self.overheard.add(&group, said, limit);
        }
    }

    /// Somebody changed what they said before.
    async fn edited(
        &self,
        incoming: &Incoming<'_>,
        message: &Message,
        agent: &str,
    ) -> Result<Step, Refused> {
        let id = message.provider_ids.first().map_or("", String::as_str);
        let key = self.key(incoming, agent)?;
        // It is told all the same: the transcript has what was said first.
        self.core.submitter.edit(&key, id, message.text.trim());
        let text = format!(
            "{} edited the message {id} on {}; it says now: {}",
            speaker(&incoming.hand_in.sender),
            incoming.canonical.channel,
            message.text.trim()
        );
        self.tell(incoming, agent, &text).await
    }

    async fn reacted(
        &self,
        incoming: &Incoming<'_>,
        reaction: &Reaction,
        agent: &str,
    ) -> Result<Step, Refused> {
        let is_own = reaction.is_to_own;
        let is_told = match incoming.account.reaction_notifications {
            ReactionNotifications::Off => false,
            ReactionNotifications::Own => is_own,
            ReactionNotifications::All => true,
        };
        if !is_told {
            let reason = "reactionNotifications leaves it out";
            return Ok(Step::Over(ignored(IgnoredCode::Disabled, reason)));
        }
        let name = speaker(&incoming.hand_in.sender);
        let id = &reaction.provider_id;
        let whose = if is_own { "your" } else { "the" };
        let text = match reaction.emoji.as_slice() {
            [] => format!("{name} took back the reaction to {whose} message {id}"),
            emoji => format!(
                "{name} reacted with {} to {whose} message {id}",
                one_line(&emoji.join(" "))
            ),
        };
        self.tell(incoming, agent, &text).await
    }

    /// Where the message was said that is reacted to, if this account said it, as far as
    /// the outbox remembers: a provider need not say it.
    async fn find_own(&self, canonical: &AccountName, hand_in: &mut HandIn) -> Result<(), Refused> {
        let What::Reaction(reaction) = &mut hand_in.what else {
            return Ok(());
        };
        let AccountName { channel, account } = canonical.clone();
        let place = &mut hand_in.place;
        // Whoever sends something there by hand may call it either.
        let names = [place.lasting_id().to_owned(), place.id.clone()];
        let id = reaction.provider_id.clone();
        let look = move |connection: &rusqlite::Connection| {
            for to in &names {
                let place = (channel.as_str(), account.as_str(), to.as_str());
                if let Some(thread) = openclaw_runs::outbox::thread_of(connection, place, &id)? {
                    return Ok(Some(thread));
                }
            }
            Ok(None)
        };
        let database = &self.core.database;
        let found = database.read("look up what was reacted to", look).await?;
        if let Some(thread) = found {
            reaction.is_to_own = true;
            place.thread = Some(thread)
                .filter(|it| !it.is_empty())
                .or(place.thread.take());
        }
        Ok(())
    }

    /// Tells the agent with its next turn, also if the gateway is killed before
    /// that; kept with what became of it.
    async fn tell(
        &self,
        incoming: &Incoming<'_>,
        agent: &str,
        text: &str,
    ) -> Result<Step, Refused> {
        let key = self.key(incoming, agent)?;
        let outcome = Outcome::Taken(Taken {
            run_id: String::new(),
            session_key: key.to_string(),
            agent_id: key.agent().to_string(),
            is_command: false,
        });
        let (account, name) = (incoming.canonical.clone(), incoming.hand_in.key.clone());
        let kept = outcome.clone();
        let keep = move |connection: &rusqlite::Connection| {
            ledger::keep(connection, &account, &name, &kept, now_ms())
        };
        self.core.system_events.push(&key, text, keep).await?;
        Ok(Step::Over(outcome))
    }

    pub(super) fn key(&self, incoming: &Incoming<'_>, agent: &str) -> Result<SessionKey, Refusal> {
        let channel = &incoming.canonical.channel;
        self.core.routed_key(channel, incoming.route(), agent)
    }
}

impl Incoming<'_> {
    /// The agent that answers: the one that the topic names, or that is bound; empty:
    /// the default one.
    pub(super) fn agent(&self, facts: &Facts<'_>, of_topic: Option<String>) -> String {
        let bound = || agent_of(&self.settings.channels.bindings, facts).map(str::to_owned);
        of_topic.or_else(bound).unwrap_or_default()
    }

    fn facts(&self) -> Facts<'_> {
        let hand_in = self.hand_in;
        let is_to_bot = match &hand_in.what {
            What::Message(message) => message.is_to_bot,
            What::Reaction(_) | What::Press(_) | What::Membership(_) => true,
        };
        Facts {
            channel: &self.canonical.channel,
            account: &hand_in.account.account,
            is_default_account: self.canonical.account.is_empty(),
            chat: hand_in.place.chat,
            chat_id: &hand_in.place.id,
            former_chat_id: &hand_in.place.former_id,
            thread: hand_in.place.thread.as_deref(),
            sender: &hand_in.sender.id,
            is_bot: hand_in.sender.is_bot,
            is_to_bot,
        }
    }

    pub(super) fn route(&self) -> Route {
        let place = &self.hand_in.place;
        Route {
            account: self.canonical.account.clone(),
            chat: place.chat,
            id: place.lasting_id().to_owned(),
            thread: place.thread.clone(),
            sender: Some(self.hand_in.sender.id.clone()).filter(|id| !id.is_empty()),
            present_id: Some(place.id.clone()),
            message: None,
            sender_name: self.sender_name().map(beginning),
            title: Some(beginning(&place.title)).filter(|it| !it.is_empty()),
        }
    }

    /// What people call the sender.
    pub(super) fn name(&self) -> String {
        let id = Some(self.hand_in.sender.id.as_str()).filter(|id| !id.trim().is_empty());
        openclaw_escape::line(self.sender_name().or(id).unwrap_or("somebody"))
    }

    fn sender_name(&self) -> Option<&str> {
        let sender = &self.hand_in.sender;
        let names = [&sender.display_name, &sender.user_name];
        let mut names = names.into_iter().map(String::as_str);
        names.find(|name| !name.trim().is_empty())
    }

    fn group(&self) -> String {
        let place = &self.hand_in.place;
        let AccountName { channel, account } = &self.canonical;
        let thread = place.thread.as_deref().unwrap_or_default();
        format!("{channel}\n{account}\n{}\n{thread}", place.lasting_id())
    }

    pub(super) fn idempotency_key(&self) -> String {
        let AccountName { channel, account } = &self.canonical;
        format!("{channel}:{account}:{}", self.hand_in.key)
    }

    /// The folder of the agent that answers.
    fn workspace(&self, agent: &str) -> Option<openclaw_folder::ConfiguredFolder> {
        let agent = match agent {
            "" => &self.settings.default_agent,
            agent => agent,
        };
        let agent = self.settings.agent(agent);
        agent.map(|agent| agent.workspace.clone())
    }
}

/// What may be edited of `message`.
fn said_as(message: &Message) -> Option<SaidAs> {
    let text = message.text.trim();
    // What begins with a command is not said as it is.
    if text.starts_with('/') {
        return None;
    }
    let said_as = match message.texts.as_slice() {
        [] => SaidAs::of(&message.provider_ids, &[text.to_owned()]),
        texts => SaidAs::of(&message.provider_ids, texts),
    };
    said_as.filter(|it| it.words() == text)
}

/// Of a name as much as is kept with a message.
fn beginning(name: &str) -> String {
    name.chars().take(NAME).collect()
}

/// Tells the journal alone that the bot was taken into a chat, or out of one: anybody may do it.
fn noted_membership(incoming: &Incoming<'_>, is_member: bool) -> Outcome {
    let place = &incoming.hand_in.place;
    tracing::info!(
        openclaw_channel = incoming.canonical.channel,
        chat = place.id,
        title = openclaw_escape::line(&place.title),
        is_member,
        "the bot was taken into a chat, or out of one"
    );
    ignored(IgnoredCode::Unknown, NOTED)
}

pub(super) fn ignored(code: IgnoredCode, reason: &str) -> Outcome {
    Outcome::Ignored(Ignored {
        code,
        reason: reason.to_owned(),
    })
}
