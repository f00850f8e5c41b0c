//! Who an agent is, and how its model is asked.

use serde_json::{Map, Value};

use crate::keys::{Agent, Identity};

/// Who an agent is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Persona {
    /// What it is called.
    pub name: Option<String>,
    /// What it is like.
    pub theme: Option<String>,
    /// Its sign.
    pub emoji: Option<String>,
    /// Its picture, for clients.
    pub avatar: Option<String>,
    /// What it is told beside everything else.
    pub instructions: Option<String>,
    /// What it is told in place of everything else.
    pub whole_prompt: Option<String>,
}

impl Persona {
    pub(super) fn of(agent: &Agent) -> Self {
        let Identity {
            name,
            theme,
            emoji,
            avatar,
        } = agent.identity.clone();
        let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        Self {
            name: said(&name).or_else(|| said(&agent.name)),
            theme: said(&theme),
            emoji: said(&emoji),
            avatar: said(&avatar),
            instructions: said(&agent.system_prompt),
            whole_prompt: said(&agent.system_prompt_override),
        }
    }
}

/// `params`: what a model is asked with beside the conversation. `None`: as the
/// provider has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelParams {
    /// `temperature`.
    pub temperature: Option<f64>,
    /// `topP`.
    pub top_p: Option<f64>,
    /// `topK`; Anthropic's alone.
    pub top_k: Option<u64>,
    /// `stop`: the words that end an answer.
    pub stop: Vec<String>,
    /// `seed`; of chat completions alone.
    pub seed: Option<i64>,
    /// `frequencyPenalty`; of chat completions alone.
    pub frequency_penalty: Option<f64>,
    /// `presencePenalty`; of chat completions alone.
    pub presence_penalty: Option<f64>,
}

impl ModelParams {
    /// What is known of `params`, in OpenClaw's spelling and in the APIs'.
    pub(super) fn of(params: &Map<String, Value>) -> Self {
        let get = |names: [&str; 2]| names.into_iter().find_map(|name| params.get(name));
        let number = |names| get(names).and_then(Value::as_f64);
        let stop = match get(["stop", "stopSequences"]) {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(texts)) => {
                let texts = texts.iter().filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        Self {
            temperature: params.get("temperature").and_then(Value::as_f64),
            top_p: number(["topP", "top_p"]),
            top_k: get(["topK", "top_k"]).and_then(Value::as_u64),
            stop,
            seed: params.get("seed").and_then(Value::as_i64),
            frequency_penalty: number(["frequencyPenalty", "frequency_penalty"]),
            presence_penalty: number(["presencePenalty", "presence_penalty"]),
        }
    }

    /// The longest answer that `params` name.
    pub(super) fn max_tokens(params: &Map<String, Value>) -> Option<u32> {
        let named = ["maxTokens", "max_tokens"].into_iter();
        let tokens = named.filter_map(|name| params.get(name)).next()?.as_u64()?;
        u32::try_from(tokens).ok().filter(|tokens| *tokens > 0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: Value) -> ModelParams {
        ModelParams::of(value.as_object().unwrap())
    }

    #[test]
    fn parameters_are_known_in_both_spellings() {
        let expected = ModelParams {
            temperature: Some(0.5),
            top_p: Some(0.25),
            top_k: Some(3),
            stop: vec!["a".to_owned(), "b".to_owned()],
            seed: Some(-7),
            frequency_penalty: Some(0.75),
            presence_penalty: Some(-0.5),
        };
        let ours = json!({"temperature": 0.5, "topP": 0.25, "topK": 3, "stop": ["a", "b", 5],
            "seed": -7, "frequencyPenalty": 0.75, "presencePenalty": -0.5});
        let apis = json!({"temperature": 0.5, "top_p": 0.25, "top_k": 3, "seed": -7,
            "stopSequences": ["a", "b"], "frequency_penalty": 0.75, "presence_penalty": -0.5});
        assert_eq!(params(ours), expected);
        assert_eq!(params(apis), expected);
        assert_eq!(params(json!({})), ModelParams::default());
        assert_eq!(params(json!({"stop": "end"})).stop, ["end"]);
        assert_eq!(params(json!({"stop": 5})).stop, [""; 0]);
    }

    #[test]
    fn longest_answer_is_a_number_above_nothing() {
        let most = |value: Value| ModelParams::max_tokens(value.as_object().unwrap());
        assert_eq!(most(json!({"maxTokens": 5})), Some(5));
        assert_eq!(most(json!({"max_tokens": 6})), Some(6));
        assert_eq!(most(json!({"max_tokens": 6, "maxTokens": 5})), Some(5));
        for value in [json!(0), json!(-1), json!("5"), json!(4_294_967_296_u64)] {
            assert_eq!(most(json!({ "maxTokens": value })), None);
        }
        assert_eq!(most(json!({})), None);
    }
}
