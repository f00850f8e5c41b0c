//! Tools that the agent asks this daemon for, because they reach outside the
//! sandbox: memory and status.

use std::sync::Arc;

use openclaw_proto::memory;
use openclaw_proto::origin::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approvals::{Approvals, Question};
use crate::servers::{CallError, Image, Servers};
use crate::tools::Offer;

mod recall;
mod searches;

pub(crate) use searches::{Allowance, Searches};

/// Asks whether a call may run; no tool of a model's.
const APPROVAL: &str = "approval";
/// Tells which tools there are; no tool of a model's.
const OFFER: &str = "offer";

/// The call that is asked about.
#[derive(Deserialize)]
struct Asked {
    call_id: String,
    tool: String,
    #[serde(default)]
    arguments: Value,
}

/// The longest a search may take before the agent is told to go on without.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// What a host tool answered.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Answer {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Pictures that came with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<Image>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

#[derive(Debug, Clone, Serialize)]
struct Failure {
    #[serde(rename = "type")]
    kind: &'static str,
    message: String,
}

impl Answer {
    /// Which tools there are.
    pub(crate) fn of_offer(offer: &Offer) -> Self {
        Self::done(serde_json::to_string(offer).unwrap_or_default())
    }

    fn done(output: String) -> Self {
        Self {
            ok: true,
            output: Some(output),
            images: Vec::new(),
            error: None,
        }
    }

    fn of_error(error: CallError) -> Self {
        match error {
            CallError::Tool(output) => {
                Self::failed("tool_error", output.text).with_images(output.images)
            }
            CallError::TooSlow(_) => Self::failed("timeout", error.to_string()),
            CallError::Gone(_) => Self::failed("unavailable", error.to_string()),
            CallError::Unknown | CallError::Arguments => {
                Self::failed("tool_error", error.to_string())
            }
        }
    }

    fn with_images(self, images: Vec<Image>) -> Self {
        Self { images, ..self }
    }

    fn failed(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            ok: false,
            output: None,
            images: Vec::new(),
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
    /// Which tools there are beside those of servers.
    pub(crate) offer: Arc<Offer>,
    pub(crate) approvals: Arc<Approvals>,
    /// Searches of memory, counted.
    pub(crate) searches: Arc<Searches>,
    pub(crate) servers: Arc<Servers>,
}

impl Tools {
    /// Answers one call.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        match tool {
            // It takes as long as somebody needs.
            APPROVAL => return self.approve(arguments).await,
            OFFER => {
                self.servers.settled().await;
                return Answer::of_offer(&self.offer());
            }
            tool if !self.offer.has(tool) && !self.servers.has(tool) => {
                if let Some(why) = self.servers.absence(tool) {
                    return Answer::failed("unavailable", why);
                }
                let message = "the policy of this agent does not have it";
                return Answer::failed("not_allowed", message);
            }
            _ => {}
        }
        tracing::info!(openclaw_tool = tool, "the agent asked for a host tool");
        if self.servers.has(tool) {
            return self.serve(tool, arguments).await;
        }
        let call = async {
            match tool {
                "memory_search" => self.search(arguments).await,
                "memory_get" => self.get(arguments).await,
                "memory_write" => self.write(arguments).await,
                "session_status" | "status" => Answer::done(self.status.clone()),
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

    /// Which tools there are now, those of servers among them.
    pub(crate) fn offer(&self) -> Offer {
        self.servers.added_to(&self.offer)
    }

    /// A tool of a server, when that may run.
    async fn serve(&self, tool: &str, arguments: Value) -> Answer {
        let question = Question {
            call_id: "",
            tool,
            arguments: &arguments,
            only_reads: self.servers.only_reads(tool),
        };
        // Nobody is asked about what cannot be done.
        if let Err(error) = self.servers.would_answer(tool).await {
            return Answer::of_error(error);
        }
        if let Err(why) = self.approvals.ask(question).await {
            return Answer::failed("denied", why);
        }
        match self.servers.call(tool, arguments).await {
            Ok(output) => Answer::done(output.text).with_images(output.images),
            Err(error) => Answer::of_error(error),
        }
    }

    async fn approve(&self, arguments: Value) -> Answer {
        let asked: Asked = match serde_json::from_value(arguments) {
            Ok(asked) => asked,
            Err(error) => return Answer::failed("validation", error.to_string()),
        };
        let question = Question {
            call_id: &asked.call_id,
            tool: &asked.tool,
            arguments: &asked.arguments,
            only_reads: false,
        };
        match self.approvals.ask(question).await {
            Ok(()) => Answer::done(String::new()),
            Err(why) => Answer::failed("denied", why),
        }
    }
}
