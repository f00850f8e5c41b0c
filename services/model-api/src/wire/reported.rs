//! What a provider says that an answer used, in any API's words.

use openclaw_proto::event::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::Api;

/// Part of every event and answer that says what was used. Others are not
/// parsed: most of a stream is text.
const MARK: &[u8] = b"\"usage\"";
/// The same of Bedrock, at the end of a stream.
const METRICS: &[u8] = b"amazon-bedrock-invocationMetrics";

/// An event of a stream, or a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Report {
    usage: Option<Tokens>,
    /// Of the responses API, in a whole answer. Not typed either.
    output: Value,
    /// Of the Messages API, at the beginning of a stream.
    message: Option<Inner>,
    /// Of the responses API, at the end of one.
    response: Option<Inner>,
    #[serde(rename = "amazon-bedrock-invocationMetrics")]
    metrics: Option<Metrics>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Inner {
    usage: Option<Tokens>,
    output: Value,
}

/// Not typed as numbers: one that is none is no reason to lose the others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Value,
    output_tokens: Value,
    cache_read_input_tokens: Value,
    cache_creation_input_tokens: Value,
    cache_creation: Value,
    server_tool_use: Value,
    input_tokens_details: Value,
    prompt_tokens: Value,
    completion_tokens: Value,
    prompt_tokens_details: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metrics {
    input_token_count: Value,
    output_token_count: Value,
    cache_read_input_token_count: Value,
    cache_write_input_token_count: Value,
}

/// What is charged for beside the tokens of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// Searches of the web that the provider made.
    pub searches: u64,
    /// Tokens written to the provider's cache for an hour and not for five minutes.
    pub kept_for_an_hour: u64,
}

/// What is known of an answer's tokens so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reported {
    pub(super) usage: Usage,
    /// What was sent is known.
    pub(super) has_input: bool,
    /// What was generated is known, to the end.
    pub(super) is_whole: bool,
    pub(super) extras: Extras,
}

impl Reported {
    /// Takes note of an event of a stream, or of a whole answer.
    pub(super) fn read(&mut self, api: Api, json: &[u8]) {
        let has = |mark: &[u8]| json.windows(mark.len()).any(|part| part == mark);
        if !has(MARK) && !has(METRICS) {
            return;
        }
        let Ok(report) = serde_json::from_slice::<Report>(json) else {
            return;
        };
        let inner = report.response.iter().map(|response| &response.output);
        let items = inner
            .chain([&report.output])
            .filter_map(Value::as_array)
            .flatten();
        let searches = items
            .filter(|item| item["type"] == "web_search_call")
            .count();
        self.extras.searches = self.extras.searches.max(searches as u64);
        if let Some(tokens) = report.message.and_then(|message| message.usage) {
            // The beginning: what is generated comes later.
            self.add(api, &tokens, false);
        }
        let ended = report.response.and_then(|response| response.usage);
        if let Some(tokens) = report.usage.or(ended) {
            self.add(api, &tokens, true);
        }
        if let Some(metrics) = report.metrics {
            self.add(api, &metrics.into(), true);
        }
    }

    /// Counts go up: each tells the sum so far.
    fn add(&mut self, api: Api, tokens: &Tokens, is_whole: bool) {
        let most = |known: u64, told: &Value| known.max(told.as_u64().unwrap_or_default());
        let usage = &mut self.usage;
        let searches = &tokens.server_tool_use["web_search_requests"];
        self.extras.searches = most(self.extras.searches, searches);
        if api.is_messages() {
            self.has_input |= tokens.input_tokens.is_u64();
            usage.input = most(usage.input, &tokens.input_tokens);
            usage.output = most(usage.output, &tokens.output_tokens);
            usage.cache_read = most(usage.cache_read, &tokens.cache_read_input_tokens);
            usage.cache_write = most(usage.cache_write, &tokens.cache_creation_input_tokens);
            let for_an_hour = &tokens.cache_creation["ephemeral_1h_input_tokens"];
            let for_an_hour = most(self.extras.kept_for_an_hour, for_an_hour);
            self.extras.kept_for_an_hour = for_an_hour;
            // They are a part of what is written, whether or not that is told too.
            usage.cache_write = usage.cache_write.max(for_an_hour);
            self.is_whole |= is_whole && tokens.output_tokens.is_u64();
            return;
        }
        // Here what came from the cache is a part of what was sent.
        let (sent, details, generated) = if tokens.input_tokens.is_u64() {
            (
                &tokens.input_tokens,
                &tokens.input_tokens_details,
                &tokens.output_tokens,
            )
        } else {
            (
                &tokens.prompt_tokens,
                &tokens.prompt_tokens_details,
                &tokens.completion_tokens,
            )
        };
        let sent = sent.as_u64();
        let cached = details["cached_tokens"].as_u64().unwrap_or_default();
        let cached = cached.min(sent.unwrap_or_default());
        self.has_input |= sent.is_some();
        usage.cache_read = usage.cache_read.max(cached);
        usage.input = usage.input.max(sent.unwrap_or_default() - cached);
        usage.output = most(usage.output, generated);
        self.is_whole |= is_whole && generated.is_u64();
    }
}

impl From<Metrics> for Tokens {
    fn from(metrics: Metrics) -> Self {
        Self {
            input_tokens: metrics.input_token_count,
            output_tokens: metrics.output_token_count,
            cache_read_input_tokens: metrics.cache_read_input_token_count,
            cache_creation_input_tokens: metrics.cache_write_input_token_count,
            ..Self::default()
        }
    }
}
