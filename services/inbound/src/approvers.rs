//! Who is asked whether a command may run.

use openclaw_settings::keys::channels::{Account, ApprovalTarget, ApprovalsEnabled, PeerId};

use crate::peer::bare;

/// People that one question is put to.
const LIMIT: usize = 8;

/// Where a question is put on a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionTargets {
    /// Where the message came from.
    pub in_place: bool,
    /// The direct chats of these.
    pub direct: Vec<String>,
}

/// Where a question is put about a message that `sender` sent, in a direct chat
/// or not. `paired` are the owners that were paired, beside those of `owners`.
pub fn asked(
    account: &Account,
    channel: &str,
    (sender, is_direct): (&str, bool),
    owners: &[PeerId],
    paired: &[String],
) -> QuestionTargets {
    let approvals = &account.exec_approvals;
    if approvals.enabled == ApprovalsEnabled::Set(false) {
        return QuestionTargets::default();
    }
    let ids = |list: &[PeerId]| -> Vec<String> {
        let ids = list.iter().filter_map(|id| bare(&id.to_string(), channel));
        ids.filter(|id| !id.is_empty() && id != "*").collect()
    };
    let mut approvers = ids(&approvals.approvers);
    if approvers.is_empty() {
        approvers = ids(owners);
        approvers.extend_from_slice(paired);
    }
    // As in `rules`: the only one who is allowed by name.
    if approvers.is_empty() && account.allow_from.len() == 1 {
        approvers = ids(&account.allow_from);
    }
    approvers.dedup();
    if approvers.is_empty() {
        return QuestionTargets::default();
    }
    // Whoever is there decides.
    if is_direct && approvers.iter().any(|id| id == sender) {
        return QuestionTargets {
            in_place: true,
            direct: Vec::new(),
        };
    }
    let in_place = !is_direct && approvals.target != ApprovalTarget::Dm;
    if in_place && approvals.target == ApprovalTarget::Channel {
        approvers.clear();
    }
    approvers.truncate(LIMIT);
    QuestionTargets {
        in_place,
        direct: approvers,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(written: Value, sender: &str, is_direct: bool, paired: &[&str]) -> (bool, Vec<String>) {
        let account: Account = serde_json::from_value(written).unwrap();
        let paired: Vec<String> = paired.iter().map(|id| (*id).to_owned()).collect();
        let asked = asked(&account, "telegram", (sender, is_direct), &[], &paired);
        (asked.in_place, asked.direct)
    }

    #[test]
    fn question_is_put_to_approvers_alone() {
        let to = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let approvers = json!({"execApprovals": {"approvers": ["tg:1", 2]}});
        let both = json!({"execApprovals": {"approvers": [1], "target": "both"}});
        let channel = json!({"execApprovals": {"approvers": [1], "target": "channel"}});
        let off = json!({"execApprovals": {"enabled": false, "approvers": [1]}});
        for (written, sender, is_direct, paired, expected) in [
            (json!({}), "7", true, vec![], (false, to(&[]))),
            (json!({}), "7", true, vec!["7"], (true, to(&[]))),
            (json!({}), "8", true, vec!["7"], (false, to(&["7"]))),
            (json!({}), "7", false, vec!["7"], (false, to(&["7"]))),
            (
                json!({"allowFrom": [7]}),
                "7",
                true,
                vec![],
                (true, to(&[])),
            ),
            (
                json!({"allowFrom": [7, 8]}),
                "7",
                true,
                vec![],
                (false, to(&[])),
            ),
            (
                approvers.clone(),
                "7",
                true,
                vec!["7"],
                (false, to(&["1", "2"])),
            ),
            (approvers, "2", true, vec!["7"], (true, to(&[]))),
            (both, "7", false, vec![], (true, to(&["1"]))),
            (channel.clone(), "7", false, vec![], (true, to(&[]))),
            (channel, "7", true, vec![], (false, to(&["1"]))),
            (off, "1", true, vec!["1"], (false, to(&[]))),
        ] {
            assert_eq!(
                of(written.clone(), sender, is_direct, &paired),
                expected,
                "{written} {sender}"
            );
        }
    }
}
