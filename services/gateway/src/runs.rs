//! Runs: how a message becomes a turn and an answer, and whatever starts one by
//! itself. Tells what happened on one bus, and knows none of the doors.

pub(crate) mod approvals;
pub(crate) mod auth_profile;
pub(crate) mod bus;
pub(crate) mod compaction;
pub(crate) mod core;
pub(crate) mod counters;
pub(crate) mod heartbeat;
pub(crate) mod injected;
mod notable;
pub(crate) mod queue;
pub(crate) mod recovery;
pub(crate) mod reply_text;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod stream;
pub(crate) mod submission;
pub(crate) mod system_event;
mod turn;
