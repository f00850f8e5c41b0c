//! The messages a transcript holds.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::Content;

/// Where OpenClaw keeps what it adds to a message of its own.
const OPENCLAW: &str = "__openclaw";

/// In it: the command that the message is or answers.
const COMMAND: &str = "command";

/// In it: a note of what happened, which nobody said.
const EVENT: &str = "event";
/// Runs whose messages an answer is to as well.
const ALSO_ANSWERS: &str = "alsoAnswers";

/// How a message came, in there.
const CHANNEL: &str = "channel";
const SENDER_KEY: &str = "senderKey";
const ROUTE: &str = "route";
/// What a user's message wants for its turn alone.
pub const TURN_OPTIONS: &str = "turnOptions";
/// It came with a transcript from elsewhere, whose words on how it came are not believed.
const TAKEN_OVER: &str = "takenOver";
/// In the end of a run: its message was taken back before a model saw it.
const WITHDRAWN: &str = "withdrawn";

/// The channel of what nobody said.
pub const SYSTEM: &str = "system";
/// Provider and model of what the gateway itself answered, which is no model's.
pub const GATEWAY: (&str, &str) = ("openclaw", "gateway");

/// Appended to a run id, the idempotency key of the run's user message.
pub const USER_SUFFIX: &str = ":user";

/// One message. Fields that are not known here are kept in `rest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// What the user said.
    User(UserMessage),
    /// What the assistant answered.
    Assistant(AssistantMessage),
    /// What a tool answered.
    ToolResult(ToolResultMessage),
}

/// What the user said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// The words.
    #[serde(default)]
    pub content: Content,
    /// Unix milliseconds; 0 when the file does not say.
    #[serde(default)]
    pub timestamp: i64,
    /// `<runId>:user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Fields not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What the assistant answered: one model response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AssistantMessage {
    /// Text, thinking and tool calls in their order.
    pub content: Content,
    /// The API spoken, such as `anthropic-messages`.
    pub api: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Tokens of this response.
    pub usage: Usage,
    /// Why the response ended.
    pub stop_reason: StopReason,
    /// Unix milliseconds; 0 when the file does not say.
    pub timestamp: i64,
    /// Why there is no whole response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Fields not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What a tool answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolResultMessage {
    /// The call it answers.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Its output.
    pub content: Content,
    /// Whether it failed.
    pub is_error: bool,
    /// Unix milliseconds; 0 when the file does not say.
    pub timestamp: i64,
    /// Fields not known here, `details` among them.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Tokens of one model response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Sent, not from a cache.
    pub input: u64,
    /// Generated.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Written to the provider's cache.
    pub cache_write: u64,
    /// All of them.
    pub total_tokens: u64,
    /// Fields not known here, `cost` among them.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Why a model response ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It was whole.
    #[default]
    Stop,
    /// It asked for tools.
    ToolUse,
    /// It reached the token limit.
    Length,
    /// It failed.
    Error,
    /// Somebody ended it.
    Aborted,
    /// A reason not known here.
    #[serde(untagged)]
    Other(String),
}

impl UserMessage {
    /// The user message that starts the run `run_id`.
    pub fn of_run(run_id: &str, text: impl Into<String>, timestamp: i64) -> Self {
        Self {
            content: Content::Text(text.into()),
            timestamp,
            idempotency_key: Some(format!("{run_id}{USER_SUFFIX}")),
            rest: Map::new(),
        }
    }
}

impl UserMessage {
    /// What happened elsewhere and the run `run_id` was told with its message.
    /// It is no message of that run's: nobody said it.
    pub fn of_event(run_id: &str, text: impl Into<String>, timestamp: i64) -> Self {
        let openclaw = serde_json::json!({
            "runId": run_id,
            (CHANNEL): SYSTEM,
            (EVENT): true,
        });
        Self {
            content: Content::Text(text.into()),
            timestamp,
            idempotency_key: None,
            rest: Map::from_iter([(OPENCLAW.to_owned(), openclaw)]),
        }
    }
}

impl Usage {
    /// Counts of which the total is the sum.
    pub fn new(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        Self {
            input,
            output,
            cache_read,
            cache_write,
            total_tokens: input
                .saturating_add(output)
                .saturating_add(cache_read)
                .saturating_add(cache_write),
            rest: Map::new(),
        }
    }
}

impl Message {
    /// The run the message belongs to, if it says so.
    pub fn run_id(&self) -> Option<&str> {
        if let Self::User(user) = self {
            return user.idempotency_key.as_deref()?.strip_suffix(USER_SUFFIX);
        }
        self.own("runId")?.as_str()
    }

    /// Notes the run the message belongs to. A user message carries it in its
    /// idempotency key instead.
    pub fn set_run_id(&mut self, run_id: &str) {
        if !matches!(self, Self::User(_)) {
            let openclaw = serde_json::json!({ "runId": run_id });
            self.rest_mut().insert(OPENCLAW.to_owned(), openclaw);
        }
    }

    /// Notes that it answers the messages of these runs too, which came while its own was
    /// being answered.
    pub fn set_also_answers(&mut self, run_ids: Vec<String>) {
        self.set_own(ALSO_ANSWERS, run_ids);
    }

    /// Other runs whose messages it answers.
    pub fn also_answers(&self) -> impl Iterator<Item = &str> {
        let runs = self.own(ALSO_ANSWERS).and_then(Value::as_array);
        runs.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Notes how a user's message came: over which channel, and under which
    /// key its sender would send it again.
    pub fn set_arrival(&mut self, channel: &str, key: Option<&str>) {
        self.set_channel(channel);
        if let Some(key) = key {
            self.set_own(SENDER_KEY, key);
        }
    }

    /// Notes that it came with a transcript from elsewhere: how it came is not believed.
    pub fn set_taken_over(&mut self) {
        self.set_own(TAKEN_OVER, true);
    }

    /// The channel over which it came, and its sender's key; `None` where it does not say,
    /// or somebody else may have said it.
    pub fn arrival(&self) -> Option<(&str, Option<&str>)> {
        if self.own(TAKEN_OVER).is_some() {
            return None;
        }
        let key = self.own(SENDER_KEY).and_then(Value::as_str);
        Some((self.channel()?, key))
    }

    /// Notes where on its channel a user's message came from; what that is, is its writer's.
    pub fn set_route(&mut self, route: Value) {
        self.set_own(ROUTE, route);
    }

    /// Where on its channel it came from, if it says so.
    pub fn route(&self) -> Option<&Value> {
        self.own(ROUTE)
    }

    /// Notes what a user's message wants for its turn alone; what that is, is its writer's.
    pub fn set_turn_options(&mut self, options: Value) {
        self.set_own(TURN_OPTIONS, options);
    }

    /// What it wants for its turn alone, if it says so.
    pub fn turn_options(&self) -> Option<&Value> {
        self.own(TURN_OPTIONS)
    }

    /// Whether it was said to the gateway or by it, and not to a model.
    pub fn is_command(&self) -> bool {
        self.own(COMMAND).is_some()
    }

    /// The command that it is, or answers.
    pub fn command(&self) -> Option<&str> {
        self.own(COMMAND)?.as_str()
    }

    /// Whether it tells of something that happened, which nobody said.
    pub fn is_event(&self) -> bool {
        self.own(EVENT).is_some()
    }

    /// Notes that it was said to the gateway or by it: `command` is its name.
    pub fn set_command(&mut self, command: &str) {
        self.set_own(COMMAND, command);
    }

    /// Notes of the end of a run that its message was taken back before a model saw
    /// it: no prompt has it from then on.
    pub fn set_withdrawn(&mut self) {
        self.set_own(WITHDRAWN, true);
    }

    /// Whether it ends a run whose message was taken back.
    pub fn is_withdrawn(&self) -> bool {
        self.own(WITHDRAWN) == Some(&Value::Bool(true))
    }

    /// The channel that it came from, if it says so.
    pub fn channel(&self) -> Option<&str> {
        self.own(CHANNEL)?.as_str()
    }

    /// Notes the channel that it came from.
    pub fn set_channel(&mut self, channel: &str) {
        self.set_own(CHANNEL, channel);
    }

    fn own(&self, field: &str) -> Option<&Value> {
        self.rest().get(OPENCLAW)?.get(field)
    }

    fn set_own(&mut self, field: &str, value: impl Into<Value>) {
        let openclaw = self.rest_mut().entry(OPENCLAW);
        let openclaw = openclaw.or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(openclaw) = openclaw {
            openclaw.insert(field.to_owned(), value.into());
        }
    }

    /// When it was said, in Unix milliseconds; 0 when the file does not say.
    pub fn timestamp(&self) -> i64 {
        match self {
            Self::User(message) => message.timestamp,
            Self::Assistant(message) => message.timestamp,
            Self::ToolResult(message) => message.timestamp,
        }
    }

    fn rest(&self) -> &Map<String, Value> {
        match self {
            Self::User(message) => &message.rest,
            Self::Assistant(message) => &message.rest,
            Self::ToolResult(message) => &message.rest,
        }
    }

    fn rest_mut(&mut self) -> &mut Map<String, Value> {
        match self {
            Self::User(message) => &mut message.rest,
            Self::Assistant(message) => &mut message.rest,
            Self::ToolResult(message) => &mut message.rest,
        }
    }

    /// What the message is made of.
    pub fn content(&self) -> &Content {
        match self {
            Self::User(message) => &message.content,
            Self::Assistant(message) => &message.content,
            Self::ToolResult(message) => &message.content,
        }
    }
}
