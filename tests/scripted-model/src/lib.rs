//! A scripted model API on loopback: the only part of the tests that is not real.
//!
//! It speaks the Anthropic Messages API and OpenAI's chat completions and responses, streaming and not, closely enough that the real
//! Claude Code and Codex CLIs work against it. What it answers is a [`Scenario`]; what it was asked is a [`Recorded`] request.
//!
//! ```text
//! use scripted_model::{Scenario, Server};
//!
//! let model = Server::start().await?;
//! model.push(Scenario::text("hello"));
//! model.push(Scenario::failure(429).retry_after(2));
//! // point a client at model.url() …
//! let asked = model.wait_for_turns(1).await;
//! assert!(asked[0].size < 8_000);
//! ```
//!
//! Which scenario a request gets, in this order:
//! 1. it carries the result of a tool call made here: the scenario's `then`;
//! 2. it is housekeeping of an agent CLI (see [`Prompt::is_housekeeping`]): a short text, the queue is left alone;
//! 3. its last user text has a directive such as `[[scenario:slow 50]]` (see [`Scenario::named`]);
//! 4. the head of the queue;
//! 5. the default, an echo.

mod anthropic;
mod connection;
mod control;
mod embeddings;
mod openai;
mod playback;
mod prompt;
mod record;
mod reply;
mod responses;
mod routes;
mod rules;
mod scenario;
mod scenario_name;
mod server;
mod stage;

pub use anthropic::signature;
pub use prompt::{Api, Prompt, ToolResult};
pub use record::{Outcome, Recorded};
pub use scenario::{Ending, Failure, Pace, Scenario, ToolCall, Usage};
pub use scenario_name::UnknownScenario;
pub use server::{Server, StartError};
