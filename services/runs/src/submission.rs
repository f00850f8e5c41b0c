//! The one way in for messages.

use std::sync::Arc;

use openclaw_commands::{Sender, SenderRole};
use openclaw_conversations::storage::{Fault, RESET_COMMAND, Storage, only_begins_anew};
use openclaw_conversations::{Lanes, Refusal};
use openclaw_daemon::Configuration;
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_sessions::SessionKey;
use openclaw_settings::SessionSettings;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::bus::{Bus, DomainEvent};
use crate::command::{Commands, Order};
use crate::keys;
use crate::run::{DEFAULT_CHANNEL, MessageStatus, Registry, Run, Start};
use crate::standby::Standby;
use crate::stream::{self, Events};
use crate::turn::{Extra, Turns};

/// Bytes of one message. A pasted file may be long; what is longer belongs into the workspace.
pub const TEXT_LIMIT: usize = 1024 * 1024;

/// Bytes of an idempotency key. A UUID has 36.
const IDEMPOTENCY_KEY_LIMIT: usize = 256;

/// Bytes of a channel's name, which is a journal field.
const CHANNEL_LIMIT: usize = 64;

/// Whether `text` names a model: `provider/model`.
pub fn is_model(text: &str) -> bool {
    let parts = text.split_once('/');
    parts.is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// A message that was taken in and is on its way to the disk.
pub struct Submitted {
    /// Its run.
    pub run: Arc<Run>,
    /// Whether its idempotency key named a run that is live.
    pub existing: bool,
    storage: Storage,
}

/// A message that was accepted.
pub struct Started {
    /// The answer to its sender.
    pub accepted: Accepted,
    /// The run's events, the terminal one last.
    pub events: Events,
    /// The run, unless it had ended before.
    pub run: Option<Arc<Run>>,
}

/// Makes runs of messages. Cheap to clone.
#[derive(Clone)]
pub struct Submitter {
    pub(crate) configuration: Configuration,
    pub(crate) storage: Storage,
    pub(crate) lanes: Lanes,
    pub(crate) runs: Registry,
    pub(crate) bus: Bus,
    pub(crate) standby: Standby,
    pub(crate) turns: Arc<Turns>,
    pub(crate) commands: Commands,
    /// Closed when the gateway stops.
    pub(crate) tasks: TaskTracker,
}

impl Submitter {
    /// Starts a run for `message`, or finds the live one that its idempotency key names. Whether
    /// the message is accepted is what [`Submitted::started`] and [`Run::settled`] say. `run_id`
    /// is the new run's; None: one that stands ready, or any.
    pub fn submit(
        &self,
        message: Message,
        extra: Extra,
        run_id: Option<String>,
    ) -> Result<Submitted, Refusal> {
        if self.tasks.is_closed() {
            return Err(Refusal::Stopping);
        }
        check_lengths(&message)?;
        let channel = match message.channel.as_str() {
            "" => DEFAULT_CHANNEL.to_owned(),
            channel => channel.to_owned(),
        };
        let settings = self.configuration.settings();
        let key = match message.route.clone() {
            Some(route) if message.session_key.trim().is_empty() => {
                keys::routed(&settings, &channel, route, &message.agent_id)?
            }
            _ => keys::named(&settings, &message.session_key, &message.agent_id)?,
        };
        let command = command_of(&settings.session, &message.text, &extra.sender);
        let idempotency_key = Some(message.idempotency_key).filter(|key| !key.is_empty());
        let run_id = run_id
            .or_else(|| match command {
                None => self.standby.take(&key),
                Some(_) => None,
            })
            .unwrap_or_else(|| Uuid::now_v7().to_string());
        let run = Run::new(run_id, key, channel, message.route, idempotency_key);
        if let Some(name) = command.as_ref().map(Reading::name) {
            run.set_command(name);
        }
        if let Start::Same(run) = self.runs.start(&run) {
            return Ok(self.submitted(run, true));
        }
        if let Some(deadline) = &extra.turn.deadline {
            run.end_after(deadline.left(), &deadline.reason);
        }
        if let Some(Reading::Order(order)) = command {
            let answer = self.commands.clone();
            let answer = answer.answer(Arc::clone(&run), message.text, order);
            self.tasks.spawn(answer.instrument(run.span.clone()));
            self.bus.publish(&DomainEvent::RunBegan(&run));
            return Ok(self.submitted(run, false));
        }
        let ticket = match self.lanes.enter(&run.key, &run.id) {
            Ok(ticket) => ticket,
            Err(crowded) => {
                self.runs.end(&run);
                return Err(crowded.into());
            }
        };
        let turns = Arc::clone(&self.turns);
        // Tens of kilobytes, which the runtime would move half a dozen times.
        let drive = Box::pin(turns.drive(Arc::clone(&run), message.text, extra, ticket));
        self.tasks.spawn(drive.instrument(run.span.clone()));
        self.bus.publish(&DomainEvent::RunBegan(&run));
        Ok(self.submitted(run, false))
    }

    fn submitted(&self, run: Arc<Run>, existing: bool) -> Submitted {
        Submitted {
            run,
            existing,
            storage: self.storage.clone(),
        }
    }

    /// The message `id` of a channel, which is in the session `key`, says `words` now:
    /// whether it waits still, and is answered as that.
    pub fn edit(&self, key: &SessionKey, id: &str, words: &str) -> bool {
        self.turns.queue.edit(key, id, words)
    }
}

impl Submitted {
    /// Waits until the message is durable.
    pub async fn started(self) -> Result<Started, Refusal> {
        let Self {
            run,
            existing,
            storage,
        } = self;
        match run.settled().await {
            MessageStatus::Accepted(accepted) => Ok(Started {
                accepted: Accepted {
                    existing,
                    ..accepted
                },
                events: stream::live(Arc::clone(&run), 1),
                run: Some(run),
            }),
            MessageStatus::Existing(record) => Ok(Started {
                events: stream::stored(&storage, &record.run_id, 1).await?,
                accepted: Accepted {
                    existing: true,
                    ..record.accepted()
                },
                run: None,
            }),
            MessageStatus::Refused(fault) => Err(Refusal::of_message(fault)),
            // It is settled when it is waited for.
            MessageStatus::Asked => Err(Refusal::NotDurable(Fault::Stopped)),
        }
    }
}

/// A message that the gateway answers itself.
enum Reading {
    /// It begins the conversation anew and says nothing else.
    Reset,
    /// It is another command.
    Order(Order),
}

impl Reading {
    fn name(&self) -> &'static str {
        match self {
            Self::Reset => RESET_COMMAND,
            Self::Order(order) => order.name(),
        }
    }
}

/// The command that `text` is, if whoever sent it commands at all.
fn command_of(settings: &SessionSettings, text: &str, sender: &Sender) -> Option<Reading> {
    if sender.role == SenderRole::Program {
        return None;
    }
    if !only_begins_anew(settings, text) {
        let asked = openclaw_commands::read(text)?;
        return Some(Reading::Order(Order::new(asked, sender.clone())));
    }
    if sender.rules_the_conversation() {
        return Some(Reading::Reset);
    }
    // Refused in words, whatever begins a conversation anew is called.
    Order::anew(sender.clone()).map(Reading::Order)
}

fn check_lengths(message: &Message) -> Result<(), Refusal> {
    let key = &message.idempotency_key;
    check_length("the text", &message.text, TEXT_LIMIT)?;
    check_length("the idempotency key", key, IDEMPOTENCY_KEY_LIMIT)?;
    check_length("the channel", &message.channel, CHANNEL_LIMIT)
}

fn check_length(what: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    if text.len() > limit {
        return Err(Refusal::TooLong {
            what,
            length: text.len(),
            limit,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, role: SenderRole) -> Option<&'static str> {
        let settings = SessionSettings::of(
            &Default::default(),
            &Default::default(),
            &Default::default(),
        );
        let reading = command_of(&settings, text, &Sender::of(role));
        reading.map(|reading| reading.name())
    }

    #[test]
    fn submission_reads_commands_of_those_who_may_give_them() {
        for (text, owner, guest, visitor) in [
            ("/status", Some("status"), Some("status"), Some("status")),
            ("/whoami", Some("whoami"), Some("whoami"), Some("whoami")),
            ("stop", Some("stop"), Some("stop"), Some("stop-own")),
            ("/RESET", Some("reset"), Some("reset"), Some("refused")),
            ("/usage", Some("usage"), Some("usage"), Some("refused")),
            (
                "/model a/b",
                Some("model"),
                Some("refused"),
                Some("refused"),
            ),
            ("/new and now?", None, None, None),
            ("hello", None, None, None),
        ] {
            assert_eq!(read(text, SenderRole::Owner), owner, "{text}");
            assert_eq!(read(text, SenderRole::Guest), guest, "{text}");
            assert_eq!(read(text, SenderRole::Visitor), visitor, "{text}");
            assert_eq!(read(text, SenderRole::Program), None, "{text}");
        }
    }
}
