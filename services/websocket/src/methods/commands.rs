//! Commands: messages that the gateway answers itself.

mod about;
mod list;

use crate::refused::refused;
use openclaw_proto::gateway::Message;
use openclaw_protocol::Failure;
use openclaw_protocol::scope::Scope;
use openclaw_sessions::SessionKey;
use serde_json::json;

use openclaw_conversations::Refusal;
use openclaw_runs::approvals::Approval;

use super::chat::injected;
use super::{Answer, Call};

pub(super) use list::list;

/// Answers `message` when it is a command that is known; others are for the
/// agent.
pub(super) async fn take(call: &Call, message: &Message) -> Result<Option<Answer>, Failure> {
    let Some((name, argument)) = parse(&message.text) else {
        return Ok(None);
    };
    let server = &call.server;
    let key = server
        .core
        .key(&message.session_key, &message.agent_id)
        .map_err(refused)?;
    let begins_anew = matches!(name, "new" | "reset");
    // With words behind it, or somebody at work, it is a message like others.
    if begins_anew && (!argument.is_empty() || !server.core.lanes.runs(&key).is_empty()) {
        return Ok(None);
    }
    if name == "approve" {
        call.client.need(Scope::Approvals)?;
    }
    let run_id = &message.idempotency_key;
    let status = |status: &str| json!({ "runId": run_id, "status": status });
    if !server.hub.is_new_command(run_id) {
        return Ok(Some(status("ok").into()));
    }
    call.answer(Ok(&status("started")));
    let text = match run(call, &key, name, argument).await {
        Ok(text) => text,
        Err(failure) => format!("⚠️ {failure}"),
    };
    let said = injected::said(&text, Some(run_id));
    injected::tell(server, &key, run_id, 1, said);
    Ok(Some(Answer::Given))
}

/// The command's own name and what comes after it; None when it is none.
fn parse(text: &str) -> Option<(&'static str, &str)> {
    let text = text.trim();
    let body = text.strip_prefix('/')?;
    let end = body
        .find(|c: char| c.is_whitespace() || c == ':')
        .unwrap_or(body.len());
    let (name, argument) = body.split_at(end);
    let name = list::find(&name.to_lowercase())?;
    Some((name, argument.trim_start_matches(':').trim()))
}

async fn run(call: &Call, key: &SessionKey, name: &str, argument: &str) -> Result<String, Failure> {
    match name {
        "help" => Ok(list::help()),
        "commands" => Ok(list::commands()),
        "status" => about::status(call, key).await,
        "whoami" => Ok(about::whoami(call)),
        "usage" => about::usage(call, key).await,
        "model" => about::model(call, key, argument).await,
        "think" => about::think(call, key, argument).await,
        "compact" => compact(call, key).await,
        "stop" => stop(call, key).await,
        "new" | "reset" => reset(call, key, name).await,
        "models" => about::models(call),
        "agents" => Ok(about::agents(call)),
        "tools" => Ok(super::tools::words(call, key)),
        "exec" => Ok(about::exec(call, key)),
        "name" => about::name(call, key, argument).await,
        "approve" => approve(call, argument).await,
        "verbose" => about::shown_level(call, key, "verboseLevel", argument).await,
        "reasoning" => about::shown_level(call, key, "reasoningLevel", argument).await,
        "queue" => about::queue(call, key, argument).await,
        // Only names of the list get here.
        other => Err(Failure::invalid(format!("/{other} is not known"))),
    }
}

async fn stop(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let ended = super::run::abort(&call.server, key, None).await?;
    Ok(match ended.len() {
        0 => "⚙️ There was nothing to stop.".to_owned(),
        1 => "⚙️ Agent was aborted.".to_owned(),
        runs => format!("⚙️ Agent was aborted ({runs} runs)."),
    })
}

async fn compact(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let compacted = super::sessions::compact::of_session(&call.server, key, None).await?;
    Ok(if compacted {
        "⚙️ Compaction finished".to_owned()
    } else {
        "⚙️ Compaction skipped: there is little to compact".to_owned()
    })
}

/// `/new` and `/reset`: the conversation begins anew. One in which somebody
/// works goes on to its end first, and the message waits for that.
async fn reset(call: &Call, key: &SessionKey, reason: &str) -> Result<String, Failure> {
    match call.server.core.sessions.reset(key, reason).await {
        Ok(_) => super::sessions::tell_changed(&call.server, key, reason).await,
        // Nothing was said yet.
        Err(Refusal::UnknownSession(_)) => {}
        Err(refusal) => return Err(refused(refusal)),
    }
    Ok("✅ New session started.".to_owned())
}

/// `/approve ID DECISION`
async fn approve(call: &Call, argument: &str) -> Result<String, Failure> {
    let mut words = argument.split_whitespace();
    let (Some(id), Some(decision)) = (words.next(), words.next()) else {
        let waiting = call.server.core.approvals.waiting();
        let lines: Vec<String> = waiting.iter().map(approval_line).collect();
        return Ok(if lines.is_empty() {
            "Nothing waits for an approval.".to_owned()
        } else {
            format!(
                "Waiting:\n{}\nUsage: /approve <id> allow-once|allow-always|deny",
                lines.join("\n")
            )
        });
    };
    let approval = super::approvals::decide(call, id, decision).await?;
    Ok(format!("⚙️ Approval {} decided: {decision}.", approval.id))
}

fn approval_line(approval: &Approval) -> String {
    let command = approval.text("command");
    let place = approval.text("cwd");
    let (command, place) = (openclaw_escape::line(command), openclaw_escape::line(place));
    format!("{}  {command} (in {place})", approval.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_commands_are_commands() {
        assert_eq!(parse("/status"), Some(("status", "")));
        assert_eq!(parse("  /Queue  collect "), Some(("queue", "collect")));
        assert_eq!(parse("/think: high"), Some(("think", "high")));
        assert_eq!(parse("/id"), Some(("whoami", "")));
        assert_eq!(parse("/usr/bin/env"), None);
        assert_eq!(parse("/"), None);
        assert_eq!(parse("status"), None);
    }
}
