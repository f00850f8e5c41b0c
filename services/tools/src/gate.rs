//! Asking before a tool runs, where it runs.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::handler::HandlerError;

type Answer = Pin<Box<dyn Future<Output = Result<(), HandlerError>> + Send>>;

type Asker = Arc<dyn Fn(String, String, Value) -> Answer + Send + Sync>;

/// Somebody who is asked before certain tools run.
#[derive(Clone)]
pub struct Gate {
    tools: BTreeSet<String>,
    asker: Asker,
}

impl Gate {
    /// Asks `asker` (call id, tool, arguments) before each of `tools` runs. An
    /// error is the call's outcome, and nothing ran.
    pub fn new<A, F>(tools: impl IntoIterator<Item = String>, asker: A) -> Self
    where
        A: Fn(String, String, Value) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        Self {
            tools: tools.into_iter().collect(),
            asker: Arc::new(move |id, tool, arguments| Box::pin(asker(id, tool, arguments))),
        }
    }

    pub(crate) async fn ask(
        &self,
        call_id: &str,
        tool: &str,
        arguments: &Value,
    ) -> Result<(), HandlerError> {
        if !self.tools.contains(tool) {
            return Ok(());
        }
        (self.asker)(call_id.to_owned(), tool.to_owned(), arguments.clone()).await
    }
}
