//! `params` of agents: values that are none, and parameters that the API of no model of
//! the agent takes.

use openclaw_agent_clis::{AgentCli, ModelApi};
use openclaw_config::key::KeyPath;
use serde_json::{Map, Value};

use super::{REFERENCE, agents};

/// What a parameter is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Number,
    /// A whole number of at least this.
    Whole(i64),
    /// A text, or a list of them.
    Texts,
}

/// Which API takes a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Api {
    Messages,
    Chat,
    /// Codex asks by it.
    Responses,
}

use Api::{Chat, Messages, Responses};
use Kind::{Number, Texts, Whole};

/// The parameters, in both spellings, with what they are and who takes them.
const PARAMETERS: [(&[&str], Kind, &[Api]); 8] = [
    (&["temperature"], Number, &[Messages, Chat, Responses]),
    (&["topP", "top_p"], Number, &[Messages, Chat, Responses]),
    (&["topK", "top_k"], Whole(0), &[Messages]),
    (&["stop", "stopSequences"], Texts, &[Messages, Chat]),
    (&["seed"], Whole(i64::MIN), &[Chat]),
    (&["frequencyPenalty", "frequency_penalty"], Number, &[Chat]),
    (&["presencePenalty", "presence_penalty"], Number, &[Chat]),
    (
        &["maxTokens", "max_tokens"],
        Whole(1),
        &[Messages, Chat, Responses],
    ),
];

impl Kind {
    /// What a value is not.
    fn lack(self, value: &Value) -> Option<&'static str> {
        let is_text = |it: &Value| it.is_string();
        match self {
            Number => (!value.is_number()).then_some("is no number"),
            Whole(least) => {
                let is_one = value.as_i64().is_some_and(|it| it >= least);
                (!is_one).then_some(match least {
                    1 => "is no whole number above 0",
                    0 => "is no whole number from 0 on",
                    _ => "is no whole number",
                })
            }
            Texts => {
                let texts = value.as_array();
                let are_texts = texts.is_some_and(|all| all.iter().all(is_text));
                (!is_text(value) && !are_texts).then_some("is neither a text nor a list of texts")
            }
        }
    }
}

/// The parameters that do nothing, with the reason.
pub(super) fn idle(document: &Value) -> Vec<(KeyPath, String)> {
    let mut found = Vec::new();
    for (path, agent) in agents(document) {
        let Some(params) = agent.get("params").and_then(Value::as_object) else {
            continue;
        };
        let apis = match path.last() {
            "defaults" => apis_of_all(document),
            _ => apis(document, agent),
        };
        let path = path.child("params");
        for (names, kind, takers) in PARAMETERS {
            let why = |name: &str| why(names, kind, takers, (name, params), &apis);
            let named = names.iter().filter(|name| params.contains_key(**name));
            found.extend(named.filter_map(|name| Some((path.child(name), why(name)?))));
        }
    }
    found
}

fn why(
    names: &[&str],
    kind: Kind,
    takers: &[Api],
    (name, params): (&str, &Map<String, Value>),
    apis: &[Api],
) -> Option<String> {
    let value = params.get(name).filter(|it| !it.is_null())?;
    let is_reference = value.as_str().is_some_and(|text| text.contains(REFERENCE));
    if is_reference && !matches!(kind, Texts) {
        return None;
    }
    let first = names.iter().find(|it| params.contains_key(**it))?;
    if *first != name {
        return Some(format!("replaced by {first}, the same parameter"));
    }
    if let Some(lack) = kind.lack(value) {
        return Some(format!("the value {lack}"));
    }
    let nobody_takes = !apis.is_empty() && !apis.iter().any(|api| takers.contains(api));
    nobody_takes.then(|| {
        if apis.iter().all(|api| *api == Responses) {
            return "Codex asks by the responses API, which does not take it".to_owned();
        }
        let taker = match takers {
            [Messages] => "the messages API alone takes it",
            [Chat] => "chat completions alone take it",
            _ => "the messages API and chat completions take it",
        };
        format!("{taker}, and the agent's models are asked otherwise")
    })
}

/// The APIs by which models are asked of the agents that have the defaults; none where it
/// is not known of one of them.
fn apis_of_all(document: &Value) -> Vec<Api> {
    let mut all = Vec::new();
    for (_, agent) in agents(document) {
        let own = apis(document, agent);
        if own.is_empty() {
            return Vec::new();
        }
        all.extend(own);
    }
    all
}

/// The APIs by which the models of an agent are asked, as far as they are named.
fn apis(document: &Value, agent: &Value) -> Vec<Api> {
    let backend = agent.get("backend");
    let backend = backend.or_else(|| document.pointer("/agents/defaults/backend"));
    let cli = backend.and_then(Value::as_str).and_then(AgentCli::of_name);
    if let Some(cli) = cli {
        return vec![match cli.api {
            ModelApi::Messages => Messages,
            ModelApi::Responses => Responses,
        }];
    }
    let of_all = document.pointer("/agents/defaults/model");
    let model = agent.get("model").or(of_all);
    let model = model.or_else(|| document.pointer("/models/default"));
    let Some(model) = model else {
        return Vec::new();
    };
    let first = model.as_str().or_else(|| model.get("primary")?.as_str());
    let others = model.get("fallbacks").and_then(Value::as_array);
    let others = others.into_iter().flatten().filter_map(Value::as_str);
    let names = first.into_iter().chain(others);
    names
        .filter_map(|name| api(document, name.split_once('/')?.0))
        .collect()
}

/// The API of a provider; `None`: it is not known.
fn api(document: &Value, provider: &str) -> Option<Api> {
    let written = document
        .pointer("/models/providers")
        .and_then(|all| all.get(provider));
    match written.and_then(|it| it.get("api")).and_then(Value::as_str) {
        Some("anthropic-messages" | "anthropic") => Some(Messages),
        Some("openai-completions" | "openai-chat" | "openai") => Some(Chat),
        Some(_) => None,
        None if provider == "anthropic" => Some(Messages),
        None => (written.is_some() || provider == "openai").then_some(Chat),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(document: &Value) -> Vec<String> {
        let all = idle(document).into_iter();
        all.map(|(path, why)| format!("{path}: {why}")).collect()
    }

    #[test]
    fn params_that_are_none_are_told() {
        let params = json!({"temperature": "0.2", "topK": "5", "stop": 7, "seed": 1.5,
            "maxTokens": 0, "top_p": null});
        let document = json!({"agents": {"defaults": {"params": params}}});
        let expected = [
            "agents.defaults.params.temperature: the value is no number",
            "agents.defaults.params.topK: the value is no whole number from 0 on",
            "agents.defaults.params.stop: the value is neither a text nor a list of texts",
            "agents.defaults.params.seed: the value is no whole number",
            "agents.defaults.params.maxTokens: the value is no whole number above 0",
        ];
        assert_eq!(said(&document), expected);
        let fine = json!({"temperature": 1, "topP": 0.5, "topK": 5, "stop": ["a"], "seed": -1,
            "maxTokens": 5, "presence_penalty": "${P}"});
        assert_eq!(
            said(&json!({"agents": {"defaults": {"params": fine}}})),
            [""; 0]
        );
        let twice = json!({"agents": {"list": [{"params": {"topP": 1, "top_p": 0.5}}]}});
        let expected = "agents.list.0.params.top_p: replaced by topP, the same parameter";
        assert_eq!(said(&twice), [expected]);
    }

    #[test]
    fn params_that_no_api_of_the_agent_takes_are_told() {
        let with = |model: Value, params: Value| {
            said(&json!({
                "models": {"providers": {
                    "lm": {"api": "openai-completions"}, "claw": {"api": "anthropic-messages"}}},
                "agents": {"defaults": {"model": model}, "entries": {"a": {"params": params}}},
            }))
        };
        let top = || json!({"topK": 5, "temperature": 1});
        let expected = "agents.entries.a.params.topK: the messages API alone takes it, and the \
                        agent's models are asked otherwise";
        assert_eq!(with(json!("lm/x"), top()), [expected]);
        assert_eq!(with(json!({"primary": "openai/x"}), top()), [expected]);
        for model in [
            json!("claw/x"),
            json!("anthropic/x"),
            json!("unknown/x"),
            json!({"primary": "lm/x", "fallbacks": ["claw/x"]}),
        ] {
            assert_eq!(with(model.clone(), top()), [""; 0], "{model}");
        }
        let expected = "agents.entries.a.params.seed: chat completions alone take it, and the \
                        agent's models are asked otherwise";
        assert_eq!(with(json!("claw/x"), json!({"seed": 5})), [expected]);
    }

    #[test]
    fn params_are_judged_by_what_the_backend_asks() {
        let all = json!({"temperature": 0.5, "topK": 5, "stop": ["a"], "seed": 1,
            "frequencyPenalty": 1, "maxTokens": 9});
        let with = |backend: &str| {
            let agent = json!({"backend": backend, "model": "openai/x", "params": all});
            let told = said(&json!({"agents": {"entries": {"a": agent}}}));
            let key = |line: &String| {
                let key = line.split(':').next().unwrap_or_default();
                key.rsplit('.').next().unwrap_or_default().to_owned()
            };
            told.iter().map(key).collect::<Vec<_>>()
        };
        assert_eq!(
            with("codex-cli"),
            ["topK", "stop", "seed", "frequencyPenalty"]
        );
        assert_eq!(with("claude-cli"), ["seed", "frequencyPenalty"]);
        assert_eq!(with("native"), ["topK"]);
    }

    #[test]
    fn params_of_all_agents_are_judged_by_all_of_them() {
        let with = |agents: Value| {
            said(&json!({"agents": {
                "defaults": {"model": "openai/x", "params": {"topK": 5}}, "list": agents}}))
        };
        assert_eq!(with(json!([{"id": "a"}])).len(), 1);
        assert_eq!(with(json!([{"id": "a", "model": "anthropic/y"}])), [""; 0]);
        assert_eq!(with(json!([{"id": "a", "backend": "claude-cli"}])), [""; 0]);
        assert_eq!(with(json!([{"id": "a", "model": "unknown/y"}])), [""; 0]);
    }
}
