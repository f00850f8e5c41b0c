//! The slash commands: which there are, when a message is one, and who may use
//! it. What they do is the business of whoever has the sessions.

mod list;
mod reading;
mod sender;

pub use list::{Access, COMMANDS, Command, Id, catalogue, help};
pub use reading::{Invocation, is_of_memory, read};
pub use sender::{Sender, SenderRole};
