//! The registry: names, schemas and handlers, and the one way to run them.

use std::future::Future;
use std::sync::OnceLock;

use serde_json::{Map, Value};
use tokio_util::task::AbortOnDropHandle;

use crate::handler::{self, Handler};
use crate::text;
use crate::validation::Arguments;
use crate::{FailureKind, HandlerError, ToolCall, ToolDefinition, ToolFailure, ToolResult};

/// Longest output of one call. Built-in tools stay below it by their own
/// limits; it keeps any other tool from flooding the model's context.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;

/// Longest tool name, the limit of both model APIs.
const MAX_NAME_BYTES: usize = 64;

/// The tools of one turn, in the order of registration.
#[derive(Default)]
pub struct Registry {
    tools: Vec<Tool>,
}

struct Tool {
    definition: ToolDefinition,
    handler: Handler,
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
        self.check(&definition)?;
        self.tools.push(Tool {
            definition,
            handler: handler::erase(handler),
            arguments: OnceLock::new(),
        });
        Ok(())
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
        let outcome = match self.find(&name) {
            Ok(tool) => tool.run(arguments).await,
            Err(error) => Err(error),
        };
        conclude(id, name, outcome)
    }

    fn check(&self, definition: &ToolDefinition) -> Result<(), RegisterError> {
        let name = definition.name.clone();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(allowed) {
            return Err(RegisterError::Name { name });
        }
        if self.list().any(|known| known.name == name) {
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
            let known: Vec<&str> = self.list().map(|tool| tool.name.as_str()).collect();
            HandlerError::new(
                FailureKind::UNKNOWN_TOOL,
                format!("there is no such tool; known tools: {}", known.join(", ")),
            )
        })
    }
}

impl Tool {
    async fn run(&self, arguments: Value) -> Result<String, HandlerError> {
        let arguments = match arguments {
            Value::Null => Value::Object(Map::new()),
            other => other,
        };
        self.arguments()?.check(&arguments)?;
        let handler = self.handler.clone();
        // A task of its own, so that a panic comes back as a JoinError.
        let task = tokio::spawn(async move { handler(arguments).await });
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
