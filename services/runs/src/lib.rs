//! Runs: how a message becomes a turn and an answer, and whatever wakes an
//! agent. Tells what happened on one bus, and knows none of the doors.

pub mod approval;
mod approvals;
mod bus;
mod command;
mod core;
mod counters;
pub mod feed;
#[cfg(fuzzing)]
pub mod fuzz;
mod heartbeat;
pub mod held;
pub mod injected;
pub mod keys;
pub mod model;
pub mod outbox;
pub mod queue;
mod recovery;
pub mod reply_text;
mod run;
mod standby;
mod status_line;
pub mod stream;
mod submission;
mod system_event;
mod turn;
mod wake;

pub use self::core::Core;
pub use bus::{Bus, DomainEvent, JobAction, Subscriber};
pub use counters::Counter;
pub use openclaw_commands::{Sender, SenderRole};
pub use recovery::is_of_this_boot;
pub use run::{MessageStatus, Registry, Run, WEBCHAT};
pub use submission::{Started, Submitter, TEXT_LIMIT, is_model};
pub use turn::Extra;
pub use wake::{Waker, When, Woken};
