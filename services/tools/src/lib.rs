//! The tool system: a registry of named tools, argument validation against
//! their JSON schemas, and the four built-in tools.
//!
//! A tool never runs with arguments its schema does not admit, and every
//! failure names the tool, a type and a message (properties 15 to 18 of the
//! MVP design). Containment is not decided here: the process that runs the
//! tools is confined by the sandbox, and paths are not checked as strings.

mod builtin;
mod call;
mod definition;
mod handler;
mod registry;
mod text;
mod validation;

pub use builtin::{Builtin, Workspace};
pub use call::{FailureKind, ToolCall, ToolFailure, ToolResult};
pub use definition::ToolDefinition;
pub use handler::HandlerError;
pub use registry::{RegisterError, Registry};
