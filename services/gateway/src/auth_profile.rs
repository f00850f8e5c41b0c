//! The auth profile that a session chose for its turns. Which there are only the
//! agent-runner knows, which has the credentials.

use openclaw_proto::runner::AuthProfile;
use openclaw_sessions::AgentId;
use openclaw_sessions::store::Patch;
use serde_json::Value;

use crate::gateway::Gateway;
use crate::refusal::Refusal;

/// The profile of a session by the fields of its entry. What OpenClaw chose by
/// itself is used first; what the user chose is used alone. Entries of its
/// earlier versions do not say whose choice it was: there its own have a count.
pub(crate) fn chosen(field: impl Fn(&str) -> Option<Value>) -> Option<AuthProfile> {
    let id = field("authProfileOverride")?;
    let id = id.as_str()?.trim();
    let source = field("authProfileOverrideSource");
    let is_own = match source.as_ref().and_then(Value::as_str) {
        Some(source) => source == "auto",
        None => field("authProfileOverrideCompactionCount").is_some(),
    };
    (!id.is_empty()).then(|| AuthProfile {
        id: id.to_owned(),
        is_only: !is_own,
    })
}

/// Refuses a profile that turns of the agent could not use.
pub(crate) async fn check(
    gateway: &Gateway,
    agent: &AgentId,
    patch: &Patch,
) -> Result<(), Refusal> {
    let Some(id) = patch.auth_profile() else {
        return Ok(());
    };
    let status = gateway.runner.status().await;
    let status = status.map_err(|status| Refusal::NoRunner(Box::new(status)))?;
    let mut agents = status.agents.into_iter();
    let own = agents.find(|known| known.agent_id == agent.as_str());
    let known = own.map(|known| known.auth_profiles).unwrap_or_default();
    match known.iter().any(|known| known == id) {
        true => Ok(()),
        false => Err(Refusal::UnknownAuthProfile {
            id: id.to_owned(),
            agent: agent.clone(),
            known: match known.is_empty() {
                true => "it has none".to_owned(),
                false => format!("it has {}", known.join(", ")),
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chosen_profile_is_the_only_one_when_the_user_chose_it() {
        let of = |entry: Value| chosen(|name| entry.get(name).cloned());
        let is_only = |entry: Value| of(entry).map(|profile| profile.is_only);
        let id = "anthropic:work";
        assert_eq!(is_only(json!({})), None);
        assert_eq!(is_only(json!({"authProfileOverride": " "})), None);
        for (fields, expected) in [
            (json!({}), true),
            (json!({"authProfileOverrideSource": "user"}), true),
            (json!({"authProfileOverrideSource": "user-link"}), true),
            (json!({"authProfileOverrideSource": "auto"}), false),
            (json!({"authProfileOverrideCompactionCount": 0}), false),
        ] {
            let mut entry = fields;
            entry["authProfileOverride"] = json!(id);
            assert_eq!(is_only(entry), Some(expected));
        }
    }
}
