use proptest::prelude::*;

use super::*;

fn patched(changes: &[(&str, Value)]) -> Result<SessionEntry, InvalidPatch> {
    let mut patch = Patch::default();
    for (name, value) in changes {
        patch.change(name, value)?;
    }
    let mut entry = SessionEntry::default();
    patch.apply(&mut entry, 7);
    Ok(entry)
}

#[test]
fn fields_are_set_and_cleared() {
    let entry = patched(&[
        ("label", " Trip ".into()),
        ("model", "OpenAI/gpt-5".into()),
        ("thinkingLevel", "HIGH".into()),
        ("archived", true.into()),
    ])
    .unwrap();
    assert_eq!(entry.get::<String>("label").unwrap(), "Trip");
    assert_eq!(entry.model_override().unwrap(), "openai/gpt-5");
    assert_eq!(entry.get::<String>("thinkingLevel").unwrap(), "high");
    assert_eq!(entry.get::<i64>("archivedAt"), Some(7));
    assert_eq!(entry.text("archiveReason"), Some("manual"));
    let mut cleared = Patch::default();
    for name in ["label", "model", "thinkingLevel", "archived"] {
        cleared.change_text(name, "").unwrap();
    }
    let mut entry = entry;
    cleared.apply(&mut entry, 8);
    assert_eq!(entry.model_override(), None);
    assert_eq!(entry.get::<Value>("label"), None);
    assert_eq!(entry.get::<Value>("archivedAt"), None);
    assert_eq!(entry.text("archiveReason"), None);
}

#[test]
fn auth_profile_is_the_users_choice_unless_it_says_otherwise() {
    let of = |entry: &SessionEntry| {
        let text = |name| entry.get::<String>(name);
        (text(AUTH_PROFILE), text(AUTH_PROFILE_SOURCE))
    };
    let text = |text: &str| Some(text.to_owned());
    let mut entry = patched(&[(AUTH_PROFILE, "anthropic:work".into())]).unwrap();
    assert_eq!(of(&entry), (text("anthropic:work"), text("user")));
    entry.set(AUTH_PROFILE_COUNT, 3);
    let auto = [
        (AUTH_PROFILE, "a:b".into()),
        (AUTH_PROFILE_SOURCE, "auto".into()),
    ];
    assert_eq!(of(&patched(&auto).unwrap()), (text("a:b"), text("auto")));
    let mut cleared = Patch::default();
    cleared.change_text(AUTH_PROFILE, "").unwrap();
    cleared.apply(&mut entry, 8);
    assert_eq!(of(&entry), (None, None));
    assert_eq!(entry.get::<Value>(AUTH_PROFILE_COUNT), None);
    let alone = patched(&[(AUTH_PROFILE_SOURCE, "user".into())]).unwrap();
    assert_eq!(of(&alone), (None, None));
}

#[test]
fn patch_says_what_it_changes_of_cost_and_keys() {
    for (name, value, spends) in [
        ("label", "Trip", None),
        ("model", "openai/gpt-5", None),
        ("archived", "true", None),
        ("limits", r#"{"tasksMax": 9}"#, Some("limits")),
        ("limits.steps", "3", Some("limits")),
        ("limits", "", Some("limits")),
        ("authProfileOverride", "work", Some("authProfileOverride")),
        ("authProfileOverride", "", Some("authProfileOverride")),
    ] {
        let mut patch = Patch::default();
        patch.change_text("displayName", "x").unwrap();
        patch.change_text(name, value).unwrap();
        assert_eq!(patch.spends(), spends, "{name} {value:?}");
    }
    assert_eq!(Patch::default().spends(), None);
}

#[test]
fn limits_are_set_together_or_one_by_one() {
    let mut entry = SessionEntry::default();
    let mut apply = |changes: &[(&str, &str)]| {
        let mut patch = Patch::default();
        for (name, value) in changes {
            patch.change_text(name, value).unwrap();
        }
        patch.apply(&mut entry, 1);
        entry.get::<Value>("limits")
    };
    let set = apply(&[("limits.memoryMax", "512M"), ("limits.steps", "3")]);
    assert_eq!(set, Some(json!({"memoryMax": "512M", "steps": 3})));
    assert_eq!(
        apply(&[("limits.memoryMax", "")]),
        Some(json!({"steps": 3}))
    );
    assert_eq!(
        apply(&[("limits", r#"{"tasksMax": 9}"#)]),
        Some(json!({"tasksMax": 9}))
    );
    assert_eq!(apply(&[("limits.tasksMax", "")]), None);
    assert_eq!(apply(&[("limits", "")]), None);
    let error = Patch::default().change_text("limits", "many").unwrap_err();
    assert!(error.to_string().contains("an object"), "{error}");
    Patch::default().change_text("limitsx", "1").unwrap_err();
}

#[test]
fn patch_what_is_not_allowed_is_named_with_what_is() {
    for (name, value, part) in [
        ("colour", Value::from("red"), "there are label"),
        ("thinkingLevel", "deep".into(), "minimal"),
        ("archived", "maybe".into(), "true or false"),
        ("model", "a b".into(), "provider/model"),
        ("label", "x".repeat(513).into(), "512 bytes"),
        ("label", "a\u{1b}[2J".into(), "a text"),
        ("queueCap", Value::from(-1), "up to 10000"),
        ("queueCap", "many".into(), "up to 10000"),
    ] {
        let error = patched(&[(name, value)]).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(part), "{error}");
    }
}

fn patch(changes: &[(&str, Value)]) -> Patch {
    let mut patch = Patch::default();
    for (name, value) in changes {
        patch.change(name, value).unwrap();
    }
    patch
}

#[test]
fn patch_says_what_it_sets() {
    let nothing = Patch::default();
    assert!(nothing.is_empty() && !nothing.archives());
    assert_eq!(nothing.model(), None);
    assert_eq!(nothing.auth_profile(), None);
    assert_eq!(nothing.label(), None);
    assert_eq!(nothing.limits().count(), 0);
    assert_eq!(nothing.markers(), []);

    let all = patch(&[
        ("model", "first/one".into()),
        ("model", "OpenAI/gpt/5".into()),
        (AUTH_PROFILE, "openai:work".into()),
        ("label", "Trip".into()),
        ("archived", true.into()),
        ("limits", json!({ "steps": 3 })),
        ("limits.memoryMax", "1G".into()),
        ("limits.tasksMax", Value::Null),
    ]);
    assert!(!all.is_empty() && all.archives());
    assert_eq!(all.model().unwrap(), "openai/gpt/5");
    assert_eq!(all.auth_profile(), Some("openai:work"));
    assert_eq!(all.label(), Some("Trip"));
    let limits: Vec<_> = all.limits().collect();
    let expected = [("steps", &json!(3)), ("memoryMax", &json!("1G"))];
    assert_eq!(limits, expected);

    let model = |value: &str| patch(&[("model", value.into())]).model();
    assert_eq!(model("gpt-5").unwrap(), "gpt-5");
    let cleared = ["model", "label", AUTH_PROFILE].map(|name| (name, Value::Null));
    let cleared = patch(&cleared);
    assert_eq!(cleared.model(), None);
    assert_eq!(cleared.label(), None);
    assert_eq!(cleared.auth_profile(), None);
    for unarchived in [Value::Null, false.into()] {
        assert!(!patch(&[("archived", unarchived)]).archives());
    }
    assert!(!patch(&[("pinned", true.into())]).archives());
}

#[test]
fn patch_leaves_marks_for_what_a_rebuilt_index_has_to_know() {
    let marks = patch(&[
        ("label", "Trip".into()),
        ("model", "openai/gpt-5".into()),
        ("model", "local".into()),
        ("thinkingLevel", "high".into()),
        ("color", "red".into()),
        ("label", Value::Null),
        ("model", Value::Null),
        ("thinkingLevel", Value::Null),
        ("color", Value::Null),
    ])
    .markers();
    let model = |provider: &str, model: &str| Marker::ModelChange {
        provider: provider.to_owned(),
        model_id: model.to_owned(),
    };
    let label = |name: &str| Marker::SessionInfo {
        name: name.to_owned(),
    };
    let expected = [
        label("Trip"),
        model("openai", "gpt-5"),
        model("", "local"),
        Marker::ThinkingLevelChange {
            thinking_level: "high".to_owned(),
        },
        label(""),
        cleared("model"),
        cleared("thinkingLevel"),
    ];
    assert_eq!(marks, expected);
}

#[test]
fn times_are_noted_and_taken_away_with_their_own_reasons() {
    for (name, field) in [
        ("archived", "archivedAt"),
        ("pinned", "pinnedAt"),
        ("unread", "markedUnreadAt"),
    ] {
        let mut entry = patched(&[(name, true.into())]).unwrap();
        assert_eq!(entry.get::<i64>(field), Some(7));
        assert_eq!(
            entry.text("archiveReason").is_some(),
            name == "archived",
            "{name}"
        );
        assert_eq!(entry.updated_at(), 7);
        entry.set("archivedBy", "somebody");
        entry.set("archiveReason", "too old");
        let mut off = Patch::default();
        off.change_text(name, "off").unwrap();
        off.apply(&mut entry, 8);
        assert_eq!(entry.get::<Value>(field), None);
        assert_eq!(entry.text("archivedBy").is_none(), name == "archived");
        assert_eq!(entry.text("archiveReason").is_none(), name == "archived");
    }
}

#[test]
fn words_of_a_command_line_are_switches_only_where_the_field_is_one() {
    let texts = |changes: &[(&str, &str)]| {
        let mut patch = Patch::default();
        for (name, value) in changes {
            patch.change_text(name, value).unwrap();
        }
        let mut entry = SessionEntry::default();
        patch.apply(&mut entry, 7);
        entry
    };
    for on in ["true", "on", "yes"] {
        let entry = texts(&[("pinned", on), ("label", on)]);
        assert_eq!(entry.get::<i64>("pinnedAt"), Some(7), "{on}");
        assert_eq!(entry.text("label"), Some(on));
    }
    for off in ["false", "off", "no"] {
        let entry = texts(&[("pinned", "on"), ("pinned", off), ("label", off)]);
        assert_eq!(entry.get::<i64>("pinnedAt"), None, "{off}");
        assert_eq!(entry.text("label"), Some(off));
    }
    assert_eq!(
        texts(&[("verboseLevel", "on")]).text("verboseLevel"),
        Some("on")
    );
    let limits = texts(&[("limits.memoryMax", "512M"), ("limits.steps", "3")]);
    let expected = json!({ "memoryMax": "512M", "steps": 3 });
    assert_eq!(limits.get::<Value>(LIMITS), Some(expected));
}

proptest! {
    /// Texts, words and numbers are taken up to their bounds, and no further.
    #[test]
    fn values_are_taken_up_to_their_bounds(
        length in 0usize..600,
        queue in 0u64..12_000,
        provider in "[a-z]{0,4}",
        model in "[a-z/ ]{0,4}",
    ) {
        let is_taken = |name: &str, value: Value| patched(&[(name, value)]).is_ok();
        for (name, limit) in [("label", LABEL_LIMIT), ("icon", WORD_LIMIT), ("statusNote", 120)] {
            let taken = is_taken(name, "x".repeat(length).into());
            prop_assert_eq!(taken, (1..=limit).contains(&length), "{}", name);
        }
        prop_assert_eq!(is_taken("queueCap", queue.into()), queue <= 10_000);
        prop_assert_eq!(is_taken("queueCap", queue.to_string().into()), queue <= 10_000);
        prop_assert_eq!(is_taken("queueCap", Value::from(-1 - queue as i64)), false);
        let trimmed = model.trim();
        let taken = is_taken("model", format!("{provider}/{model}").into());
        let is_word = !trimmed.is_empty() && !model.trim_end().contains(' ');
        prop_assert_eq!(taken, !provider.is_empty() && is_word, "{}/{}", provider, model);
        let long = format!("a/{}", "x".repeat(length));
        prop_assert_eq!(is_taken("model", long.into()), (1..=WORD_LIMIT - 2).contains(&length));
    }
}
