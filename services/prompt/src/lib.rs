//! What a model is told before a conversation: instructions ([`system`]) and the
//! definitions of tools. The agent-runner writes it; the gateway counts it, so that
//! what is left of the model's window is the conversation's ([`Fixed`]).

mod cramped;
mod fixed;
mod policy;
mod system;

pub use cramped::{LEAST_CONVERSATION, cramped};
pub use fixed::Fixed;
pub use policy::policy;
pub use system::{Told, system, whole};
