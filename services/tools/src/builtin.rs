//! The four built-in tools.

mod failure;
mod lines;
mod list;
mod read;
mod shell;
mod workspace;
mod write;

use std::future::{Ready, ready};

use serde_json::Value;

pub use workspace::Workspace;

use crate::{FailureKind, HandlerError, RegisterError, Registry, ToolDefinition};

/// A built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// `read_file {path, offset?, limit?}`
    ReadFile,
    /// `write_file {path, content, append?}`
    WriteFile,
    /// `list_directory {path?}`
    ListDirectory,
    /// `execute_shell {command, timeout_seconds?, workdir?}`
    ///
    /// The output always has these three labels, in this order; the byte
    /// counts are those of the whole streams, of which the beginning and the
    /// end are kept (12 KiB each):
    ///
    /// ```text
    /// exit code: 1
    /// stdout (6 bytes):
    /// hello
    /// stderr (0 bytes):
    /// ```
    ///
    /// A command killed by a signal has `exit code: 137 (killed by signal 9,
    /// SIGKILL)`; one stopped at its time limit (120 s, at most 600) fails with
    /// [`FailureKind::TIMEOUT`], `exit code: none (timed out)` and what it had
    /// said. A non-zero exit code is not a failure of the tool. A line
    /// `note: …` may follow. Bytes that are not UTF-8 become U+FFFD.
    ExecuteShell,
}

impl Builtin {
    /// All of them, in the order models are told about them.
    pub const ALL: [Self; 4] = [
        Self::ReadFile,
        Self::WriteFile,
        Self::ListDirectory,
        Self::ExecuteShell,
    ];

    /// The name models call it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::WriteFile => "write_file",
            Self::ListDirectory => "list_directory",
            Self::ExecuteShell => "execute_shell",
        }
    }

    /// The built-in tool of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What models are told about it.
    #[must_use]
    pub fn definition(self) -> ToolDefinition {
        let (description, parameters) = match self {
            Self::ReadFile => (read::DESCRIPTION, read::parameters()),
            Self::WriteFile => (write::DESCRIPTION, write::parameters()),
            Self::ListDirectory => (list::DESCRIPTION, list::parameters()),
            Self::ExecuteShell => (shell::DESCRIPTION, shell::parameters()),
        };
        ToolDefinition::new(self.name(), description, parameters)
    }

    /// Adds it to `registry`, with relative paths taken from `workspace`.
    ///
    /// # Errors
    /// When its name is taken.
    pub fn register(
        self,
        registry: &mut Registry,
        workspace: &Workspace,
    ) -> Result<(), RegisterError> {
        let workspace = workspace.clone();
        let definition = self.definition();
        match self {
            Self::ReadFile => registry.register(definition, in_place(workspace, read::run)),
            Self::WriteFile => registry.register(definition, in_place(workspace, write::run)),
            Self::ListDirectory => registry.register(definition, in_place(workspace, list::run)),
            Self::ExecuteShell => registry.register(definition, move |arguments| {
                let workspace = workspace.clone();
                async move { shell::run(&workspace, parse(arguments)?).await }
            }),
        }
    }
}

/// A handler that does its file work in place. The process has one thread and
/// works for one turn, so nobody waits behind it; a pool's thread costs more
/// than the work, and cannot be had at all once a command has used up the
/// turn's process limit.
fn in_place<A>(
    workspace: Workspace,
    work: fn(&Workspace, A) -> Result<String, HandlerError>,
) -> impl Fn(Value) -> Ready<Result<String, HandlerError>> + Send + Sync + 'static
where
    A: serde::de::DeserializeOwned + 'static,
{
    move |arguments| ready(parse(arguments).and_then(|arguments| work(&workspace, arguments)))
}

/// The schema has been checked; what is left are numbers no machine type holds.
fn parse<A: serde::de::DeserializeOwned>(arguments: Value) -> Result<A, HandlerError> {
    serde_json::from_value(arguments)
        .map_err(|error| HandlerError::new(FailureKind::INVALID_ARGUMENTS, error.to_string()))
}
