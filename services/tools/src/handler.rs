//! What runs when a tool is called.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::FailureKind;

type Running = Pin<Box<dyn Future<Output = Result<String, HandlerError>> + Send>>;

/// A handler with its type erased.
pub(crate) type Handler = Arc<dyn Fn(Value) -> Running + Send + Sync>;

pub(crate) fn erase<H, F>(handler: H) -> Handler
where
    H: Fn(Value) -> F + Send + Sync + 'static,
    F: Future<Output = Result<String, HandlerError>> + Send + 'static,
{
    Arc::new(move |arguments| Box::pin(handler(arguments)))
}

/// A handler's failure; the registry adds the tool's name.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct HandlerError {
    /// See [`FailureKind`].
    pub kind: FailureKind,
    /// One sentence for the model and the user.
    pub message: String,
    /// What the tool had produced before it failed.
    pub output: String,
}

impl HandlerError {
    /// A failure without output.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            output: String::new(),
        }
    }

    /// Adds what had been produced so far.
    #[must_use]
    pub fn with_output(mut self, output: String) -> Self {
        self.output = output;
        self
    }
}
