//! What whoever runs the double as a program has it do and tell, beside the Bot API.

use serde_json::{Value, json};

use crate::state::{Fault, Shared};

/// Answers a call of `path` with `content`; None: there is no such thing.
pub(crate) fn carry_out(shared: &Shared, path: &str, content: &[u8]) -> Option<Value> {
    let rest = path.strip_prefix("/_")?;
    let (what, name) = rest.split_once('/').unwrap_or((rest, ""));
    let mut state = shared.state();
    let answer = match what {
        "update" => {
            let update = serde_json::from_slice(content).ok()?;
            json!({"update_id": state.add(update)})
        }
        "sent" => {
            let sent = state.sent.iter();
            let sent = sent.map(|it| {
                json!({"chat": it.chat, "id": it.id, "text": it.text, "edits": it.edits,
                    "parameters": it.parameters, "is_deleted": it.is_deleted})
            });
            sent.collect()
        }
        "calls" => {
            let calls = state.calls.iter();
            let calls = calls.map(
                |it| json!({"method": it.method, "parameters": it.parameters, "code": it.code}),
            );
            calls.collect()
        }
        "commands" => state.commands.clone(),
        "webhook" => state.webhook.clone(),
        "file" => {
            state.files.insert(name.to_owned(), content.to_vec());
            json!({"file_id": name})
        }
        "revoke" => {
            state.is_revoked = name != "no";
            json!({"is_revoked": state.is_revoked})
        }
        "fault" => {
            state.faults.push_back((name.to_owned(), fault(content)?));
            json!({"method": name})
        }
        _ => return None,
    };
    drop(state);
    shared.changed.notify_waiters();
    Some(answer)
}

/// The refusal that `content` describes, `{"code", "description", "retry_after"}`.
fn fault(content: &[u8]) -> Option<Fault> {
    let asked: Value = serde_json::from_slice(content).ok()?;
    Some(Fault::Refuse {
        code: u16::try_from(asked["code"].as_u64()?).ok()?,
        description: asked["description"].as_str()?.to_owned(),
        retry_after: asked["retry_after"].as_u64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_does_and_tells_what_is_asked() {
        let shared = Shared::default();
        let ask = |path: &str, content: &str| carry_out(&shared, path, content.as_bytes());
        assert_eq!(ask("/_update", "{}"), Some(json!({"update_id": 0})));
        assert_eq!(ask("/_file/a", "content"), Some(json!({"file_id": "a"})));
        assert_eq!(shared.state().files["a"], b"content");
        let refused = r#"{"code": 429, "description": "later", "retry_after": 3}"#;
        assert!(ask("/_fault/sendMessage", refused).is_some());
        assert!(shared.state().fault("sendMessage").is_some());
        assert_eq!(ask("/_fault/sendMessage", "{}"), None);
        assert_eq!(ask("/_sent", ""), Some(json!([])));
        assert_eq!(
            (ask("/_nothing", ""), ask("/bot1:a/getMe", "")),
            (None, None)
        );
    }
}
