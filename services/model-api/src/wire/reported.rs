//! What a provider says that an answer used, in any API's words.

use openclaw_proto::event::Usage;
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::Api;
use super::lenient::{self, Lenient, Read};

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
    /// Of the responses API, in a whole answer.
    #[serde(deserialize_with = "lenient::read")]
    output: Searches,
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
    #[serde(deserialize_with = "lenient::read")]
    output: Searches,
}

/// Read leniently: one that is no number is no reason to lose the others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(deserialize_with = "lenient::read")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    cache_creation: Details,
    #[serde(deserialize_with = "lenient::read")]
    server_tool_use: Details,
    #[serde(deserialize_with = "lenient::read")]
    input_tokens_details: Details,
    #[serde(deserialize_with = "lenient::read")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    prompt_tokens_details: Details,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metrics {
    #[serde(deserialize_with = "lenient::read")]
    input_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    output_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    cache_read_input_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient::read")]
    cache_write_input_token_count: Option<u64>,
}

/// What the parts of `usage` say that are objects.
#[derive(Debug, Clone, Copy, Default)]
struct Details {
    cached_tokens: Option<u64>,
    ephemeral_1h_input_tokens: Option<u64>,
    web_search_requests: Option<u64>,
}

impl Lenient for Details {
    fn object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut details = Self::default();
        while let Some(Read(Name(name))) = object.next_key()? {
            let count = match name {
                "cached_tokens" => &mut details.cached_tokens,
                "ephemeral_1h_input_tokens" => &mut details.ephemeral_1h_input_tokens,
                "web_search_requests" => &mut details.web_search_requests,
                _ => {
                    object.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            Read(*count) = object.next_value()?;
        }
        Ok(details)
    }
}

/// A word, if it is one of those that are looked for.
#[derive(Debug, Default)]
struct Name(&'static str);

const NAMES: [&str; 5] = [
    "cached_tokens",
    "ephemeral_1h_input_tokens",
    "type",
    "web_search_call",
    "web_search_requests",
];

impl Lenient for Name {
    fn text(text: &str) -> Self {
        let known = NAMES.iter().find(|name| **name == text);
        Self(known.copied().unwrap_or_default())
    }
}

/// Searches of the web among the items of an answer.
#[derive(Debug, Clone, Copy, Default)]
struct Searches(u64);

impl Lenient for Searches {
    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut searches = 0;
        while let Some(Read(Item { is_search })) = list.next_element()? {
            searches += u64::from(is_search);
        }
        Ok(Self(searches))
    }
}

/// An item of an answer.
#[derive(Debug, Default)]
struct Item {
    is_search: bool,
}

impl Lenient for Item {
    fn object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut item = Self::default();
        while let Some(Read(Name(name))) = object.next_key()? {
            if name == "type" {
                let Read(Name(kind)) = object.next_value()?;
                item.is_search = kind == "web_search_call";
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(item)
    }
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
        let Searches(searches) = report.output;
        let inner = report.response.as_ref().map(|response| response.output.0);
        let searches = searches.saturating_add(inner.unwrap_or_default());
        self.extras.searches = self.extras.searches.max(searches);
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
        let most = |known: u64, told: Option<u64>| known.max(told.unwrap_or_default());
        let usage = &mut self.usage;
        let searches = tokens.server_tool_use.web_search_requests;
        self.extras.searches = most(self.extras.searches, searches);
        if api.is_messages() {
            self.has_input |= tokens.input_tokens.is_some();
            usage.input = most(usage.input, tokens.input_tokens);
            usage.output = most(usage.output, tokens.output_tokens);
            usage.cache_read = most(usage.cache_read, tokens.cache_read_input_tokens);
            usage.cache_write = most(usage.cache_write, tokens.cache_creation_input_tokens);
            let for_an_hour = tokens.cache_creation.ephemeral_1h_input_tokens;
            let for_an_hour = most(self.extras.kept_for_an_hour, for_an_hour);
            self.extras.kept_for_an_hour = for_an_hour;
            // They are a part of what is written, whether or not that is told too.
            usage.cache_write = usage.cache_write.max(for_an_hour);
            self.is_whole |= is_whole && tokens.output_tokens.is_some();
            return;
        }
        // Here what came from the cache is a part of what was sent.
        let (sent, details, generated) = if tokens.input_tokens.is_some() {
            (
                tokens.input_tokens,
                tokens.input_tokens_details,
                tokens.output_tokens,
            )
        } else {
            (
                tokens.prompt_tokens,
                tokens.prompt_tokens_details,
                tokens.completion_tokens,
            )
        };
        let cached = details.cached_tokens.unwrap_or_default();
        let cached = cached.min(sent.unwrap_or_default());
        self.has_input |= sent.is_some();
        usage.cache_read = usage.cache_read.max(cached);
        usage.input = usage.input.max(sent.unwrap_or_default() - cached);
        usage.output = most(usage.output, generated);
        self.is_whole |= is_whole && generated.is_some();
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
