use super::*;

fn entry() -> SessionEntry {
    SessionEntry::new("id".to_owned(), "direct", 7)
}

#[test]
fn entry_begins_with_its_file_its_time_and_its_kind() {
    let entry = entry();
    assert_eq!(entry.session_id(), "id");
    assert_eq!(entry.session_file(), Some("id.jsonl"));
    assert_eq!((entry.updated_at(), entry.started_at()), (7, Some(7)));
    let fields: Vec<_> = entry.fields().collect();
    let expected = [
        ("sessionFile", &json!("id.jsonl")),
        ("sessionStartedAt", &json!(7)),
        ("chatType", &json!("direct")),
    ];
    assert_eq!(fields, expected);
    let written = json!({"sessionId": "id", "updatedAt": 7, "sessionFile": "id.jsonl",
        "sessionStartedAt": 7, "chatType": "direct"});
    assert_eq!(Value::Object(entry.to_json()), written);
}

#[test]
fn recovered_entry_says_what_its_header_says() {
    let header = |timestamp: &str| Header {
        id: "x".to_owned(),
        timestamp: timestamp.to_owned(),
        version: json!(3),
        cwd: String::new(),
        rest: Map::new(),
    };
    let known = SessionEntry::recovered(&header("1970-01-01T00:00:03Z"), "f.jsonl", 9);
    assert_eq!(known.session_id(), "x");
    assert_eq!(known.session_file(), Some("f.jsonl"));
    assert_eq!((known.updated_at(), known.started_at()), (9, Some(3000)));
    let unknown = SessionEntry::recovered(&header("then"), "f.jsonl", 9);
    assert_eq!(unknown.started_at(), None);
}

#[test]
fn fields_have_the_wanted_type_or_are_none() {
    let mut entry = entry();
    entry.set("archivedAt", 3);
    entry.set("lastInteractionAt", 4);
    entry.set("label", "");
    assert_eq!(entry.archived_at(), Some(3));
    assert_eq!(entry.last_interaction_at(), Some(4));
    assert_eq!((entry.label(), entry.text("archivedAt")), (None, None));
    assert_eq!(entry.get::<String>("archivedAt"), None);
    entry.set("label", "a");
    assert_eq!(entry.label(), Some("a"));
    entry.clear("label");
    assert_eq!(entry.label(), None);
}

#[test]
fn model_of_ones_own_has_a_provider_or_none() {
    let mut entry = entry();
    assert_eq!(entry.model_override(), None);
    entry.set_model_override(Some("p"), "m");
    assert_eq!(entry.model_override().unwrap(), "p/m");
    entry.set_model_override(None, "m");
    assert_eq!(entry.model_override().unwrap(), "m");
    entry.set_model_override(Some("p"), "m");
    entry.clear_model_override();
    assert_eq!(entry.model_override(), None);
    assert_eq!(entry.text("providerOverride"), None);
}

#[test]
fn reset_counts_from_nothing_and_keeps_what_the_user_set() {
    let session = BackendSession {
        id: "b".to_owned(),
        through_entry_id: "e".to_owned(),
    };
    let mut entry = entry();
    entry.set("label", "a");
    for field in COUNTERS.iter().chain(&LAST_RUN) {
        entry.set(field, 5);
    }
    entry.set_backend_session("claude-cli", &session);
    entry.reset(9);
    for field in COUNTERS {
        assert_eq!(entry.get::<u64>(field), Some(0), "{field}");
    }
    for field in LAST_RUN {
        assert_eq!(entry.get::<Value>(field), None, "{field}");
    }
    assert_eq!(entry.backend_sessions(), []);
    assert_eq!(entry.label(), Some("a"));
    let flags = ["totalTokensFresh", "systemSent", "abortedLastRun"];
    let flags = flags.map(|flag| entry.get::<bool>(flag).unwrap());
    assert_eq!(flags, [true, false, false]);
    assert_eq!((entry.started_at(), entry.updated_at()), (Some(9), 9));
    let revision = entry.text("lifecycleRevision").unwrap().to_owned();
    entry.reset(9);
    assert_ne!(entry.text("lifecycleRevision"), Some(revision.as_str()));
}

#[test]
fn instructions_are_sent_with_the_first_answer_and_anew_after_a_reset() {
    let mut entry = entry();
    let is_sent = |entry: &SessionEntry| entry.get::<bool>("systemSent").unwrap_or_default();
    entry.add_usage(&Usage::default(), 0);
    assert!(!is_sent(&entry), "no model was asked");
    let turn = Usage {
        cache_read: 5,
        ..Usage::default()
    };
    entry.add_usage(&turn, 5);
    assert!(is_sent(&entry));
    entry.reset(9);
    assert!(!is_sent(&entry));
}

#[test]
fn compactions_costs_and_tokens_add_up() {
    let mut entry = entry();
    for count in 1..3 {
        entry.compacted(9);
        assert_eq!(entry.get::<u64>("compactionCount"), Some(count));
        assert_eq!(entry.get::<bool>("totalTokensFresh"), Some(false));
    }
    assert_eq!(entry.updated_at(), 9);
    entry.touch(8);
    assert_eq!(entry.updated_at(), 9);
    entry.add_cost(0.5);
    entry.add_cost(0.25);
    assert_eq!(entry.get::<f64>("estimatedCostUsd"), Some(0.75));
    let usage = Usage {
        input: 1,
        output: 2,
        cache_read: 3,
        cache_write: 4,
        ..Usage::default()
    };
    entry.add_usage(&usage, 10);
    entry.add_usage(&usage, 20);
    let fields = [
        "inputTokens",
        "outputTokens",
        "cacheRead",
        "cacheWrite",
        "totalTokens",
    ];
    let sums = fields.map(|field| entry.get::<u64>(field).unwrap());
    assert_eq!(sums, [2, 4, 6, 8, 20]);
    assert_eq!(entry.get::<bool>("totalTokensFresh"), Some(true));
}

#[test]
fn sessions_of_backends_are_kept_side_by_side() {
    let session = |id: &str| BackendSession {
        id: id.to_owned(),
        through_entry_id: "e".to_owned(),
    };
    let mut entry = entry();
    assert_eq!(entry.backend_sessions(), []);
    entry.set(BACKENDS, "broken");
    assert_eq!(entry.backend_sessions(), []);
    entry.set_backend_session("a", &session("1"));
    entry.set_backend_session("b", &session("2"));
    entry.set_backend_session("a", &session("3"));
    let expected = [("a", "3"), ("b", "2")].map(|(name, id)| (name.to_owned(), session(id)));
    assert_eq!(entry.backend_sessions(), expected);
}

#[test]
fn id_is_usable_when_it_can_be_a_file_name() {
    let is_usable = |id: &str| SessionEntry::new(id.to_owned(), "direct", 1).is_usable();
    let (longest, longer) = ("a".repeat(128), "a".repeat(129));
    for id in ["a", "A-z_9.x", &longest] {
        assert!(is_usable(id), "{id}");
    }
    for id in ["", ".a", "a/b", "a b", "\u{e4}", &longer] {
        assert!(!is_usable(id), "{id}");
    }
}

#[test]
fn time_that_was_written_as_a_fraction_is_still_a_time() {
    let read = |text: &str| serde_json::from_str::<SessionEntry>(text);
    let entry = read(r#"{"sessionId": "a", "updatedAt": 7.9}"#).unwrap();
    assert_eq!(entry.updated_at(), 7);
    let entry = read(r#"{"sessionId": "a", "updatedAt": 8}"#).unwrap();
    assert_eq!(entry.updated_at(), 8);
    assert_eq!(read(r#"{"sessionId": "a"}"#).unwrap().updated_at(), 0);
    read(r#"{"sessionId": "a", "updatedAt": "x"}"#).unwrap_err();
}
