//! The built-in tools.

mod background;
mod command;
mod edit;
mod failure;
mod lines;
mod list;
pub(crate) mod patch;
mod process;
mod read;
mod shell;
mod workspace;
mod write;

use std::future::{Ready, ready};

use serde_json::Value;

pub use workspace::Workspace;

use crate::alias::Renames;
use crate::call::FailureKind;
use crate::definition::ToolDefinition;
use crate::handler::HandlerError;
use crate::registry::{RegisterError, Registry};
use openclaw_policy::catalog;

/// A built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// `read_file {path, offset?, limit?}`, OpenClaw's `read`.
    ReadFile,
    /// `write_file {path, content, append?}`, OpenClaw's `write`.
    WriteFile,
    /// `edit {path, edits: [{oldText, newText}]}`: every old text must be in
    /// the file exactly once, and all are looked up before anything changes.
    Edit,
    /// `apply_patch {input}`: the format of Codex and OpenClaw, all or nothing.
    ApplyPatch,
    /// `list_directory {path?, limit?, after?}`, OpenClaw's `ls`.
    ListDirectory,
    /// `execute_shell {command, workdir?, env?, timeout_seconds?, background?,
    /// yield_ms?, pty?}`, OpenClaw's `exec`. The command is a line for the
    /// shell or a list of words.
    ///
    /// The output always has these three labels, in this order; the byte
    /// counts are those of the whole streams, of which the beginning and the
    /// end are kept (12 KiB each); a file has the rest and a note names it:
    ///
    /// ```text
    /// exit code: 1
    /// stdout (6 bytes):
    /// hello
    /// stderr (0 bytes):
    /// ```
    ///
    /// A command killed by a signal has `exit code: 137 (killed by signal 9,
    /// SIGKILL)`; one stopped at its time limit (120 s, at most 1800) fails with
    /// [`FailureKind::TIMEOUT`], `exit code: none (timed out)` and what it had
    /// said. A non-zero exit code is not a failure of the tool. Lines
    /// `note: …` may follow. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// With `background`, `yield_ms` or `pty` both streams come together as
    /// `output`, and what has not ended in time goes on for [`Self::Process`].
    ExecuteShell,
    /// `process {action, sessionId?, …}`: list, poll, log, write, kill, remove.
    Process,
}

impl Builtin {
    /// All of them, in the order models are told about them.
    pub const ALL: [Self; 7] = [
        Self::ReadFile,
        Self::WriteFile,
        Self::Edit,
        Self::ApplyPatch,
        Self::ListDirectory,
        Self::ExecuteShell,
        Self::Process,
    ];

    /// The name models call it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::WriteFile => "write_file",
            Self::Edit => "edit",
            Self::ApplyPatch => "apply_patch",
            Self::ListDirectory => "list_directory",
            Self::ExecuteShell => catalog::COMMANDS,
            Self::Process => "process",
        }
    }

    /// The built-in tool of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Which of its calls change what others look at, by their arguments.
    /// Commands may, too, but take long: who asks for several at a time wants
    /// them at a time.
    fn changes(self) -> fn(&Value) -> bool {
        match self {
            Self::WriteFile | Self::Edit | Self::ApplyPatch => |_| true,
            Self::ReadFile | Self::ListDirectory | Self::ExecuteShell => |_| false,
            Self::Process => process::changes,
        }
    }

    /// What models are told about it.
    #[must_use]
    pub fn definition(self) -> ToolDefinition {
        let (description, parameters) = match self {
            Self::ReadFile => (read::DESCRIPTION, read::parameters()),
            Self::WriteFile => (write::DESCRIPTION, write::parameters()),
            Self::Edit => (edit::DESCRIPTION, edit::parameters()),
            Self::ApplyPatch => (patch::DESCRIPTION, patch::parameters()),
            Self::ListDirectory => (list::DESCRIPTION, list::parameters()),
            Self::ExecuteShell => (shell::DESCRIPTION, shell::parameters()),
            Self::Process => (process::DESCRIPTION, process::parameters()),
        };
        ToolDefinition::new(self.name(), description, parameters)
    }

    /// Adds it to `registry` under all its names, with relative paths taken
    /// from `workspace`.
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
            Self::Edit => registry.register(definition, in_place(workspace, edit::run)),
            Self::ApplyPatch => registry.register(definition, in_place(workspace, patch::run)),
            Self::ListDirectory => registry.register(definition, in_place(workspace, list::run)),
            Self::ExecuteShell => {
                registry.register_with_context(definition, move |context, arguments| {
                    let workspace = workspace.clone();
                    async move { shell::run(&workspace, context, parse(arguments)?).await }
                })
            }
            Self::Process => registry.register(definition, move |arguments| {
                let workspace = workspace.clone();
                async move { process::run(&workspace, parse(arguments)?).await }
            }),
        }?;
        registry.run_alone_when(self.name(), self.changes());
        self.add_aliases(registry);
        Ok(())
    }

    fn add_aliases(self, registry: &mut Registry) {
        let name = self.name();
        let aliases = catalog::find(name).map_or(&[][..], |known| known.aliases);
        for alias in aliases {
            registry.alias(alias, name, self.renames());
        }
        if self == Self::Process {
            // It has one name everywhere; only its arguments have others.
            registry.alias(name, name, process::RENAMES);
        }
    }

    /// Other names of the arguments of a tool that is called by another name.
    fn renames(self) -> Renames {
        match self {
            Self::ExecuteShell => shell::RENAMES,
            Self::ReadFile | Self::WriteFile | Self::Edit | Self::ListDirectory => {
                &[("file_path", "path")]
            }
            Self::ApplyPatch | Self::Process => &[],
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
