//! The contract of one turn, between the turn's process of the agent-runner and
//! `openclaw-agent` in the sandbox. Both sides use these types and no others.
//!
//! Over the turn socket (HTTP/2) the agent asks for its turn ([`path::TURN`],
//! answered with a [`ToldTurn`]), for [`News`], for host tools
//! ([`path::TOOLS`], answered with a [`HostAnswer`]), and asks the model
//! ([`path::MODEL`]). What it does it tells as JSON lines on standard output, one
//! [`Event`] each. The tool server of another agent's CLI asks for host tools
//! through a pair of FIFOs instead, one [`HostCall`] and one [`HostLine`] a line.
//!
//! Each side says which [`VERSION`] of this contract it speaks with the first
//! thing it says, and refuses another one.

mod code;
mod event;
mod hint;
mod history;
mod host_answer;
mod host_tool;
mod news;
mod offer;
pub mod path;
mod request;
mod values;
mod version;

pub use code::{Code, Problem};
pub use event::{Event, StopReason, Usage, whole_count};
pub use hint::Hint;
pub use history::{HistoryCall, HistoryEntry, SignedThinking, Thought};
pub use host_answer::{ApprovalQuestion, HostAnswer, HostCall, HostFailure, HostLine, Image};
pub use host_tool::{APPROVAL, HostTool, OFFER};
pub use news::{News, RenewedTools, SteeringMessage};
pub use offer::{Offer, OfferAnswer, OfferQuestion};
pub use request::{Api, Mode, Passage, Target, ToldTurn, TurnRequest};
pub use values::{MOST_VALUES, begins_value, has_too_many_values};
pub use version::{Mismatch, ReadError, VERSION, check, read};
