//! The tools as a turn calls them, with real files, shells and processes.

#![cfg(test)]

mod approval;
mod arguments;
mod background;
mod changes;
mod commands;
mod files;
mod limits;
mod output;
mod properties;
mod registry;
mod shape;
mod shell;
mod starting;

use std::path::Path;
use std::time::Duration;

use openclaw_tools::{Builtin, Registry, ToolCall, ToolResult, Workspace};
use serde_json::Value;
use tokio::time::timeout;

/// What a command may take to say what it is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// All built-in tools in a folder.
struct Tools(Registry);

impl Tools {
    fn of(folder: &Path) -> Self {
        let mut registry = Registry::new();
        let workspace = Workspace::new(folder);
        for tool in Builtin::ALL {
            tool.register(&mut registry, &workspace).unwrap();
        }
        Self(registry)
    }

    async fn run(&self, name: &str, arguments: Value) -> ToolResult {
        let call = ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments,
        };
        self.0.execute(call).await
    }

    async fn ok(&self, name: &str, arguments: Value) -> String {
        let result = self.run(name, arguments).await;
        assert!(result.success, "{result:?}");
        result.output
    }

    /// Calls `process` until it has said `part`; all that it said.
    async fn until(&self, arguments: Value, part: &str) -> String {
        let mut said = String::new();
        let waiting = async {
            while !said.contains(part) {
                said.push_str(&self.ok("process", arguments.clone()).await);
            }
        };
        let in_time = timeout(PATIENCE, waiting).await.is_ok();
        assert!(in_time, "{part:?} was not said: {said}");
        said
    }

    /// The kind and the message of a failure.
    async fn failed(&self, name: &str, arguments: Value) -> (String, String) {
        let error = self.run(name, arguments).await.error.unwrap();
        (error.kind.as_str().to_owned(), error.message)
    }
}
