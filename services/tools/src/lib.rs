//! The tool system: a registry of named tools, argument validation against
//! their JSON schemas, the built-in tools, and the policies about them.
//!
//! A tool never runs with arguments its schema does not admit, and every
//! failure names the tool, a type and a message (properties 15 to 18 of the
//! MVP design). Containment is not decided here: the process that runs the
//! tools is confined by the sandbox, and paths are not checked as strings.

mod alias;
pub mod approval;
mod builtin;
mod call;
mod definition;
mod gate;
mod handler;
mod patch;
mod registry;
mod repeats;
mod report;
mod text;
mod validation;

pub use builtin::{Builtin, Workspace};
pub use call::{FailureKind, ToolCall, ToolFailure, ToolResult};
pub use definition::ToolDefinition;
pub use gate::Gate;
pub use handler::{Context, HandlerError};
pub use openclaw_policy::{Denial, Layer, Policy, catalog};
pub use registry::{RegisterError, Registry};
pub use repeats::Repeats;
pub use report::Printed;
