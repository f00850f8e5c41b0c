//! Tools that the agent asks this daemon for, because they reach outside the
//! sandbox: memory and status.

use std::sync::Arc;

use openclaw_mcp_servers::{CallError, Servers};
use openclaw_proto::call::RefusalCode;
use openclaw_proto::origin::Origin;
use openclaw_proto::schedule::{ToolAnswer, ToolCall};
use openclaw_proto::{memory, schedule};
use openclaw_turn::{
    APPROVAL, ApprovalQuestion, HostAnswer, HostTool, OFFER, Offer, OfferAnswer, OfferQuestion,
};
use serde::Deserialize;
use serde_json::Value;

use crate::approvals::{Approvals, Question};

mod recall;
mod searches;

pub(crate) use searches::Searches;

/// The longest a search may take before the agent is told to go on without.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// The host tool, by whichever of its names.
fn known(name: &str) -> Option<HostTool> {
    HostTool::from_name(openclaw_tools::catalog::find(name)?.name)
}

/// Answers the question which tools there are, which a tool server of our version
/// asks with `arguments`.
pub(crate) fn offered(arguments: &Value, offer: Offer) -> HostAnswer {
    let question = OfferQuestion::deserialize(arguments);
    let version = question.ok().and_then(|question| question.version);
    match openclaw_turn::check("openclaw-agent", version) {
        Ok(()) => {
            let answer = OfferAnswer::new(offer);
            HostAnswer::done(serde_json::to_string(&answer).unwrap_or_default())
        }
        Err(mismatch) => HostAnswer::failed("unavailable", mismatch.to_string()),
    }
}

fn failure(error: CallError) -> HostAnswer {
    match error {
        CallError::Tool(output) => {
            HostAnswer::failed("tool_error", output.text).with_images(output.images)
        }
        CallError::TooSlow(_) => HostAnswer::failed("timeout", error.to_string()),
        CallError::Gone(_) => HostAnswer::failed("unavailable", error.to_string()),
        CallError::Unknown | CallError::Arguments => {
            HostAnswer::failed("tool_error", error.to_string())
        }
    }
}

/// The host tools of one turn.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    pub(crate) memory: memory::Client,
    pub(crate) schedule: schedule::Client,
    pub(crate) origin: Origin,
    pub(crate) agent_id: String,
    /// The session whose turn it is,
    pub(crate) session_id: String,
    /// and when its message came, in Unix milliseconds.
    pub(crate) received_ms: i64,
    /// The answer to `status`.
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
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> HostAnswer {
        match tool {
            // It takes as long as somebody needs.
            APPROVAL => return self.approve(arguments).await,
            OFFER => {
                self.servers.settled().await;
                return offered(&arguments, self.offer());
            }
            tool if !self.offer.has(tool) && !self.servers.has(tool) => {
                if let Some(why) = self.servers.absence(tool) {
                    return HostAnswer::failed("unavailable", why);
                }
                let message = "the policy of this agent does not have it";
                return HostAnswer::failed("not_allowed", message);
            }
            _ => {}
        }
        tracing::debug!(openclaw_tool = tool, "the agent asked for a host tool");
        if self.servers.has(tool) {
            return self.serve(tool, arguments).await;
        }
        if let Some(tool @ (HostTool::Cron | HostTool::Remind)) = known(tool) {
            // It takes as long as somebody needs.
            return self.jobs(tool, &arguments).await;
        }
        let call = async {
            match known(tool) {
                Some(HostTool::MemorySearch) => self.search(arguments).await,
                Some(HostTool::MemoryGet) => self.get(arguments).await,
                Some(HostTool::MemoryWrite) => self.write(arguments).await,
                Some(HostTool::SessionStatus) => HostAnswer::done(self.status.clone()),
                Some(HostTool::Cron | HostTool::Remind) | None => {
                    HostAnswer::failed("not_found", format!("there is no host tool {tool:?}"))
                }
            }
        };
        tokio::time::timeout(DEADLINE, call)
            .await
            .unwrap_or_else(|_| {
                HostAnswer::failed(
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
    async fn serve(&self, tool: &str, arguments: Value) -> HostAnswer {
        let question = Question {
            call_id: "",
            tool,
            arguments: &arguments,
            only_reads: self.servers.only_reads(tool),
            reach: self.servers.reach(tool),
        };
        // Nobody is asked about what cannot be done.
        if let Err(error) = self.servers.would_answer(tool).await {
            return failure(error);
        }
        if let Err(why) = self.approvals.ask(question).await {
            return HostAnswer::failed("denied", why);
        }
        match self.servers.call(tool, arguments).await {
            Ok(output) => HostAnswer::done(output.text).with_images(output.images),
            Err(error) => failure(error),
        }
    }

    /// What an agent wants with its jobs, which the gateway keeps. It says whether
    /// somebody is to be asked first.
    async fn jobs(&self, tool: HostTool, arguments: &Value) -> HostAnswer {
        let mut is_approved = false;
        loop {
            let call = ToolCall {
                agent_id: &self.agent_id,
                session_key: &self.origin.session_key,
                tool: tool.name(),
                arguments,
                is_approved,
            };
            let answer = tokio::time::timeout(DEADLINE, self.schedule.call_tool(call)).await;
            let reason = match answer {
                Ok(Ok(ToolAnswer::Done(output))) => return HostAnswer::done(output),
                Ok(Ok(ToolAnswer::Ask(reason))) if !is_approved => reason,
                Ok(Ok(ToolAnswer::Ask(reason))) => return HostAnswer::failed("denied", reason),
                Ok(Err(error)) if error.is_refused(RefusalCode::InvalidArgument) => {
                    return HostAnswer::failed("validation", error.to_string());
                }
                Ok(Err(error)) => return HostAnswer::failed("unavailable", error.to_string()),
                Err(_) => {
                    let message = format!("the gateway did not answer within {DEADLINE:?}");
                    return HostAnswer::failed("timeout", message);
                }
            };
            let question = Question {
                call_id: "",
                tool: tool.name(),
                arguments,
                only_reads: false,
                reach: String::new(),
            };
            if let Err(why) = self.approvals.ask_because(question, reason).await {
                return HostAnswer::failed("denied", why);
            }
            is_approved = true;
        }
    }

    async fn approve(&self, arguments: Value) -> HostAnswer {
        let asked: ApprovalQuestion = match serde_json::from_value(arguments) {
            Ok(asked) => asked,
            Err(error) => return HostAnswer::failed("validation", error.to_string()),
        };
        let question = Question {
            call_id: &asked.call_id,
            tool: &asked.tool,
            arguments: &asked.arguments,
            only_reads: false,
            reach: String::new(),
        };
        match self.approvals.ask(question).await {
            Ok(()) => HostAnswer::done(String::new()),
            Err(why) => HostAnswer::failed("denied", why),
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_turn::VERSION;
    use serde_json::json;

    use super::*;

    #[test]
    fn offered_answers_a_tool_server_of_our_version_alone() {
        let offer = Offer {
            tools: vec!["edit".to_owned()],
            ..Offer::default()
        };
        let question = json!(OfferQuestion::default());
        let answer = offered(&question, offer.clone());
        let told: OfferAnswer =
            openclaw_turn::read("the agent-runner", answer.output.as_bytes()).unwrap();
        assert_eq!(told.offer, offer);
        for question in [json!({"version": VERSION + 1}), json!({}), Value::Null] {
            let answer = offered(&question, offer.clone());
            let why = answer.error.unwrap().message;
            assert!(!answer.ok && why.contains("from one build"), "{why}");
        }
    }

    #[test]
    fn known_host_tool_has_all_its_names() {
        assert_eq!(known("status"), Some(HostTool::SessionStatus));
        assert_eq!(known("memory_get"), Some(HostTool::MemoryGet));
        assert_eq!(known("read_file"), None);
    }
}
