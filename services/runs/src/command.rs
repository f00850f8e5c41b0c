//! Commands: messages that the gateway answers itself, beside the lanes, at every door.

mod about;
mod stop;

use std::sync::Arc;
use std::time::Instant;

use openclaw_commands::{Access, COMMANDS, Command, Id, Sender, SenderRole, catalogue, help};
use openclaw_conversations::Refusal;
use openclaw_conversations::storage::RESET_COMMAND;
use openclaw_daemon::failure;
use openclaw_proto::approval::Decision;

use crate::approval::{Approval, Refused};
use crate::bus::DomainEvent;
use crate::run::{MessageStatus, Run};
use crate::turn::Turns;
use openclaw_compaction::Made;

/// Messages that `/compact` leaves as they are.
const KEPT: u32 = 20;

/// The name of the answer to a command that its sender may not use.
const REFUSED: &str = "refused";

/// The answer to somebody who may not use a command, in OpenClaw's words.
const NOT_AUTHORIZED: &str = "You are not authorized to use this owner-only command.";

/// The same for a command that guests may use.
const NOT_A_GUEST: &str = "You are not authorized to use this command: it is for those whom the \
                           lists of this channel name.";

/// The reason for which a command failed; the sender is told.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{}", failure::chain(.0))]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Approval(#[from] Refused),
    #[error("{0}")]
    Words(&'static str),
    #[error("Session {session} was not compacted: {why}")]
    Compaction { session: String, why: String },
}

/// The name that a transcript has of a command, other than one that begins the conversation anew.
pub(crate) fn name(written: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().map(|command| command.name);
    let is_elsewhere = written == RESET_COMMAND;
    names
        .chain([REFUSED, stop::OWN])
        .find(|name| *name == written && !is_elsewhere)
}

/// A command that somebody gave.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    command: &'static Command,
    argument: String,
    sender: Sender,
}

impl Order {
    pub(crate) fn new(asked: openclaw_commands::Invocation<'_>, sender: Sender) -> Self {
        Self {
            command: asked.command,
            argument: asked.argument.to_owned(),
            sender,
        }
    }

    /// To begin the conversation anew.
    pub(crate) fn anew(sender: Sender) -> Option<Self> {
        let command = COMMANDS.iter().find(|command| command.id == Id::New)?;
        Some(Self {
            command,
            argument: String::new(),
            sender,
        })
    }

    /// Its name in the transcript.
    pub(crate) fn name(&self) -> &'static str {
        if !self.sender.may(self.command) {
            return REFUSED;
        }
        match self.command.id {
            // The next gateway knows of its sender what this says, and nothing else.
            Id::Approve if !self.sender.approves => REFUSED,
            Id::Stop if !self.sender.rules_the_conversation() => stop::OWN,
            _ => self.command.name,
        }
    }

    /// The answer to a sender who may not use it.
    fn refused(&self) -> &'static str {
        match self.command.access {
            Access::Owner => NOT_AUTHORIZED,
            Access::Guests | Access::Everybody => NOT_A_GUEST,
        }
    }
}

/// Carries commands out. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Commands {
    pub(crate) turns: Arc<Turns>,
    /// When the gateway was started.
    pub(crate) started: Instant,
}

impl Commands {
    /// Makes the message of `run` durable, does what it says and answers it.
    pub(crate) async fn answer(self, run: Arc<Run>, text: String, order: Order) {
        if let Some(accepted) = self.turns.accept_command(&run, text, order.name()).await {
            let started = Instant::now();
            let status = MessageStatus::Accepted(accepted);
            // What is asked for first takes effect first: the next message of
            // the same client comes when this one is settled.
            let is_slow = matches!(order.command.id, Id::Compact | Id::Approve);
            if is_slow {
                run.settle(status.clone());
            }
            let said = self.carry_out(&run, &order).await;
            if !is_slow {
                run.settle(status);
            }
            self.turns.answer_command(&run, said, started).await;
        }
        self.turns.runs.end(&run);
    }

    /// Goes on with the command `name` of a gateway that died before it was
    /// answered. What its sender may do was looked at when it was accepted.
    pub(crate) async fn go_on(self, run: Arc<Run>, text: String) {
        let started = Instant::now();
        let sender = match run.command() {
            Some(stop::OWN) => Sender::of(SenderRole::Visitor),
            _ => Sender::default(),
        };
        let order = openclaw_commands::read(&text).map(|asked| Order::new(asked, sender));
        let said = match order {
            Some(order) if run.command() == Some(order.name()) => {
                self.carry_out(&run, &order).await
            }
            _ => NOT_AUTHORIZED.to_owned(),
        };
        self.turns.answer_command(&run, said, started).await;
        self.turns.runs.end(&run);
    }

    /// Ends what runs and waits in the session of `run`, if its command says so:
    /// at once, whoever waits for that.
    pub(crate) fn halt(&self, run: &Run) {
        if let Some(whose) = run.command().and_then(stop::Whose::of) {
            stop::halt(&self.turns, run, whose);
        }
    }

    async fn carry_out(&self, run: &Run, order: &Order) -> String {
        if !order.sender.may(order.command) {
            return order.refused().to_owned();
        }
        let ask = Ask {
            turns: &self.turns,
            run,
            sender: &order.sender,
            started: self.started,
        };
        let said = ask.said(order.command.id, &order.argument).await;
        said.unwrap_or_else(|failure| format!("⚠️ {failure}"))
    }
}

/// A command that is carried out.
struct Ask<'a> {
    turns: &'a Turns,
    run: &'a Run,
    sender: &'a Sender,
    /// When the gateway was started.
    started: Instant,
}

impl Ask<'_> {
    async fn said(&self, id: Id, argument: &str) -> Result<String, Failure> {
        match id {
            Id::Help => Ok(help()),
            Id::Commands => Ok(catalogue()),
            Id::Status => about::status(self).await,
            Id::Whoami => Ok(about::whoami(self)),
            Id::Usage => about::usage(self, argument).await,
            Id::Models => about::models(self),
            Id::Agents => Ok(about::agents(self)),
            Id::Tools => Ok(about::tools(self).await),
            Id::Sessions => about::sessions(self).await,
            Id::Exec => Ok(about::exec(self).await),
            Id::Model => about::model(self, argument).await,
            Id::Think => about::think(self, argument).await,
            Id::Name => about::name(self, argument).await,
            Id::Verbose => about::shown_level(self, "verboseLevel", argument).await,
            Id::Reasoning => about::shown_level(self, "reasoningLevel", argument).await,
            Id::Queue => about::queue(self, argument).await,
            Id::Approve => self.approve(argument).await,
            Id::Compact => self.compact(argument).await,
            Id::Stop => {
                let whose = if self.sender.rules_the_conversation() {
                    stop::Whose::Everybodys
                } else {
                    stop::Whose::Senders
                };
                Ok(stop::stop(self.turns, self.run, whose).await)
            }
            // They begin a conversation, in its lane.
            Id::New | Id::Reset => Err(Failure::Words("that begins a message")),
        }
    }

    fn agent(&self) -> &str {
        self.run.key.agent().as_str()
    }

    /// The sender, on its channel.
    fn id(&self) -> &str {
        match self.sender.id.as_str() {
            "" => &self.run.channel,
            id => id,
        }
    }

    async fn compact(&self, instructions: &str) -> Result<String, Failure> {
        let key = &self.run.key;
        if !self.turns.lanes.runs(key).is_empty() {
            return Err(Refusal::Busy(key.clone()).into());
        }
        let made = self
            .turns
            .compactor
            .on_request(key, KEPT, &self.run.cancel)
            .await?;
        let said = match made {
            Made::Summarised => {
                self.turns.bus.publish(&DomainEvent::SessionChanged {
                    key,
                    reason: "compact",
                });
                "⚙️ Compaction finished"
            }
            Made::Fits => "⚙️ Compaction skipped: there is little to compact",
            Made::Cancelled => return Err(Failure::Words("the compaction was cancelled")),
            Made::Failed(why) => {
                let session = key.to_string();
                return Err(Failure::Compaction { session, why });
            }
        };
        Ok(if instructions.is_empty() {
            said.to_owned()
        } else {
            format!("{said} (instructions are not taken)")
        })
    }

    /// `/approve ID DECISION`
    async fn approve(&self, argument: &str) -> Result<String, Failure> {
        if !self.sender.approves {
            return Err(Failure::Words("missing scope: operator.approvals"));
        }
        let mut words = argument.split_whitespace();
        let (Some(id), Some(decision)) = (words.next(), words.next()) else {
            return Ok(waiting(&self.turns.approvals.pending.waiting()));
        };
        let decided = Decision::parse(decision).ok_or(Failure::Words(
            "invalid decision: allow-once, allow-always or deny",
        ))?;
        let approval = self.turns.approvals.decide(id, decided, self.id()).await?;
        Ok(format!("⚙️ Approval {} decided: {decision}.", approval.id))
    }
}

fn waiting(waiting: &[Approval]) -> String {
    let lines: Vec<String> = waiting.iter().map(approval_line).collect();
    if lines.is_empty() {
        "Nothing waits for an approval.".to_owned()
    } else {
        format!(
            "Waiting:\n{}\nUsage: /approve <id> allow-once|allow-always|deny",
            lines.join("\n")
        )
    }
}

fn approval_line(approval: &Approval) -> String {
    let command = approval.text("command");
    let place = approval.text("cwd");
    let (command, place) = (openclaw_escape::line(command), openclaw_escape::line(place));
    format!("{}  {command} (in {place})", approval.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gateway that goes on with a command knows its name and takes its sender for the owner.
    #[test]
    fn order_to_approve_of_who_may_not_is_gone_on_with_as_refused() {
        let name = |approves: bool| {
            let asked = openclaw_commands::read("/approve a-1 allow-once").unwrap();
            let sender = Sender {
                approves,
                ..Sender::default()
            };
            Order::new(asked, sender).name()
        };
        assert_eq!(name(true), "approve");
        assert_eq!(name(false), REFUSED);
    }
}
