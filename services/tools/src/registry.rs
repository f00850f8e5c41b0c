//! The registry: names, schemas and handlers, and the one way to run them.

use std::future::Future;
use std::sync::OnceLock;

use serde_json::{Map, Value};
use tokio_util::task::AbortOnDropHandle;

use crate::alias::{Alias, Renames};
use crate::call::{FailureKind, ToolCall, ToolFailure, ToolResult};
use crate::definition::ToolDefinition;
use crate::gate::Gate;
use crate::handler::{self, Handler, Listener};
use crate::handler::{Context, HandlerError};
use crate::text;
use crate::validation::Arguments;
use openclaw_policy::Denial;

/// Longest output of one call. Built-in tools stay below it by their own
/// limits; it keeps any other tool from flooding the model's context.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;

/// Longest tool name, the limit of both model APIs.
const MAX_NAME_BYTES: usize = 64;

/// The tools of one turn, in the order of registration.
#[derive(Default)]
pub struct Registry {
    tools: Vec<Tool>,
    aliases: Vec<Alias>,
    denied: Vec<Denial>,
    alone: Vec<String>,
    gate: Option<Gate>,
    listener: Option<Listener>,
}

struct Tool {
    definition: ToolDefinition,
    handler: Handler,
    /// Which calls change what others look at, see [`Registry::runs_alone`].
    changes: fn(&Value) -> bool,
    /// Compiled at the first call: compiling costs more than everything else
    /// a short turn does, and most turns call one tool or none.
    arguments: OnceLock<Result<Arguments, String>>,
}

/// Why a tool was not registered.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name would be refused by the model APIs.
    #[error("cannot register tool {name:?}: a name is 1 to 64 characters of A-Z a-z 0-9 _ -")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The name is taken.
    #[error("cannot register tool {name}: there is one of that name already")]
    Duplicate {
        /// The name as given.
        name: String,
    },
    /// The parameters are not a schema object.
    #[error("cannot register tool {name}: its parameters are not a JSON object")]
    Parameters {
        /// The name as given.
        name: String,
    },
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. The schema is compiled at the first call; a broken one
    /// makes every call fail with [`FailureKind::INVALID_SCHEMA`].
    ///
    /// # Errors
    /// On a name that is taken or malformed, or parameters that are no object.
    pub fn register<H, F>(
        &mut self,
        definition: ToolDefinition,
        handler: H,
    ) -> Result<(), RegisterError>
    where
        H: Fn(Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<String, HandlerError>> + Send + 'static,
    {
        self.register_with_context(definition, move |_, arguments| handler(arguments))
    }

    /// As [`Registry::register`], for a handler that wants to know its call.
    ///
    /// # Errors
    /// As there.
    pub fn register_with_context<H, F>(
        &mut self,
        definition: ToolDefinition,
        handler: H,
    ) -> Result<(), RegisterError>
    where
        H: Fn(Context, Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<String, HandlerError>> + Send + 'static,
    {
        self.check(&definition)?;
        self.tools.push(Tool {
            definition,
            handler: handler::erase(handler),
            changes: |_| false,
            arguments: OnceLock::new(),
        });
        Ok(())
    }

    /// Lets the tool `name` be called `alias` too, unless that is a tool of its
    /// own; with its own name as alias, its arguments have other names. Models are not told of it. Arguments are renamed first.
    pub fn alias(&mut self, alias: &str, name: &str, renames: Renames) {
        self.aliases.push(Alias::new(alias, name, renames));
    }

    /// Notes why a tool is not there, for a model that calls it all the same.
    pub fn deny(&mut self, denial: Denial) {
        self.denied.push(denial);
    }

    /// Takes note that calls of the tool `name` change what others look at, see
    /// [`Registry::runs_alone`]. Of built-in tools that is known.
    pub fn run_alone(&mut self, name: impl Into<String>) {
        self.alone.push(name.into());
    }

    /// The same of those calls of the tool `name` whose arguments `changes` picks.
    pub(crate) fn run_alone_when(&mut self, name: &str, changes: fn(&Value) -> bool) {
        let tools = self.tools.iter_mut();
        tools
            .filter(|tool| tool.definition.name == name)
            .for_each(|tool| tool.changes = changes);
    }

    /// Asks `gate` before every call of the tools it wants to be asked about,
    /// when the arguments have been checked. What it refuses does not run.
    pub fn guard(&mut self, gate: Gate) {
        self.gate = Some(gate);
    }

    /// Tells `listener` what tools say while they run: the call's id and a
    /// piece of text.
    pub fn listen(&mut self, listener: impl Fn(&str, &str) + Send + Sync + 'static) {
        self.listener = Some(std::sync::Arc::new(listener));
    }

    /// All definitions, in the order of registration.
    pub fn list(&self) -> impl ExactSizeIterator<Item = &ToolDefinition> {
        self.tools.iter().map(|tool| &tool.definition)
    }

    /// Checks the arguments and runs the tool. Never fails as a whole: an
    /// unknown tool, bad arguments, a tool's error and a tool's panic all come
    /// back as a result with an error. (In a program built with `panic=abort`
    /// a panic ends the process all the same.) Dropping the future ends the tool.
    ///
    /// File tools block the thread while they work.
    pub async fn execute(&self, call: ToolCall) -> ToolResult {
        let ToolCall {
            id,
            name,
            arguments,
        } = call;
        let outcome = match self.resolve(&name, arguments) {
            Ok((tool, arguments)) => self.run(tool, &id, arguments).await,
            Err(error) => Err(error),
        };
        conclude(id, name, outcome)
    }

    /// Whether calls beside it may change what this one comes to, or it what
    /// they come to: it runs when those before it are over, and those after it
    /// when it is.
    #[must_use]
    pub fn runs_alone(&self, call: &ToolCall) -> bool {
        let resolved = self.resolve(&call.name, call.arguments.clone());
        resolved.is_ok_and(|(tool, arguments)| {
            (tool.changes)(&arguments) || self.is_alone(&tool.definition.name)
        })
    }

    /// Whether [`Registry::run_alone`] was said of the tool `name`.
    #[must_use]
    pub fn is_alone(&self, name: &str) -> bool {
        self.alone.iter().any(|alone| alone == name)
    }

    /// Checks, asks, runs.
    async fn run(
        &self,
        tool: &Tool,
        call_id: &str,
        arguments: Value,
    ) -> Result<String, HandlerError> {
        tool.arguments()?.check(&arguments)?;
        if let Some(gate) = &self.gate {
            gate.ask(call_id, &tool.definition.name, &arguments).await?;
        }
        let context = Context::new(call_id.to_owned(), self.listener.clone());
        tool.run(context, arguments).await
    }

    /// The tool of that name or alias, and the arguments with its own names.
    fn resolve(&self, name: &str, arguments: Value) -> Result<(&Tool, Value), HandlerError> {
        let arguments = match arguments {
            Value::Null => Value::Object(Map::new()),
            other => other,
        };
        let own = |alias: &&Alias| alias.name() == name || !self.has(name);
        let mut aliases = self.aliases.iter().filter(|alias| alias.is(name));
        match aliases.find(own) {
            Some(alias) => Ok((self.find(alias.name())?, alias.rename(arguments))),
            None => Ok((self.find(name)?, arguments)),
        }
    }

    fn check(&self, definition: &ToolDefinition) -> Result<(), RegisterError> {
        let name = definition.name.clone();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(allowed) {
            return Err(RegisterError::Name { name });
        }
        if self.has(&name) {
            return Err(RegisterError::Duplicate { name });
        }
        if !definition.parameters.is_object() {
            return Err(RegisterError::Parameters { name });
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Result<&Tool, HandlerError> {
        let found = self.tools.iter().find(|tool| tool.definition.name == name);
        found.ok_or_else(|| {
            if let Some(denial) = self.denial(name) {
                let message = format!("it is not allowed here: {}", denial.reason);
                return HandlerError::new(FailureKind::NOT_ALLOWED, message);
            }
            let known: Vec<&str> = self.list().map(|tool| tool.name.as_str()).collect();
            HandlerError::new(
                FailureKind::UNKNOWN_TOOL,
                format!("there is no such tool; known tools: {}", known.join(", ")),
            )
        })
    }

    fn has(&self, name: &str) -> bool {
        self.list().any(|known| known.name == name)
    }

    fn denial(&self, name: &str) -> Option<&Denial> {
        let name = openclaw_policy::catalog::find(name).map_or(name, |known| known.name);
        self.denied.iter().find(|denial| denial.tool == name)
    }
}

impl Tool {
    async fn run(&self, context: Context, arguments: Value) -> Result<String, HandlerError> {
        let handler = self.handler.clone();
        // A task of its own, so that a panic comes back as a JoinError.
        let task = tokio::spawn(async move { handler(context, arguments).await });
        match AbortOnDropHandle::new(task).await {
            Ok(outcome) => outcome,
            Err(error) => Err(HandlerError::new(
                FailureKind::CRASHED,
                format!("the tool stopped unexpectedly: {error}"),
            )),
        }
    }

    fn arguments(&self) -> Result<&Arguments, HandlerError> {
        self.arguments
            .get_or_init(|| Arguments::compile(&self.definition.parameters))
            .as_ref()
            .map_err(|error| HandlerError::new(FailureKind::INVALID_SCHEMA, error.as_str()))
    }
}

fn conclude(id: String, name: String, outcome: Result<String, HandlerError>) -> ToolResult {
    let (output, error) = match outcome {
        Ok(output) => (output, None),
        Err(error) => {
            let failure = ToolFailure {
                tool: name,
                kind: error.kind,
                message: error.message,
            };
            (error.output, Some(failure))
        }
    };
    ToolResult {
        call_id: id,
        success: error.is_none(),
        output: text::cap(output, MAX_OUTPUT_BYTES),
        error,
    }
}
