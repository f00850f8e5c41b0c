//! The native backend: the loop of model requests and tool calls.

mod answer;
mod anthropic;
mod calls;
mod client;
mod conversation;
mod counts;
mod openai;
mod pictures;
mod prompt;
mod reply;
mod sse;
mod status;
mod stream_error;

#[cfg(fuzzing)]
pub(crate) use answer::fuzz;

use std::ops::ControlFlow;

use openclaw_tools::Registry;
use openclaw_turn::{Code, Event, HistoryEntry, News, SteeringMessage, StopReason, TurnRequest};

use crate::done::Done;
use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError};
use crate::process;
use crate::socket::TurnSocket;
use crate::toolbox::Tools;
use calls::Calls;
use client::{Answered, Client};
use conversation::{Conversation, Entry};
use prompt::{Model, Prompt};
use reply::Reply;

const DECLINED: &str =
    "the model provider declined to answer because of the content. Ask in other words";

/// Answers the message of `request`, after the conversation before it.
pub(crate) async fn run(
    (request, history): (TurnRequest, Vec<HistoryEntry<'_>>),
    registry: Registry,
    tools: &Tools,
    socket: &TurnSocket,
    out: &Emitter,
) -> Result<Done, TurnError> {
    let pictures = pictures::sent_with(&request.text, &request.workspace);
    let told = pictures.told(request.sees_images);
    let text = format!("{}{told}", request.text);
    let mut conversation = Conversation::begin(history, text);
    conversation.show(pictures.shown);
    let limit = request.identical_call_limit;
    let mut turn = Turn {
        conversation,
        calls: Calls::new(&tools.images, out, &request.run_id, limit),
        registry,
        socket,
        out,
        steps: request.step_limit.max(1),
        steps_key: &request.step_limit_key,
    };
    let model = Model::new(request.provider, request.model, request.sees_images);
    let mut client = Client::new(socket, request.api, model, out);
    let mut system = request.system;
    let mut thinking_tokens = request.thinking_tokens;
    let mut step = 1;
    loop {
        let listed: Vec<_> = turn.registry.list().collect();
        let prompt = Prompt {
            max_tokens: request.max_tokens,
            thinking_tokens,
            reasoning_effort: request.reasoning_effort.as_deref(),
            system: &system,
            tools: &listed,
            entries: turn.conversation.entries(),
        };
        let reply = match client.respond(&prompt).await? {
            Answered::Reply(reply) => reply,
            Answered::Elsewhere => {
                turn.conversation.forget_thinking();
                // Who may think must have thought from the beginning of a turn.
                if step > 1 {
                    thinking_tokens = 0;
                }
                continue;
            }
        };
        out.emit(&Event::Usage(reply.usage))?;
        let model = reply.model.as_deref().unwrap_or(client.model()).to_owned();
        if reply.declined {
            return Err(Failure::new(Code::ModelError, DECLINED).into());
        }
        let news = match turn.after(reply, step).await? {
            ControlFlow::Continue(news) => news,
            ControlFlow::Break(stop_reason) => return Ok(Done { stop_reason, model }),
        };
        if let Some(renewed) = news.tools {
            (turn.registry, system) = (tools.registry(renewed.offer)?, renewed.system);
        }
        take(news.messages, &mut turn.conversation, out)?;
        step += 1;
    }
}

/// What goes on from one answer of the model to the next.
struct Turn<'a> {
    conversation: Conversation,
    calls: Calls<'a>,
    registry: Registry,
    socket: &'a TurnSocket,
    out: &'a Emitter,
    /// The most answers, and the key that says so.
    steps: u32,
    steps_key: &'a str,
}

impl Turn<'_> {
    /// Runs the calls of the answer number `step`, and asks what came meanwhile: another
    /// question goes on with that. Breaks where the turn ends.
    async fn after(
        &mut self,
        reply: Reply,
        step: u32,
    ) -> Result<ControlFlow<StopReason, News>, TurnError> {
        let is_last = step == self.steps;
        if reply.calls.is_empty() {
            let stop_reason = reply.stop;
            let news = if is_last {
                News::default()
            } else {
                news(self.socket).await
            };
            if news.messages.is_empty() {
                return Ok(ControlFlow::Break(stop_reason));
            }
            if !reply.text.is_empty() {
                let (assistant, _) = self.calls.run(reply, &self.registry).await?;
                self.conversation.push(Entry::Assistant(assistant));
            }
            return Ok(ControlFlow::Continue(news));
        }
        if is_last {
            // The calls of the last answer do not run: nobody would see the results.
            let is_silent = reply.text.is_empty();
            let text = step_limit_text(self.steps, self.steps_key, is_silent);
            self.out.text(&text)?;
            return Ok(ControlFlow::Break(StopReason::StepLimit));
        }
        let (assistant, outcomes) = self.calls.run(reply, &self.registry).await?;
        self.conversation.push(Entry::Assistant(assistant));
        self.conversation.push(Entry::Results(outcomes));
        Ok(ControlFlow::Continue(news(self.socket).await))
    }
}

/// What the user said meanwhile, and tools that came. A turn goes on without
/// when that cannot be asked for: the messages are answered afterwards.
async fn news(socket: &TurnSocket) -> News {
    socket.news().await.unwrap_or_else(|error| {
        process::log(&format!("what came meanwhile waits: {error}"));
        News::default()
    })
}

/// Goes on with what the user said meanwhile.
fn take(
    steering: Vec<SteeringMessage>,
    conversation: &mut Conversation,
    out: &Emitter,
) -> std::io::Result<()> {
    if steering.is_empty() {
        return Ok(());
    }
    let run_ids: Vec<String> = steering.iter().map(|it| it.run_id.clone()).collect();
    for message in steering {
        conversation.push_user(message.text);
    }
    out.emit(&Event::Steered {
        run_ids: run_ids.into(),
    })
}

fn step_limit_text(steps: u32, key: &str, first: bool) -> String {
    let lead = if first { "" } else { "\n\n" };
    format!(
        "{lead}I stopped here: this turn reached its limit of {steps} model requests before the work was done. \
         Say \"continue\" to go on from here, or raise {key}."
    )
}
