//! Properties 7 to 9 of seed 002, for every key there is: the keys are those
//! of the shipped schema, so that a new one is held to them by itself.

use std::fs;
use std::sync::LazyLock;

use openclaw_config::environment::Environment;
use openclaw_config::key::KeyPath;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::alias;
use openclaw_config::schema::Schema;
use openclaw_config::substitute::Missing;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::defaults;
use crate::document;
use crate::keys::{Agent, Fragment};
use crate::settings::{MAX_TOKENS, Settings};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(openclaw_config::schema::TEXT).unwrap());

/// Wrong kinds that each key is tried with: reading a file takes a while.
const KINDS: usize = 3;

/// Keys that have an effect and may hold anything.
const UNTYPED: [&str; 0] = [];

/// What the schema says of keys that are only kept.
const KEPT: &str = "Of OpenClaw; kept";

/// Keys without a default, each with what happens then. Nothing that is
/// required may stand here.
const WITHOUT_DEFAULT: [(&str, &str); 47] = [
    ("channels", "nobody is reached there"),
    ("$schema", "is for editors"),
    ("agent", "the MVP's names of agents.defaults"),
    ("agents.defaults.heartbeat", "there is none"),
    ("agents.defaults.identity", "a nameless assistant"),
    ("cron.failureAlert", "as each job says"),
    ("cron.webhookToken", "receivers are told none"),
    (
        "agents.defaults.memory",
        "agents.defaults.memorySearch holds them",
    ),
    (
        "agents.defaults.memorySearch.rememberAcrossConversations",
        "by session.dmScope",
    ),
    ("agents.defaults.name", "a nameless assistant"),
    ("agents.defaults.params", "as the provider has them"),
    ("agents.defaults.systemPrompt", "nothing more is said"),
    (
        "agents.defaults.systemPromptOverride",
        "what every agent is told",
    ),
    (
        "agents.defaults.memorySearch.local",
        "the folder is the provider's",
    ),
    ("agents.defaults.memorySearch.model", "the provider's own"),
    (
        "agents.defaults.memorySearch.query.hybrid.temporalDecay.halfLifeDays",
        "memory.temporalDecayHalfLife",
    ),
    (
        "agents.defaults.memorySearch.query.hybrid.textWeight",
        "as measured",
    ),
    (
        "agents.defaults.memorySearch.query.hybrid.vectorWeight",
        "as measured",
    ),
    (
        "agents.defaults.memorySearch.remote",
        "as for the provider's other models",
    ),
    (
        "agents.defaults.model",
        "models.default, else the first usable provider's",
    ),
    ("agents.defaults.tools", "what tools says"),
    (
        "agents.defaults.sandbox",
        "what sandbox says for all agents",
    ),
    ("agents.entries", "is agents.list by id"),
    ("gateway.auth.password", "there is none"),
    ("gateway.auth.token", "one is made at the first start"),
    ("gateway.cli.secret", "the port is closed"),
    ("gateway.customBindHost", "only for bind custom"),
    ("hooks.allowedAgentIds", "all agents"),
    ("hooks.allowedSessionKeyPrefixes", "keys begin in any way"),
    ("hooks.defaultSessionKey", "each call has its own"),
    ("hooks.token", "hooks are off"),
    ("memory.search", "agents.defaults.memorySearch holds them"),
    ("memory.workspacePath", "agents.defaults.workspace"),
    ("models.default", "the first usable provider's"),
    ("sandbox.level", "the strictest that the machine gives"),
    ("session.idleMinutes", "is session.reset.idleMinutes"),
    ("session.maintenance", "nothing is archived or removed"),
    ("session.reset", "never, unless a mode says so"),
    ("tools.exec.ask", "as the sandbox makes reasonable"),
    ("tools.exec.timeoutSec", "as whoever runs it has it"),
    ("tools.exec.timeoutSeconds", "is tools.exec.timeoutSec"),
    ("tools.fs.workspaceOnly", "as the sandbox shows"),
    ("tools.web.fetch.enabled", "as the sandbox grants"),
    ("tools.web.search.enabled", "as the sandbox grants"),
    ("tools.exec.mode", "OpenClaw's for tools.exec.ask"),
    ("tools.exec.safeBins", "cut, uniq, head, tail, tr and wc"),
    ("tools.exec.security", "OpenClaw's for tools.exec.ask"),
];

/// Takes away that a value was chosen which is the default.
pub(crate) fn forget_choices(settings: &mut Settings) {
    settings.stated = Fragment::default();
    settings.memory.is_context_set = false;
    settings.queue.forget_choices();
    for agent in settings.agents.values_mut() {
        agent.max_tokens = agent.max_tokens.filter(|tokens| *tokens != MAX_TOKENS);
        agent.stated = Agent::default();
    }
}

/// A key that can be set, and what may be there.
#[derive(Debug, Clone)]
struct Leaf {
    path: KeyPath,
    node: Value,
    /// Below a map or list, whose keys are the user's.
    is_named_by_user: bool,
    /// Of OpenClaw's, and without an effect here.
    is_kept: bool,
}

/// Those that have an effect.
fn leaves() -> Vec<Leaf> {
    let mut leaves = all_leaves();
    leaves.retain(|leaf| !leaf.is_kept);
    leaves
}

fn all_leaves() -> Vec<Leaf> {
    let schema = Schema::shipped();
    let mut leaves = Vec::new();
    descend(schema, &KeyPath::default(), (false, false), &mut leaves);
    leaves
}

fn descend(
    schema: &Schema,
    path: &KeyPath,
    (is_named_by_user, is_kept): (bool, bool),
    leaves: &mut Vec<Leaf>,
) {
    let node = schema.at(path).cloned().unwrap_or_default();
    let objects: Vec<&Value> = match node.get("anyOf").and_then(Value::as_array) {
        Some(either) => either.iter().collect(),
        None => vec![&node],
    };
    let properties = objects
        .iter()
        .find_map(|node| node.get("properties")?.as_object());
    let is_choice = objects.len() > 1 && objects[0].get("$ref").is_none();
    match properties {
        Some(properties) if !is_choice => {
            for (key, child) in properties {
                let description = child.get("description").and_then(Value::as_str);
                let is_kept = is_kept || description.is_some_and(|text| text.starts_with(KEPT));
                descend(
                    schema,
                    &path.child(key),
                    (is_named_by_user, is_kept),
                    leaves,
                );
            }
        }
        _ => {
            let named = node
                .get("additionalProperties")
                .is_some_and(Value::is_object);
            leaves.push(Leaf {
                path: path.clone(),
                node,
                is_named_by_user,
                is_kept,
            });
            if named && path.parts().len() < 4 {
                descend(schema, &path.child("x"), (true, is_kept), leaves);
            }
        }
    }
}

/// A value that is allowed there, another one for most other seeds; none for
/// what only has a meaning together with other keys.
fn value(node: &Value, seed: u64) -> Option<Value> {
    let node = match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let name = reference.strip_prefix("#/$defs/")?;
            return value(&SCHEMA["$defs"][name], seed);
        }
        None => node,
    };
    for word in ["anyOf", "oneOf"] {
        if let Some(either) = node.get(word).and_then(Value::as_array) {
            return either.iter().find_map(|node| value(node, seed));
        }
    }
    if let Some(words) = node.get("enum").and_then(Value::as_array) {
        let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
        return Some(words[seed as usize % words.len()].clone());
    }
    if let Some(word) = node.get("const") {
        return Some(word.clone());
    }
    let kind = match node.get("type")? {
        Value::Array(names) => names.first()?.as_str()?,
        name => name.as_str()?,
    };
    let bound = |name: &str| node.get(name).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|least| least + 0.25));
    let most = bound("maximum").unwrap_or(f64::MAX).min(50_000.0);
    let least = least.unwrap_or(0.0);
    match kind {
        "boolean" => Some(json!(seed.is_multiple_of(2))),
        "integer" => {
            let steps = (most - least) as u64 + 1;
            Some(json!(least as u64 + seed % steps))
        }
        "number" => {
            let steps = ((most - least) * 4.0) as u64 + 1;
            Some(json!(least + (seed % steps) as f64 / 4.0))
        }
        // A path, so that it is right where one is wanted.
        "string" => Some(json!(format!("/v{seed}"))),
        "array" => {
            let item = value(node.get("items")?, seed)?;
            (!item.is_object()).then(|| json!([item]))
        }
        "object" => {
            let item = value(node.get("additionalProperties")?, seed)?;
            (!item.is_object()).then(|| json!({"x": item}))
        }
        _ => None,
    }
}

/// `agents.defaults.maxTokens` as `OPENCLAW__AGENTS__DEFAULTS__MAX_TOKENS`.
fn variable(path: &KeyPath) -> String {
    let mut name = "OPENCLAW".to_owned();
    for part in path.parts() {
        name.push_str("__");
        for c in part.chars() {
            if c.is_uppercase() {
                name.push('_');
            }
            name.extend(c.to_uppercase());
        }
    }
    name
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether JSON Schema, as a library of others understands it, admits `value`.
fn is_admitted(leaf: &Leaf, value: &Value) -> bool {
    let mut schema = leaf.node.clone();
    if let Value::Object(fields) = &mut schema {
        fields.insert("$defs".to_owned(), SCHEMA["$defs"].clone());
    }
    jsonschema::is_valid(&schema, value)
}

/// A value of each kind; no null, which takes a key away, and no `$`, which
/// stands for something else.
fn any_value() -> impl Strategy<Value = Value> {
    let simple = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6f64).prop_map(Value::from),
        "[a-z ]{0,12}".prop_map(Value::from),
    ];
    simple.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("q[a-z]{1,6}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A file with `value` there is refused, and the message says where, and what
/// would be right.
fn is_refused_by_name(leaf: &Leaf, value: &Value) -> Result<(), String> {
    let mut written = Value::Object(Map::new());
    if !leaf.path.put(&mut written, value.clone()) {
        return Err(format!("{} cannot be put anywhere", leaf.path));
    }
    let place = Place::new(&written.to_string());
    let Err(error) = crate::load(&place.environment()) else {
        return Err(format!("{} is taken with {value}", leaf.path));
    };
    let text = error.to_string();
    let helps = ["allowed", "is missing"]
        .iter()
        .any(|word| text.contains(word));
    let says_where = text.contains(&format!("{}", leaf.path)) && text.contains("openclaw.json:1:");
    if helps && says_where {
        Ok(())
    } else {
        Err(format!("{} with {value}: {text}", leaf.path))
    }
}

struct Place {
    _folder: tempfile::TempDir,
    paths: Paths,
    variables: Vec<(String, String)>,
}

impl Place {
    fn new(file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap().to_owned();
        let variables = vec![("OPENCLAW_STATE_DIR".to_owned(), state)];
        let environment: Environment = variables.iter().cloned().collect();
        let paths = Paths::resolve(&environment).unwrap();
        fs::write(&paths.configuration, file).unwrap();
        Self {
            _folder: folder,
            paths,
            variables,
        }
    }

    fn environment(&self) -> Environment {
        self.variables.iter().cloned().collect()
    }

    fn value(&self, path: &KeyPath, environment: &Environment) -> Option<Value> {
        let file = &self.paths.configuration;
        let document = document::load(file, environment, Missing::Refused).unwrap();
        alias::get(path, &defaults::apply(document.value, &self.paths))
    }

    fn settings(&self) -> Settings {
        let mut settings = crate::load(&self.environment()).unwrap();
        // Whether a value was chosen or is the default is no setting.
        settings.gateway.port_is_chosen = false;
        settings
    }
}

/// The default of every key, as parts of a file.
fn default_leaves(place: &Place) -> Vec<(KeyPath, Value)> {
    fn collect(path: &KeyPath, value: &Value, all: &mut Vec<(KeyPath, Value)>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    collect(&path.child(key), value, all);
                }
            }
            _ => all.push((path.clone(), value.clone())),
        }
    }
    let mut all = Vec::new();
    let defaults = defaults::apply(json!({}), &place.paths);
    collect(&KeyPath::default(), &defaults, &mut all);
    all
}

#[test]
fn keys_are_all_there() {
    let leaves = leaves();
    let has = |path: &str| {
        leaves
            .iter()
            .any(|leaf| leaf.path == KeyPath::parse(path).unwrap())
    };
    for path in [
        "gateway.port",
        "session.dmScope",
        "agent.model",
        "models.providers.x.baseUrl",
    ] {
        assert!(has(path), "{path}");
    }
    assert!(!has("channels") && leaves.len() > 90, "{}", leaves.len());
}

/// Feature: openclaw-mvp, Property 9: For any invalid configuration value, the
/// Config_Manager SHALL reject it with a clear error message describing the
/// validation failure. Here: every key, with values of wrong kinds.
#[test]
fn property_9_every_key_refuses_wrong_kinds() {
    let kinds = [
        json!(true),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!("no such word"),
        json!([]),
        json!([true]),
        json!({"qq": true}),
    ];
    let (mut problems, mut refused, mut open) = (Vec::new(), 0, Vec::new());
    let leaves = all_leaves();
    for leaf in &leaves {
        let wrong = kinds.iter().filter(|kind| !is_admitted(leaf, kind));
        let wrong: Vec<&Value> = wrong.take(KINDS).collect();
        if wrong.is_empty() {
            open.push(leaf.path.to_string());
        }
        let results = wrong
            .into_iter()
            .map(|value| is_refused_by_name(leaf, value));
        let before = problems.len();
        let count = results.map(|result| problems.extend(result.err())).count();
        refused += count - (problems.len() - before);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(refused > leaves.len(), "{refused}");
    let with_effect = leaves.iter().filter(|leaf| !leaf.is_kept);
    let untyped: Vec<String> = with_effect
        .map(|leaf| leaf.path.to_string())
        .filter(|path| open.contains(path))
        .collect();
    assert_eq!(untyped, UNTYPED, "keys that take anything");
}

/// Feature: openclaw-mvp, Property 8: For any required configuration setting, a
/// default value SHALL exist such that the system can start with an empty
/// configuration file. Keys without one are named above.
#[test]
fn property_8_every_key_has_a_default_or_needs_none() {
    let place = Place::new("");
    let defaults = defaults::apply(json!({}), &place.paths);
    let needs_none = |path: &KeyPath| {
        let named = WITHOUT_DEFAULT
            .iter()
            .map(|(key, _)| KeyPath::parse(key).unwrap());
        named.into_iter().any(|key| path.starts_with(&key))
    };
    let leaves = leaves().into_iter().filter(|leaf| !leaf.is_named_by_user);
    let missing: Vec<String> = leaves
        .filter(|leaf| leaf.path.get(&defaults).is_none() && !needs_none(&leaf.path))
        .map(|leaf| leaf.path.to_string())
        .collect();
    assert!(
        missing.is_empty(),
        "add them to keys.rs or to WITHOUT_DEFAULT: {missing:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 7: For any configuration key,
    /// if an environment variable is set, its value SHALL override the
    /// file-based value; if not set, the file value SHALL override the default.
    /// What the command line says comes before both.
    #[test]
    fn property_7_environment_over_file_over_default(
        leaf in proptest::sample::select(leaves()),
        of_file in proptest::option::of(0u64..1000),
        of_environment in proptest::option::of(0u64..1000),
        of_command_line in proptest::option::weighted(0.2, 0u64..1000),
    ) {
        let value = |seed: Option<u64>| seed.and_then(|seed| value(&leaf.node, seed));
        let (file, set, passed) = (value(of_file), value(of_environment), value(of_command_line));
        let mut written = Value::Object(Map::new());
        if let Some(value) = &file {
            prop_assert!(leaf.path.put(&mut written, value.clone()));
        }
        let mut place = Place::new(&written.to_string());
        if let Some(value) = &set {
            place.variables.push((variable(&leaf.path), text(value)));
        }
        let passes = passed.iter().map(|value| (leaf.path.to_string(), text(value)));
        let environment = place.environment().overridden(passes);
        let default = {
            let defaults = defaults::apply(json!({}), &place.paths);
            alias::get(&leaf.path, &defaults)
        };
        // 1.0 is 1 in a file.
        let expected = passed.or(set).or(file).or(default).map(openclaw_config::parse::whole_numbers);
        let used = place.value(&leaf.path, &environment).map(openclaw_config::parse::whole_numbers);
        prop_assert_eq!(used, expected, "{}", leaf.path);
    }

    /// Feature: openclaw-mvp, Property 9: For any invalid configuration value,
    /// the Config_Manager SHALL reject it with a clear error message describing
    /// the validation failure.
    #[test]
    fn property_9_any_value_of_a_wrong_form_is_refused(
        leaf in proptest::sample::select(all_leaves()),
        values in proptest::collection::vec(any_value(), 1..12),
    ) {
        if let Some(value) = values.iter().find(|value| !is_admitted(&leaf, value)) {
            let refused = is_refused_by_name(&leaf, value);
            prop_assert!(refused.is_ok(), "{:?}", refused);
        }
    }

    /// Feature: openclaw-mvp, Property 8: For any required configuration
    /// setting, a default value SHALL exist such that the system can start with
    /// an empty configuration file, or with any part of a whole one.
    #[test]
    fn property_8_any_part_of_the_defaults_is_enough(
        chosen in proptest::collection::vec(any::<bool>(), 200),
        empty in proptest::sample::select(vec!["", " \n\t", "{}", "// nothing\n", "{ /* nothing */ }", "\u{feff}{}"]),
    ) {
        let nothing = Place::new(empty);
        let mut written = Value::Object(Map::new());
        let leaves = default_leaves(&nothing);
        prop_assert!(leaves.len() < chosen.len());
        for ((path, value), _) in leaves.into_iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            prop_assert!(path.put(&mut written, value));
        }
        let some = Place::new(&written.to_string());
        let mut settings = some.settings();
        let mut expected = nothing.settings();
        forget_choices(&mut expected);
        // Each is in a folder of its own.
        prop_assert_eq!(settings.agents.len(), expected.agents.len());
        settings.paths.clone_from(&expected.paths);
        settings.written.clone_from(&expected.written);
        forget_choices(&mut settings);
        for (id, agent) in &mut settings.agents {
            agent.workspace.clone_from(&expected.agents[id].workspace);
        }
        prop_assert_eq!(settings, expected);
    }

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
}
