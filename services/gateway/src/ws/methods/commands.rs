//! Commands: messages that the gateway answers itself.

mod about;
mod list;

use openclaw_proto::gateway::Message;
use openclaw_protocol::Failure;
use openclaw_sessions::SessionKey;
use serde_json::json;

use super::chat::injected;
use super::{Answer, Call};
use crate::queue::Mode;

pub(super) use list::list;

/// Messages that `/compact` leaves as they are.
const KEPT: usize = 20;

/// Answers `message` when it is a command that is known; others are for the
/// agent.
pub(super) async fn take(call: &Call, message: &Message) -> Result<Option<Answer>, Failure> {
    let Some((name, argument)) = parse(&message.text) else {
        return Ok(None);
    };
    let gateway = &call.gateway;
    let key = gateway.key(&message.session_key, &message.agent_id)?;
    let run_id = &message.idempotency_key;
    let status = |status: &str| json!({ "runId": run_id, "status": status });
    if !gateway.hub.is_new_command(run_id) {
        return Ok(Some(status("ok").into()));
    }
    call.answer(Ok(&status("started")));
    let text = match run(call, &key, name, argument).await {
        Ok(text) => text,
        Err(failure) => format!("⚠️ {failure}"),
    };
    let said = injected::said(&text, Some(run_id));
    injected::tell(gateway, &key, run_id, 1, said);
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
        "queue" => Ok(queue(call, key, argument)),
        // Only names of the list get here.
        other => Err(Failure::invalid(format!("/{other} is not known"))),
    }
}

async fn stop(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let ended = super::run::abort(&call.gateway, key, None).await?;
    Ok(match ended.len() {
        0 => "⚙️ There was nothing to stop.".to_owned(),
        1 => "⚙️ Agent was aborted.".to_owned(),
        runs => format!("⚙️ Agent was aborted ({runs} runs)."),
    })
}

async fn compact(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let compacted = super::sessions::compact::of_session(&call.gateway, key, KEPT).await?;
    Ok(if compacted {
        "⚙️ Compaction finished".to_owned()
    } else {
        "⚙️ Compaction skipped: there is little to compact".to_owned()
    })
}

fn queue(call: &Call, key: &SessionKey, argument: &str) -> String {
    let hub = &call.gateway.hub;
    let mode = argument.split_whitespace().next().unwrap_or_default();
    let options = "Options: modes steer, followup, collect, interrupt.";
    match (mode, Mode::parse(mode)) {
        ("", _) => {
            let mode = hub.queue_mode(key).as_str();
            let cap = crate::queue::CAP;
            format!("Current queue settings: mode={mode}, debounce=500ms, cap={cap}.\n{options}")
        }
        ("default" | "reset", _) => {
            hub.set_queue_mode(key, Mode::default());
            "⚙️ Queue mode reset to default.".to_owned()
        }
        (_, Some(mode)) => {
            hub.set_queue_mode(key, mode);
            format!("⚙️ Queue mode set to {}.", mode.as_str())
        }
        (other, None) => format!("Unrecognized queue mode \"{other}\".\n{options}"),
    }
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
