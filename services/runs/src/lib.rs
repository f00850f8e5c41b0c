//! Runs: how a message becomes a turn and an answer, and whatever starts one by
//! itself. Tells what happened on one bus, and knows none of the doors.

pub mod approvals;
pub mod auth_profile;
mod bus;
pub mod compaction;
mod core;
mod counters;
#[cfg(fuzzing)]
pub mod fuzz;
mod heartbeat;
pub mod injected;
mod notable;
pub mod queue;
pub mod recovery;
mod reply_text;
mod run;
pub mod schedule;
pub mod stream;
mod submission;
pub mod system_event;
mod turn;

pub use self::core::{Core, TEXT_LIMIT};
pub use bus::{DomainEvent, JobAction, Subscriber};
pub use counters::Counter;
pub use reply_text::NO_REPLY;
pub use run::{MessageStatus, Run};
pub use submission::{Extra, Started, is_model};
