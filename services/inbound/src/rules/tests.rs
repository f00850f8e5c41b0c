use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn account(written: Value) -> Account {
    serde_json::from_value(written).unwrap()
}

fn facts(sender: &str) -> Facts<'_> {
    Facts {
        channel: "telegram",
        account: "default",
        is_default_account: true,
        chat: ChatKind::Direct,
        chat_id: sender,
        former_chat_id: "",
        thread: None,
        sender,
        is_bot: false,
        is_to_bot: true,
    }
}

fn in_chat<'a>(sender: &'a str, id: &'a str) -> Facts<'a> {
    Facts {
        chat: ChatKind::Group,
        chat_id: id,
        ..facts(sender)
    }
}

/// In a word: the role of whoever is let in, or why nobody is.
fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Allow { sender, .. } => format!("{:?}", sender.role).to_lowercase(),
        Verdict::Pair => "pair".to_owned(),
        Verdict::Ignore(ignored) | Verdict::Overhear(ignored) => ignored.code.as_str().to_owned(),
    }
}

#[test]
fn direct_chats_are_let_in_by_their_policy() {
    let paired = PairedPeople {
        is_paired: true,
        has_paired_owner: true,
        ..PairedPeople::default()
    };
    let owner = PairedPeople {
        is_paired_owner: true,
        ..paired
    };
    let nobody = PairedPeople::default();
    for (written, known, expected) in [
        (json!({}), nobody, "pair"),
        (json!({}), paired, "guest"),
        (json!({}), owner, "owner"),
        (json!({"allowFrom": ["tg:7", 8]}), nobody, "guest"),
        (json!({"allowFrom": [7]}), nobody, "owner"),
        (json!({"allowFrom": [7]}), paired, "guest"),
        (json!({"allowFrom": ["@7"]}), nobody, "pair"),
        (json!({"dmPolicy": "allowlist"}), paired, "not-allowed"),
        (
            json!({"dmPolicy": "allowlist", "allowFrom": [8]}),
            nobody,
            "not-allowed",
        ),
        (
            json!({"dmPolicy": "allowlist", "allowFrom": [8, 7]}),
            nobody,
            "guest",
        ),
        (json!({"dmPolicy": "open"}), nobody, "not-allowed"),
        (
            json!({"dmPolicy": "open", "allowFrom": ["*"]}),
            nobody,
            "guest",
        ),
        (
            json!({"dmPolicy": "disabled", "allowFrom": [7]}),
            owner,
            "disabled",
        ),
    ] {
        let verdict = judge(&account(written.clone()), &facts("7"), known);
        assert_eq!(word(verdict), expected, "{written}");
    }
    let owners = [PeerId::Text("telegram:7".to_owned())];
    let named = PairedPeople {
        is_paired: true,
        owners: &owners,
        ..nobody
    };
    assert_eq!(
        word(judge(&account(json!({})), &facts("7"), named)),
        "owner"
    );
}

#[test]
fn group_is_listed_by_its_former_id_too() {
    let moved = Facts {
        former_chat_id: "-5",
        is_to_bot: false,
        ..in_chat("7", "-1005")
    };
    for (groups, expected) in [
        (json!({"-5": {"requireMention": false}}), "guest"),
        (json!({"-1005": {"requireMention": false}}), "guest"),
        (
            json!({"-5": {"enabled": false}, "-1005": {"requireMention": false}}),
            "guest",
        ),
        (
            json!({"-1005": {"enabled": false}, "-5": {"requireMention": false}}),
            "disabled",
        ),
        (
            json!({"": {"requireMention": false}, "-6": {}}),
            "not-allowed",
        ),
    ] {
        let written = account(json!({"allowFrom": [7, 8], "groups": groups}));
        let verdict = judge(&written, &moved, PairedPeople::default());
        assert_eq!(word(verdict), expected, "{groups}");
    }
}

#[test]
fn groups_are_let_in_by_group_and_sender() {
    let to_nobody = Facts {
        is_to_bot: false,
        ..in_chat("7", "-1")
    };
    let called = in_chat("7", "-1");
    for (written, facts, expected) in [
        (json!({}), called, "not-allowed"),
        (json!({"allowFrom": [7, 8]}), called, "guest"),
        (
            json!({"groupAllowFrom": [8], "allowFrom": [7]}),
            called,
            "not-allowed",
        ),
        (json!({"groupPolicy": "open"}), called, "visitor"),
        (
            json!({"groupPolicy": "disabled", "allowFrom": [7]}),
            called,
            "disabled",
        ),
        (
            json!({"groupPolicy": "open", "groups": {"-2": {}}}),
            called,
            "not-allowed",
        ),
        (
            json!({"groupPolicy": "open", "groups": {"*": {}}}),
            called,
            "visitor",
        ),
        (
            json!({"groupPolicy": "open", "groups": {"-1": {"enabled": false}}}),
            called,
            "disabled",
        ),
        (
            json!({"groupPolicy": "open", "groups": {"-1": {"allowFrom": [8]}}}),
            called,
            "not-allowed",
        ),
        (
            json!({"groups": {"-1": {"allowFrom": [7, 8]}}}),
            called,
            "guest",
        ),
        (json!({"groupPolicy": "open"}), to_nobody, "not-mentioned"),
        (
            json!({"groupPolicy": "open", "groups": {"*": {"requireMention": false}}}),
            to_nobody,
            "visitor",
        ),
        (
            json!({"groupPolicy": "open", "groups": {
                "*": {"requireMention": false}, "-1": {"requireMention": true}}}),
            to_nobody,
            "not-mentioned",
        ),
    ] {
        let verdict = judge(&account(written.clone()), &facts, PairedPeople::default());
        assert_eq!(word(verdict), expected, "{written}");
    }
}

#[test]
fn topics_say_their_own() {
    let account = account(json!({"groupPolicy": "open", "groups": {"-1": {
    "systemPrompt": "group", "topics": {
        "4": {"requireMention": false, "agentId": "ops", "systemPrompt": "topic"},
        "5": {"enabled": false},
        "*": {"agentId": "rest"},
    }}}}));
    let of = |thread| {
        let facts = Facts {
            thread,
            is_to_bot: thread != Some("6"),
            ..in_chat("7", "-1")
        };
        judge(&account, &facts, PairedPeople::default())
    };
    let agent = |verdict| match verdict {
        Verdict::Allow { agent, prompt, .. } => (agent.unwrap_or_default(), prompt.unwrap()),
        other => panic!("{other:?}"),
    };
    let pair = |agent: &str, prompt: &str| (agent.to_owned(), prompt.to_owned());
    assert_eq!(agent(of(Some("4"))), pair("ops", "topic"));
    assert_eq!(agent(of(Some("9"))), pair("rest", "group"));
    assert_eq!(agent(of(None)), pair("", "group"));
    assert_eq!(word(of(Some("5"))), "disabled");
    assert_eq!(word(of(Some("6"))), "not-mentioned");
}

#[test]
fn approvers_decide_and_nobody_else() {
    let approves = |written: Value, known: PairedPeople<'_>| match judge(
        &account(written),
        &facts("7"),
        known,
    ) {
        Verdict::Allow { sender, .. } => sender.approves,
        other => panic!("{other:?}"),
    };
    let guest = PairedPeople {
        is_paired: true,
        has_paired_owner: true,
        ..PairedPeople::default()
    };
    let owner = PairedPeople {
        is_paired_owner: true,
        ..guest
    };
    assert!(approves(json!({}), owner));
    assert!(!approves(json!({}), guest));
    assert!(approves(
        json!({"execApprovals": {"approvers": ["tg:7"]}}),
        guest
    ));
    assert!(!approves(
        json!({"execApprovals": {"approvers": [8]}}),
        owner
    ));
    assert!(!approves(
        json!({"execApprovals": {"enabled": false}}),
        owner
    ));
}

fn policy() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["pairing", "allowlist", "open", "disabled"])
}

proptest! {
    /// Whoever was paired in a direct chat is nobody in a group, whatever holds.
    #[test]
    fn pairing_never_opens_a_group(
        dm in policy(),
        group in prop::sample::select(vec!["allowlist", "open", "disabled"]),
        listed in prop::collection::vec(0u8..9, 0..3),
        is_to_bot: bool,
        is_owner: bool,
    ) {
        let account = account(json!({"dmPolicy": dm, "groupPolicy": group, "allowFrom": listed}));
        let facts = Facts { is_to_bot, ..in_chat("42", "-1") };
        let paired = PairedPeople {
            is_paired: true,
            is_paired_owner: is_owner,
            has_paired_owner: true,
            owners: &[],
        };
        let is_in = |known| matches!(judge(&account, &facts, known), Verdict::Allow { .. });
        let stranger = PairedPeople { has_paired_owner: true, ..PairedPeople::default() };
        prop_assert_eq!(is_in(paired), is_in(stranger));
    }

    /// Nobody is let into a direct chat who is neither listed nor paired.
    #[test]
    fn stranger_is_never_let_in(
        dm in policy(),
        listed in prop::collection::vec(1i64..1000, 0..5),
        sender in 1000i64..2000,
    ) {
        let account = account(json!({"dmPolicy": dm, "allowFrom": listed}));
        let sender = sender.to_string();
        let verdict = judge(&account, &facts(&sender), PairedPeople::default());
        let is_in = matches!(verdict, Verdict::Allow { .. });
        prop_assert!(!is_in, "{:?}", verdict);
    }
}

#[test]
fn groups_in_which_nobody_may_talk_are_known() {
    let of = |written: Value| {
        let account = account(written);
        let found = unanswered_groups(&account);
        let known = PairedPeople {
            is_paired: true,
            is_paired_owner: true,
            has_paired_owner: true,
            owners: &[],
        };
        for id in &found {
            assert_eq!(
                word(judge(&account, &in_chat("7", id), known)),
                "not-allowed"
            );
        }
        found.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({"groups": {"-1": {}, "-2": {}}})), ["-1", "-2"]);
    assert_eq!(
        of(json!({"groups": {"-1": {"allowFrom": []}}, "allowFrom": [7]})),
        ["-1"]
    );
    for answered in [
        json!({}),
        json!({"groups": {"-1": {}}, "allowFrom": [7]}),
        json!({"groups": {"-1": {}}, "groupAllowFrom": [7]}),
        json!({"groups": {"-1": {"allowFrom": ["*"]}}}),
        json!({"groups": {"-1": {"groupPolicy": "open"}}}),
        json!({"groups": {"-1": {}}, "groupPolicy": "open"}),
        json!({"groups": {"-1": {}}, "groupPolicy": "disabled"}),
        json!({"groups": {"-1": {"enabled": false}}}),
        json!({"groups": {"-1": {"topics": {"4": {"allowFrom": [7]}}}}}),
    ] {
        assert_eq!(of(answered.clone()), [""; 0], "{answered}");
    }
}

#[test]
fn keys_that_let_somebody_in_all_the_same_are_named() {
    for (written, expected) in [
        (json!({}), &[][..]),
        (json!({"allowFrom": ["tg:7"]}), &["allowFrom"]),
        (json!({"allowFrom": ["*"]}), &["allowFrom"]),
        (
            json!({"allowFrom": [8], "groupAllowFrom": [7]}),
            &["groupAllowFrom"],
        ),
        // A policy that is shut makes a list idle.
        (
            json!({"dmPolicy": "disabled", "groupPolicy": "disabled", "allowFrom": [7]}),
            &[],
        ),
        (json!({"groupPolicy": "open"}), &["groupPolicy"]),
        (
            json!({"groups": {"-1": {"allowFrom": [7], "topics": {"4": {"groupPolicy": "open"}}}}}),
            &["groups.-1.allowFrom", "groups.-1.topics.4.groupPolicy"],
        ),
    ] {
        let account = account(written.clone());
        assert_eq!(listing(&account, "telegram", "7"), expected, "{written}");
    }
}
