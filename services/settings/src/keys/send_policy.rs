//! `session.sendPolicy`: to which sessions messages may be sent.

use serde::{Deserialize, Serialize};

/// `session.sendPolicy`, as written. The first rule that fits and denies
/// decides, then one that allows, then the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SendPolicy {
    /// Where no rule fits.
    pub default: SendAction,
    /// Rules for some sessions.
    pub rules: Vec<SendRule>,
}

/// Whether messages may be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SendAction {
    /// They may.
    #[default]
    Allow,
    /// They are refused.
    Deny,
}

/// A rule for the sessions that it fits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SendRule {
    /// What is done.
    pub action: SendAction,
    /// The sessions; all, when nothing is said.
    #[serde(default, rename = "match")]
    pub matches: SendMatch,
}

/// What a session must be; everything that is said must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct SendMatch {
    /// The channel of the message or of the session.
    pub channel: Option<String>,
    /// `direct` (also `dm`), `group` or `channel`.
    #[cfg_attr(test, schemars(extend("enum" = ["direct", "dm", "group", "channel"])))]
    pub chat_type: Option<String>,
    /// What its key begins with, with `agent:ID:` or without.
    pub key_prefix: Option<String>,
    /// What its key begins with, as it is.
    pub raw_key_prefix: Option<String>,
}

/// A session to which a message is to be sent.
#[derive(Debug, Clone, Copy)]
pub struct SendTarget<'a> {
    /// Its key, whole.
    pub key: &'a str,
    /// The channels of the message and of the session.
    pub channels: [Option<&'a str>; 2],
    /// `direct` or `group`.
    pub chat_type: &'a str,
}

impl SendPolicy {
    /// Whether the message is refused.
    pub fn denies(&self, target: &SendTarget<'_>) -> bool {
        let mut fitting = self
            .rules
            .iter()
            .filter(|rule| rule.matches.fits(target))
            .map(|rule| rule.action)
            .peekable();
        match fitting.peek() {
            Some(_) => fitting.any(|action| action == SendAction::Deny),
            None => self.default == SendAction::Deny,
        }
    }
}

impl SendMatch {
    fn fits(&self, target: &SendTarget<'_>) -> bool {
        let said = |text: &Option<String>| {
            let text = text.as_deref().map(|text| text.trim().to_lowercase());
            text.filter(|text| !text.is_empty())
        };
        let own = target.key.splitn(3, ':').nth(2).unwrap_or(target.key);
        let is_room = [":channel:", ":room:"]
            .iter()
            .any(|part| target.key.contains(part));
        let kind = match target.chat_type {
            "group" if is_room => "channel",
            kind => kind,
        };
        said(&self.channel).is_none_or(|channel| {
            let mut channels = target.channels.iter().flatten();
            channels.any(|it| it.eq_ignore_ascii_case(&channel))
        }) && said(&self.chat_type).is_none_or(|wanted| match wanted.as_str() {
            "dm" => kind == "direct",
            wanted => kind == wanted,
        }) && said(&self.raw_key_prefix).is_none_or(|prefix| target.key.starts_with(&prefix))
            && said(&self.key_prefix)
                .is_none_or(|prefix| target.key.starts_with(&prefix) || own.starts_with(&prefix))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn denies(policy: Value, key: &str, channel: &str) -> bool {
        let policy: SendPolicy = serde_json::from_value(policy).unwrap();
        let chat_type = if key.contains(":group:") || key.contains(":channel:") {
            "group"
        } else {
            "direct"
        };
        policy.denies(&SendTarget {
            key,
            channels: [Some(channel), None],
            chat_type,
        })
    }

    #[test]
    fn deny_comes_before_allow_and_both_before_the_default() {
        let main = "agent:main:main";
        let group = "agent:main:discord:group:1";
        assert!(!denies(json!({}), main, "cli"));
        assert!(denies(json!({"default": "deny"}), main, "cli"));
        let policy = json!({"default": "deny", "rules": [
            {"action": "allow", "match": {"keyPrefix": "main"}},
            {"action": "allow", "match": {"chatType": "group"}},
            {"action": "deny", "match": {"channel": "Discord"}},
        ]});
        assert!(!denies(policy.clone(), main, "cli"));
        assert!(denies(policy.clone(), main, "discord"));
        assert!(!denies(policy.clone(), group, "webchat"));
        assert!(denies(policy, "agent:main:other", "cli"));
    }

    #[test]
    fn rule_fits_by_what_it_says() {
        let rule = |matches: Value| json!({"rules": [{"action": "deny", "match": matches}]});
        let room = "agent:main:slack:channel:c1";
        assert!(denies(rule(json!({"chatType": "channel"})), room, "slack"));
        assert!(!denies(rule(json!({"chatType": "group"})), room, "slack"));
        assert!(denies(
            rule(json!({"chatType": "dm"})),
            "agent:main:main",
            "cli"
        ));
        assert!(denies(
            rule(json!({"rawKeyPrefix": "agent:main:slack"})),
            room,
            "x"
        ));
        assert!(!denies(rule(json!({"rawKeyPrefix": "slack"})), room, "x"));
        assert!(
            denies(rule(json!({})), room, "x"),
            "one that says nothing fits all"
        );
    }
}
