//! Tools that the agent asks this daemon for, because they reach outside the
//! sandbox: memory and status.

use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use serde::Serialize;
use serde_json::Value;

mod recall;

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
    /// The session whose turn it is,
    pub(crate) session_id: String,
    /// and when its message came, in Unix milliseconds.
    pub(crate) received_ms: i64,
    /// What `status` says.
    pub(crate) status: String,
}

impl Tools {
    /// Answers one call.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        tracing::info!(openclaw_tool = tool, "the agent asked for a host tool");
        let call = async {
            match tool {
                "memory_search" => self.search(arguments).await,
                "memory_get" => self.get(arguments).await,
                "memory_write" => self.write(arguments).await,
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
}
