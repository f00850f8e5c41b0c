//! Tools that the agent asks this daemon for, because they reach outside the
//! sandbox: memory and status.

use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest a search may take before the agent is told to go on without.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// What a host tool answered.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

#[derive(Debug, Serialize)]
struct Failure {
    #[serde(rename = "type")]
    kind: &'static str,
    message: String,
}

impl Answer {
    fn done(output: String) -> Self {
        Self {
            ok: true,
            output: Some(output),
            error: None,
        }
    }

    fn failed(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            ok: false,
            output: None,
            error: Some(Failure {
                kind,
                message: message.into(),
            }),
        }
    }
}

/// The host tools of one turn.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    pub(crate) memory: memory::Client,
    pub(crate) origin: Origin,
    pub(crate) agent_id: String,
    /// What `status` says.
    pub(crate) status: String,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    #[serde(default)]
    limit: u32,
}

#[derive(Deserialize)]
struct Remember {
    text: String,
}

impl Tools {
    /// Answers one call.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        tracing::info!(openclaw_tool = tool, "the agent asked for a host tool");
        let call = async {
            match tool {
                "memory_search" => self.search(arguments).await,
                "memory_remember" => self.remember(arguments).await,
                "status" => Answer::done(self.status.clone()),
                other => Answer::failed("not_found", format!("there is no host tool {other:?}")),
            }
        };
        tokio::time::timeout(DEADLINE, call)
            .await
            .unwrap_or_else(|_| {
                Answer::failed(
                    "timeout",
                    format!("memory did not answer within {DEADLINE:?}"),
                )
            })
    }

    async fn search(&self, arguments: Value) -> Answer {
        let search: Search = match serde_json::from_value(arguments) {
            Ok(search) => search,
            Err(error) => return Answer::failed("validation", error.to_string()),
        };
        let found = self
            .memory
            .search(&self.origin, &self.agent_id, &search.query, search.limit)
            .await;
        match found {
            Ok(hits) if hits.is_empty() => Answer::done("nothing was found".to_owned()),
            Ok(hits) => Answer::done(
                hits.iter()
                    .map(|hit| {
                        let place = format!("{}:{}-{}", hit.path, hit.start_line, hit.end_line);
                        format!(
                            "{place} (score {:.2})\n{}\n",
                            hit.score,
                            hit.snippet.trim_end()
                        )
                    })
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
            Err(status) => Answer::failed("unavailable", status.message()),
        }
    }

    async fn remember(&self, arguments: Value) -> Answer {
        let remember: Remember = match serde_json::from_value(arguments) {
            Ok(remember) => remember,
            Err(error) => return Answer::failed("validation", error.to_string()),
        };
        let written = self
            .memory
            .remember(&self.origin, &self.agent_id, &remember.text)
            .await;
        match written {
            Ok(at) => Answer::done(format!("{}:{}", at.path, at.line)),
            Err(status) => Answer::failed("unavailable", status.message()),
        }
    }
}
