//! Properties of seed 002 that take the whole suite: message after message
//! through the real daemons and the real agent.

use std::cell::RefCell;

use integration_tests::{Setup, Suite, transcript, within};
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::{Accepted, Message, Reply};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio_stream::StreamExt as _;

/// As many as the seeds ask for, and more. Given here, so that no variable of
/// the environment lowers it.
pub(crate) const CASES: u32 = 256;
/// Each is a message to the suite; a case is small as it is.
pub(crate) const SHRINKS: u32 = 16;
/// Messages of one session of a property about something else.
const PER_SESSION: usize = 20;

pub(crate) fn runner() -> TestRunner {
    TestRunner::new(Config {
        max_shrink_iters: SHRINKS,
        failure_persistence: None,
        ..Config::with_cases(CASES)
    })
}

/// Sends a message and hears the whole answer.
pub(crate) async fn exchange(suite: &Suite, message: Message) -> (Accepted, Vec<Event>) {
    within("an answer", async {
        let replies = suite.gateway().send_message(message).await.unwrap();
        let mut replies = std::pin::pin!(replies);
        let (mut accepted, mut events) = (None, Vec::new());
        while let Some(reply) = replies.next().await {
            match reply.unwrap() {
                Reply::Accepted(first, ..) => accepted = Some(first),
                Reply::Event(event) => events.push(event),
            }
        }
        (accepted.expect("it was accepted"), events)
    })
    .await
}

pub(crate) fn text_of(events: &[Event]) -> String {
    let pieces = events.iter().filter_map(|event| match &event.kind {
        Kind::TextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

const AGENTS: [&str; 3] = ["main", "cook", "gardener"];

/// Each agent has a model of its own.
fn model_of(agent: &str) -> String {
    format!("model-of-{agent}")
}

/// A session of an agent, as a client may name both, and what is said.
fn routed() -> impl Strategy<Value = (&'static str, String, bool, String)> {
    (
        prop::sample::select(&AGENTS[..]),
        "[a-z][a-z0-9]{0,5}",
        any::<bool>(),
        "[a-zA-Zäöü0-9 ,.?!]{0,60}",
    )
}

/// Feature: openclaw-mvp, Property 20: For any message sent to a session, the
/// message SHALL be routed to the Agent_Runtime associated with that session:
/// with that agent's own model and instructions, and its answer is in that session.
#[test]
fn property_20_messages_reach_the_agent_of_their_session() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (model, suite) = runtime.block_on(async {
        let model = Server::start().await.unwrap();
        let agent = |id: &&str| json!({ "id": id, "model": format!("anthropic/{}", model_of(id)) });
        let list: Vec<Value> = AGENTS.iter().map(agent).collect();
        let site = Setup::anthropic(&model).set("agents.list", list).site();
        for agent in AGENTS {
            let workspace = match agent {
                "main" => site.workspace(),
                other => site.state().join(format!("workspace-{other}")),
            };
            std::fs::create_dir_all(&workspace).unwrap();
            std::fs::write(
                workspace.join("SOUL.md"),
                format!("You are the {agent} soul."),
            )
            .unwrap();
        }
        (model, Suite::start(site).await)
    });
    let number = RefCell::new(0_usize);
    runner()
        .run(&routed(), |(agent, session, is_canonical, said)| {
            *number.borrow_mut() += 1;
            let said = format!("{said} <{}>", number.borrow());
            runtime.block_on(route(&model, &suite, agent, &session, is_canonical, &said))
        })
        .unwrap();
}

async fn route(
    model: &Server,
    suite: &Suite,
    agent: &str,
    session: &str,
    is_canonical: bool,
    said: &str,
) -> Result<(), TestCaseError> {
    model.forget();
    let key = format!("agent:{agent}:{session}");
    let (session_key, agent_id) = if is_canonical {
        (key.clone(), String::new())
    } else {
        (session.to_owned(), agent.to_owned())
    };
    let message = Message {
        text: said.to_owned(),
        session_key,
        agent_id,
        ..Message::default()
    };
    let (accepted, events) = exchange(suite, message).await;
    prop_assert_eq!(&accepted.agent_id, agent);
    prop_assert_eq!(&accepted.session_key, &key);
    // What memory found of the messages before stands in front of it.
    let answer = text_of(&events);
    prop_assert!(
        answer.starts_with("You said: ") && answer.ends_with(said),
        "{:?}",
        events
    );

    let asked = model.turns();
    prop_assert_eq!(asked.len(), 1);
    let asked = asked[0].json();
    prop_assert_eq!(&asked["model"], &json!(model_of(agent)));
    let asked = asked.to_string();
    for other in AGENTS {
        let has = asked.contains(&format!("You are the {other} soul."));
        prop_assert_eq!(has, other == agent, "{} asked: {}", other, asked);
    }
    let client = openclaw_proto::sessions::Client::new(suite.runtime().join("gateway.sock"));
    let query = openclaw_proto::sessions::Query {
        agent_id: agent.to_owned(),
        ..Default::default()
    };
    let page = client.list(query).await.unwrap();
    let session = page.sessions.into_iter().find(|session| session.key == key);
    let kept = session.map(|session| transcript::messages_of(session.transcript_path.as_ref()));
    let kept = kept.ok_or_else(|| TestCaseError::fail(format!("no session {key}")))?;
    let last: Vec<String> = kept.iter().rev().take(2).map(transcript::text).collect();
    prop_assert_eq!(last, [answer, said.to_owned()]);
    Ok(())
}

/// A tool call, and what comes of it.
#[derive(Debug, Clone)]
enum Call {
    Write { path: String, content: String },
    Read { content: String },
    Run { output: String, code: u8 },
    Unknown { name: String },
    Malformed { surplus: String },
}

fn call() -> impl Strategy<Value = Call> {
    let content = "[a-zA-Z0-9äöüß\"'\\\\{}\\[\\] ]{1,80}";
    prop_oneof![
        ("[a-z]{1,8}/[a-z]{1,8}", content)
            .prop_map(|(path, content)| Call::Write { path, content }),
        content.prop_map(|content| Call::Read { content }),
        ("[a-zA-Z0-9 _.,-]{1,60}", any::<u8>())
            .prop_map(|(output, code)| Call::Run { output, code }),
        "no_such_[a-z]{1,8}".prop_map(|name| Call::Unknown { name }),
        "[a-z]{1,8}".prop_map(|surplus| Call::Malformed { surplus }),
    ]
}

/// Feature: openclaw-mvp, Property 21: For any tool call requested by the agent,
/// the Tool_System SHALL execute it and the result SHALL be returned to the
/// agent; what cannot be done is a result too.
#[test]
fn property_21_tool_calls_are_executed_and_their_results_come_back() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (model, suite) = runtime.block_on(async {
        let model = Server::start().await.unwrap();
        let suite = Setup::anthropic(&model).start().await;
        (model, suite)
    });
    let number = RefCell::new(0_usize);
    runner()
        .run(&call(), |call| {
            *number.borrow_mut() += 1;
            runtime.block_on(execute(&model, &suite, call, *number.borrow()))
        })
        .unwrap();
}

async fn execute(
    model: &Server,
    suite: &Suite,
    call: Call,
    number: usize,
) -> Result<(), TestCaseError> {
    model.forget();
    let (name, arguments) = asked(&call, suite);
    model.push(Scenario::tool(name.clone(), arguments));
    let message = Message {
        text: format!("call {number}"),
        session_key: format!("tools-{}", number / PER_SESSION),
        ..Message::default()
    };
    let (_, events) = exchange(suite, message).await;
    let kinds = events.iter().map(|event| &event.kind);
    let calls: Vec<&Kind> = kinds
        .clone()
        .filter(|kind| matches!(kind, Kind::ToolCall { .. }))
        .collect();
    let results: Vec<_> = kinds
        .filter_map(|kind| match kind {
            Kind::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect();
    let (
        [
            Kind::ToolCall {
                id, name: called, ..
            },
        ],
        [result],
    ) = (&calls[..], &results[..])
    else {
        return Err(TestCaseError::fail(format!("not one call: {events:?}")));
    };
    prop_assert_eq!(&result.call_id, id);
    prop_assert_eq!(called, &name);

    let turns = model.turns();
    prop_assert_eq!(turns.len(), 2, "the agent asked on once, with the result");
    let told = text_of(&events);
    prop_assert!(told.starts_with("The tool said: "), "{}", told);
    match &call {
        Call::Write { path, content } => {
            prop_assert!(result.success, "{:?}", result);
            prop_assert_eq!(suite.written(path), Some(content.clone()));
            prop_assert!(
                told.contains(&format!("wrote {} bytes", content.len())),
                "{}",
                told
            );
        }
        Call::Read { content } => {
            prop_assert!(result.success, "{:?}", result);
            prop_assert!(told.contains(content.as_str()), "{} in {}", content, told);
        }
        Call::Run { output, code } => {
            prop_assert!(told.contains(&format!("exit code: {code}")), "{}", told);
            prop_assert!(told.contains(output.as_str()), "{} in {}", output, told);
        }
        Call::Unknown { name } => {
            prop_assert!(!result.success);
            prop_assert!(told.contains(name.as_str()), "{} in {}", name, told);
        }
        Call::Malformed { surplus } => {
            prop_assert!(!result.success);
            prop_assert!(told.contains(surplus.as_str()), "{} in {}", surplus, told);
            prop_assert_eq!(suite.written("malformed.txt"), None);
        }
    }
    Ok(())
}

/// The tool and its arguments; what is read is there before.
fn asked(call: &Call, suite: &Suite) -> (String, Value) {
    match call {
        Call::Write { path, content } => (
            "write_file".to_owned(),
            json!({ "path": path, "content": content }),
        ),
        Call::Read { content } => {
            suite.note("to-read.txt", content);
            ("read_file".to_owned(), json!({ "path": "to-read.txt" }))
        }
        Call::Run { output, code } => (
            "execute_shell".to_owned(),
            json!({ "command": format!("printf '%s' '{output}'; exit {code}") }),
        ),
        Call::Unknown { name } => (name.clone(), json!({})),
        Call::Malformed { surplus } => (
            "write_file".to_owned(),
            json!({ "path": "malformed.txt", "content": "x", "surplus": surplus }),
        ),
    }
}
