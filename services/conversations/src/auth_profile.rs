//! The auth profile that a session chose for its turns.

use openclaw_proto::runner::AuthProfile;
use serde_json::Value;

/// The profile of a session by the fields of its entry. What OpenClaw chose by
/// itself is used first; what the user chose is used alone. Entries of its
/// earlier versions do not say whose choice it was: there its own have a count.
pub fn chosen(field: impl Fn(&str) -> Option<Value>) -> Option<AuthProfile> {
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
