use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

fn texts(document: Value) -> Vec<String> {
    let problems = Schema::shipped().check(&document);
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_problem_is_found() {
    let problems = texts(json!({
        "gateway": {"port": "x", "auth": {"mode": "tokn"}},
        "agents": {"list": [{"id": "a", "maxTokens": 0}, {}]},
        "colour": 1,
    }));
    let expected = [
        "gateway.port: is \"x\"; allowed: a whole number from 0 to 65535",
        "gateway.auth.mode: is \"tokn\"; allowed: none, token, password, trusted-proxy; did you mean \"token\"?",
        "agents.list.0.maxTokens: is 0; allowed: a whole number, at least 1",
        "agents.list.1.id: is missing",
    ];
    assert_eq!(problems[..4], expected);
    assert!(
        problems[4].starts_with("colour: is not known; allowed are "),
        "{problems:?}"
    );
}

#[test]
fn alternatives_are_described_together() {
    let problems = texts(json!({"agents": {"defaults": {"model": 5}}}));
    assert_eq!(
        problems,
        ["agents.defaults.model: is 5; allowed: a string or an object { … }"]
    );
    let problems = texts(json!({"agents": {"defaults": {"model": {"primry": "x"}}}}));
    assert!(
        problems[0].contains("did you mean \"primary\"?"),
        "{problems:?}"
    );
}

#[test]
fn secrets_are_not_shown() {
    let problems = texts(json!({"gateway": {"auth": {"mode": 5, "token": ["sk-1"]}}}));
    assert!(!problems.join(" ").contains("sk-1"), "{problems:?}");
}

#[test]
fn references_are_taken_for_anything() {
    assert!(texts(json!({"gateway": {"port": "${PORT}"}})).is_empty());
}

#[test]
fn paths_lead_to_parts_of_the_schema() {
    let schema = Schema::shipped();
    let at = |path: &str| schema.at(&KeyPath::parse(path).unwrap()).cloned();
    assert_eq!(at("gateway.port").unwrap()["maximum"], 65535);
    assert!(at("models.providers.anything.baseUrl").is_some());
    assert!(at("agents.list[3].model").is_some());
    assert!(at("channels.telegram.anything.at.all").is_some());
    assert!(at("gateway.prot").is_none());
}

#[test]
fn text_becomes_what_is_allowed_there() {
    let schema = Schema::shipped();
    let typed = |path: &str, text: &str| schema.typed(&KeyPath::parse(path).unwrap(), text);
    assert_eq!(typed("gateway.port", "19000").unwrap(), json!(19000));
    assert_eq!(
        typed("gateway.auth.token", "19000").unwrap(),
        json!("19000")
    );
    assert_eq!(typed("agents.defaults.model", "a/b").unwrap(), json!("a/b"));
    assert_eq!(
        typed("agents.defaults.model", "{primary: 'a/b'}").unwrap(),
        json!({"primary": "a/b"})
    );
    assert_eq!(typed("hooks.enabled", "true").unwrap(), json!(true));
    assert!(typed("hooks.enabled", "yes").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 9: For any invalid configuration value,
    /// the Config_Manager SHALL reject it with a clear error message
    /// describing the validation failure.
    #[test]
    fn property_9_invalid_values_are_refused_by_name(
        (key, wrong) in prop_oneof![
            (Just("gateway.port"), prop_oneof![(65536..i64::MAX).prop_map(Value::from), (i64::MIN..0).prop_map(Value::from), "[a-z]{1,9}".prop_map(Value::from), any::<bool>().prop_map(Value::from)]),
            (Just("agents.defaults.maxTokens"), prop_oneof![Just(json!(0)), (-9..0i64).prop_map(Value::from), (0.1..0.9f64).prop_map(Value::from), "[a-z]{1,9}".prop_map(Value::from)]),
            (Just("agents.defaults.backend"), prop_oneof!["[b-z]{1,4}".prop_map(Value::from), any::<u8>().prop_map(Value::from), Just(json!([]))]),
            (Just("logging.level"), prop_oneof!["[b-z]{6,9}".prop_map(Value::from), any::<bool>().prop_map(Value::from), Just(json!({}))]),
            (Just("sandbox.paths.ro"), prop_oneof![Just(json!("a")), Just(json!([1])), Just(json!({"a": 1}))]),
            (Just("models.providers.x.apiKey"), prop_oneof![any::<u8>().prop_map(Value::from), Just(json!(["k"]))]),
            (Just("memory.temporalDecayHalfLife"), prop_oneof![Just(json!("7d")), Just(json!(0)), (-9.0..0.0f64).prop_map(Value::from)]),
        ]
    ) {
        let mut document = json!({});
        prop_assert!(KeyPath::parse(key).unwrap().put(&mut document, wrong.clone()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("openclaw.json");
        std::fs::write(&path, document.to_string()).unwrap();
        let environment = [("OPENCLAW_STATE_DIR", folder.path().to_str().unwrap())].into_iter().collect();
        let error = crate::load(&environment).unwrap_err().to_string();
        prop_assert!(error.contains(key), "{}", error);
        prop_assert!(error.contains("allowed"), "{}", error);
        prop_assert!(error.contains("openclaw.json:1:"), "{}", error);
    }

    /// Feature: openclaw-mvp, Property 9: For any invalid configuration value,
    /// the Config_Manager SHALL reject it with a clear error message describing
    /// the validation failure. Here: a key nobody knows is named.
    #[test]
    fn property_9_unknown_keys_are_refused_by_name(
        section in proptest::sample::select(vec!["", "gateway", "agents.defaults", "sandbox", "logging", "memory", "models"]),
        key in "x[a-z]{3,12}",
    ) {
        let path = match section { "" => key.clone(), section => format!("{section}.{key}") };
        let path = KeyPath::parse(&path).unwrap();
        let mut document = json!({});
        path.put(&mut document, json!(1));
        let problems = Schema::shipped().check(&document);
        prop_assert_eq!(problems.len(), 1);
        prop_assert_eq!(&problems[0].path, &path);
        prop_assert!(problems[0].to_string().contains("is not known"));
    }
}
