//! A place where something is told, as its fields say it.

use serde_json::{Map, Value};

use crate::invalid::Invalid;

/// What a place may say.
const FIELDS: [&str; 5] = ["mode", "channel", "to", "accountId", "threadId"];

/// Why a URL is not told anything.
const NO_URL: &str = "must be an http or https URL without a user or a password \
     (cron.webhookToken is what a receiver knows us by)";

/// Whether all that `said` says of a place can be obeyed, `others` aside; `path` is
/// the field that says it.
pub(crate) fn checked(
    path: &str,
    said: &Map<String, Value>,
    others: &[&str],
) -> Result<(), Invalid> {
    let is_known = |name: &&String| FIELDS.contains(&name.as_str());
    let is_other = |name: &&String| others.contains(&name.as_str());
    if let Some(name) = said.keys().find(|name| !is_known(name) && !is_other(name)) {
        let problem = format!("at /{path}: unexpected property '{name}'");
        return Err(Invalid::Shape(problem));
    }
    for name in ["mode", "channel", "to", "accountId"] {
        if said.get(name).is_some_and(|value| !value.is_string()) {
            return Err(Invalid::field(format!("{path}/{name}"), "must be a text"));
        }
    }
    thread(path, said.get("threadId"))?;
    let word = |name: &str| said.get(name).and_then(Value::as_str);
    match word("mode") {
        None | Some("announce") => Ok(()),
        Some("webhook") => webhook(path, word("to")),
        Some(_) => {
            let problem = "must be announce or webhook";
            Err(Invalid::field(format!("{path}/mode"), problem))
        }
    }
}

/// Whether a thread can be meant.
pub(crate) fn thread(path: &str, id: Option<&Value>) -> Result<(), Invalid> {
    if id.is_some_and(|id| !id.is_string() && !id.is_i64()) {
        let problem = "must be a text or a whole number";
        return Err(Invalid::field(format!("{path}/threadId"), problem));
    }
    Ok(())
}

/// Whether a URL can be told something. Where it leads is looked at when something
/// is sent there.
pub(crate) fn webhook(path: &str, to: Option<&str>) -> Result<(), Invalid> {
    match to {
        Some(url) if is_url(url) => Ok(()),
        Some(_) => Err(Invalid::field(format!("{path}/to"), NO_URL)),
        None => Err(Invalid::field(format!("{path}/to"), "must be a URL")),
    }
}

fn is_url(url: &str) -> bool {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_plain = !url.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@')) && is_plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn place_is_refused_what_nobody_obeys() {
        for (said, expected) in [
            (json!({"mode": "loud"}), "at /x/mode: "),
            (json!({"mode": 1}), "at /x/mode: "),
            (json!({"mode": "none"}), "at /x/mode: "),
            (json!({"channel": 7}), "at /x/channel: "),
            (json!({"to": 7}), "at /x/to: "),
            (json!({"accountId": ["a"]}), "at /x/accountId: "),
            (json!({"threadId": 1.5}), "at /x/threadId: "),
            (json!({"room": "r"}), "'room'"),
            (json!({"mode": "webhook"}), "at /x/to: "),
            (json!({"mode": "webhook", "to": "e.org"}), "at /x/to: "),
        ] {
            let refused = checked("x", said.as_object().unwrap(), &["after"]);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(expected), "{said}: {refused}");
        }
        let said = json!({"mode": "announce", "channel": "telegram", "to": "7", "after": 1,
            "accountId": "work", "threadId": 9});
        checked("x", said.as_object().unwrap(), &["after"]).unwrap();
    }
}
