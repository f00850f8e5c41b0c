//! How the user wants a model to be asked: what is put into its requests.

use openclaw_settings::ModelParams;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Api;
use super::body::{Body, Said};
use super::tree::Tree;

/// What is put into requests, as far as the API knows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelOptions {
    /// The longest answer, in tokens; `None`: as the request says.
    most_output: Option<u32>,
    /// Fields by the names of the messages API and of chat completions.
    fields: Map<String, Value>,
    /// Whether the model takes no request to think.
    is_plain: bool,
}

/// Fields that the messages API takes.
const MESSAGES: [&str; 4] = ["temperature", "top_p", "top_k", "stop_sequences"];
/// Fields that the responses API takes.
const RESPONSES: [&str; 2] = ["temperature", "top_p"];
/// Fields that chat completions take.
const CHAT: [&str; 6] = [
    "temperature",
    "top_p",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
];
/// Fields that a model which thinks refuses.
const NOT_WITH_THINKING: [&str; 3] = ["temperature", "top_p", "top_k"];

impl ModelOptions {
    /// Of an agent's `params`, for a model that gives answers of at most
    /// `most_output` tokens and takes requests to think unless it is `plain`.
    pub fn new(params: &ModelParams, most_output: Option<u32>, is_plain: bool) -> Self {
        let stop = (!params.stop.is_empty()).then(|| json!(params.stop));
        let fields = [
            ("temperature", params.temperature.map(Value::from)),
            ("top_p", params.top_p.map(Value::from)),
            ("top_k", params.top_k.map(Value::from)),
            ("stop", stop.clone()),
            ("stop_sequences", stop),
            ("seed", params.seed.map(Value::from)),
            (
                "frequency_penalty",
                params.frequency_penalty.map(Value::from),
            ),
            ("presence_penalty", params.presence_penalty.map(Value::from)),
        ];
        let set = fields.into_iter();
        Self {
            most_output,
            fields: set
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
            is_plain,
        }
    }

    /// The same, with answers of at most so many tokens.
    pub fn at_most(&self, tokens: u64) -> Self {
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        Self {
            most_output: Some(self.most_output.map_or(tokens, |most| most.min(tokens))),
            ..self.clone()
        }
    }

    /// Puts it into a request in `api`'s form.
    pub(super) fn apply(&self, api: Api, body: &mut Body<'_>) {
        let request = &mut body.fields;
        let was_to_think = request.contains_key("thinking");
        if self.is_plain {
            for name in ["thinking", "reasoning", "reasoning_effort"] {
                request.shift_remove(name);
            }
        }
        self.bound(api, request);
        if was_to_think && !request.contains_key("thinking") {
            forget_thinking(&mut body.said);
        }
        let known: &[&str] = match api {
            Api::Anthropic | Api::Bedrock => &MESSAGES,
            Api::Responses => &RESPONSES,
            Api::Chat => &CHAT,
        };
        let thinks = thinks(request);
        for name in known {
            if let Some(value) = self.fields.get(*name)
                && !(thinks && NOT_WITH_THINKING.contains(name))
            {
                request.insert((*name).to_owned(), value.clone());
            }
        }
    }

    fn bound(&self, api: Api, request: &mut Map<String, Value>) {
        let Some(most) = self.most_output else {
            return;
        };
        let name = match api {
            Api::Anthropic | Api::Bedrock => "max_tokens",
            Api::Responses => "max_output_tokens",
            Api::Chat if request.contains_key("max_completion_tokens") => "max_completion_tokens",
            Api::Chat => "max_tokens",
        };
        let asked = request.get(name).and_then(Value::as_u64);
        if asked.is_none_or(|asked| asked > u64::from(most)) {
            request.insert(name.to_owned(), most.into());
        }
        // What is thought counts among the tokens, and must leave half of them.
        let most = u64::from(most);
        let thinking = request.get_mut("thinking").and_then(Value::as_object_mut);
        let Some(budget) = thinking.and_then(|it| it.get_mut("budget_tokens")) else {
            return;
        };
        if budget.as_u64().is_some_and(|asked| asked >= most) {
            *budget = (most / 2).into();
        }
        // Less than this no model thinks with (Anthropic's least).
        if budget.as_u64().is_some_and(|left| left < LEAST_THINKING) {
            request.shift_remove("thinking");
        }
    }
}

/// The least budget of thinking that Anthropic's Messages API takes, in tokens.
const LEAST_THINKING: u64 = 1_024;

/// What a message says that was nothing but thinking; without a word the
/// provider refuses it. The words are OpenClaw's.
const OMITTED: &str = "[assistant reasoning omitted]";

/// Takes out of a request of the messages API what the model thought before: it
/// takes that only where it is to think again.
fn forget_thinking(said: &mut Said<'_>) {
    let messages = said.get_mut("messages").and_then(Tree::items_mut);
    for message in messages.into_iter().flatten() {
        let Some(blocks) = message.get_mut("content").and_then(Tree::items_mut) else {
            continue;
        };
        let before = blocks.len();
        blocks.retain(|block| {
            let kind = block.get("type").and_then(Tree::as_str);
            !matches!(kind, Some("thinking" | "redacted_thinking"))
        });
        if before > 0 && blocks.is_empty() {
            blocks.push(Tree::of_texts([("type", "text"), ("text", OMITTED)]));
        }
    }
}

/// Whether the request has the model think.
fn thinks(request: &Map<String, Value>) -> bool {
    let kind = request.get("thinking").and_then(|it| it.get("type"));
    let is_asked = kind.is_some_and(|kind| kind != "disabled");
    is_asked
        || ["reasoning", "reasoning_effort"]
            .iter()
            .any(|name| request.get(*name).is_some_and(|value| !value.is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(wanted: &ModelOptions, api: Api, request: Value) -> Value {
        let text = request.to_string();
        let mut body = serde_json::from_str(&text).unwrap();
        wanted.apply(api, &mut body);
        serde_json::to_value(&body).unwrap()
    }

    #[test]
    fn options_each_api_gets_the_fields_that_it_knows() {
        let params = ModelParams {
            temperature: Some(0.5),
            top_k: Some(7),
            stop: vec!["END".to_owned()],
            seed: Some(3),
            ..ModelParams::default()
        };
        let wanted = ModelOptions::new(&params, Some(100), false);
        let messages = applied(&wanted, Api::Anthropic, json!({"max_tokens": 4096}));
        let expected = json!({
            "max_tokens": 100, "temperature": 0.5, "top_k": 7, "stop_sequences": ["END"],
        });
        assert_eq!(messages, expected);
        let chat = applied(&wanted, Api::Chat, json!({"max_completion_tokens": 50}));
        let expected = json!({
            "max_completion_tokens": 50, "temperature": 0.5, "stop": ["END"], "seed": 3,
        });
        assert_eq!(chat, expected);
        let responses = applied(&wanted, Api::Responses, json!({}));
        assert_eq!(
            responses,
            json!({"max_output_tokens": 100, "temperature": 0.5})
        );
    }

    #[test]
    fn thinking_fits_the_answer_and_the_model() {
        let thinking = json!({"type": "enabled", "budget_tokens": 2048});
        let request = json!({"max_tokens": 10_000, "thinking": thinking});
        let warm = ModelParams {
            temperature: Some(0.5),
            ..ModelParams::default()
        };
        let kept = applied(
            &ModelOptions::new(&warm, None, false),
            Api::Anthropic,
            request.clone(),
        );
        assert_eq!(kept, request);
        let short = applied(
            &ModelOptions::new(&warm, Some(2000), false),
            Api::Anthropic,
            request.clone(),
        );
        assert_eq!(short, json!({"max_tokens": 2000, "temperature": 0.5}));
        let plain = applied(
            &ModelOptions::new(&warm, None, true),
            Api::Anthropic,
            request,
        );
        assert_eq!(plain, json!({"max_tokens": 10_000, "temperature": 0.5}));
    }

    #[test]
    fn thinking_is_not_sent_back_to_a_model_that_is_not_to_think() {
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let hidden = json!({"type": "redacted_thinking", "data": "d"});
        let said = json!({"type": "text", "text": "hi"});
        let request = json!({
            "thinking": {"type": "enabled", "budget_tokens": 2048},
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": [thought, said]},
                {"role": "assistant", "content": [hidden]},
            ],
        });
        let thinks = ModelOptions::new(&ModelParams::default(), None, false);
        assert_eq!(applied(&thinks, Api::Anthropic, request.clone()), request);
        let plain = ModelOptions::new(&ModelParams::default(), None, true);
        let sent = applied(&plain, Api::Anthropic, request);
        let omitted = json!({"type": "text", "text": OMITTED});
        let expected = json!([
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [said]},
            {"role": "assistant", "content": [omitted]},
        ]);
        assert_eq!(sent["messages"], expected);
    }
}
