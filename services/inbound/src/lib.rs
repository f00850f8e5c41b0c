//! What comes in on channels: who may talk, what they may, and which agent
//! answers. Nothing here reads or writes: settings and facts go in, a verdict
//! comes out.

mod approvers;
mod binding;
mod code;
mod decision;
mod facts;
mod peer;
mod rules;
mod words;

pub use approvers::{Asked, asked};
pub use binding::agent_of;
pub use code::{CODE_LENGTH, code, is_code};
pub use decision::{buttons, decision_of};
pub use facts::Facts;
pub use peer::{is_listed, names};
pub use rules::{Known, Verdict, judge};
pub use words::said;
