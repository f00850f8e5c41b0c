//! Clients that do not behave.

use integration_tests::{Setup, Socket, Suite, processes, within};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use scripted_model::Server;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

/// Frames that are sent at random.
const FRAMES: usize = 10_000;

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

/// Rubbish, and things that are nearly requests.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let methods = prop::sample::select(vec![
        "health",
        "status",
        "agents.list",
        "chat.history",
        "sessions.list",
        "connect",
        "x",
        "",
        "agent.wait",
        "cron.list",
        "config.get",
        "exec.approval.list",
        "models.list",
        "usage.cost",
    ]);
    let value = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
        Just(json!([[[[]]]])),
    ];
    let params = prop::collection::btree_map(
        prop::sample::select(vec![
            "sessionKey",
            "key",
            "limit",
            "agentId",
            "runId",
            "timeoutMs",
            "z",
        ]),
        value,
        0..4,
    );
    let request = ("[a-z0-9]{0,6}", methods, params).prop_map(|(id, method, params)| {
        json!({"type": "req", "id": id, "method": method, "params": params})
            .to_string()
            .into_bytes()
    });
    prop_oneof![
        3 => request,
        2 => prop::collection::vec(any::<u8>(), 0..200),
        2 => "\\PC{0,200}".prop_map(String::into_bytes),
        1 => "[\\[\\]{}\":,0-9a-z]{0,300}".prop_map(String::into_bytes),
    ]
}

/// Resident bytes of the gateway.
fn resident(suite: &Suite) -> u64 {
    let pid = suite.daemon("openclaw-gateway");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}

#[tokio::test]
async fn ws_abuse_ten_thousand_random_frames_do_nothing() {
    let (suite, model) = scene().await;
    let (address, token) = (suite.address("http").await, suite.token().await);
    let gateway = suite.daemon("openclaw-gateway");
    let mut runner = TestRunner::deterministic();
    let strategy = frame();
    let mut socket = Socket::enter_at(&address, &token, json!({})).await;
    let mut half = 0;
    for number in 0..FRAMES {
        let bytes = strategy.new_tree(&mut runner).unwrap().current();
        let message = match String::from_utf8(bytes) {
            Ok(text) => Message::text(text),
            Err(error) => Message::binary(error.into_bytes()),
        };
        socket.send_message(message).await;
        // Enough rubbish ends a connection; another one goes on.
        if number % 50 == 49 {
            socket = Socket::enter_at(&address, &token, json!({})).await;
        }
        if number == FRAMES / 2 {
            half = resident(&suite);
        }
    }
    let mut after = Socket::enter_at(&address, &token, json!({})).await;
    let listed = after.call("sessions.list", json!({})).await;
    assert_eq!(listed["totalCount"], 0, "a session was touched: {listed}");
    assert!(model.requests().is_empty(), "a model was asked");
    assert_eq!(
        suite.daemon("openclaw-gateway"),
        gateway,
        "it was started again"
    );
    let grown = resident(&suite).saturating_sub(half);
    assert!(grown < 8 * 1024 * 1024, "it grew by {grown} bytes");
    assert!(processes::of_folder(&suite.path("")).contains(&gateway));
}

#[tokio::test]
async fn strangers_get_nowhere() {
    let (suite, _model) = scene().await;
    let address = suite.address("http").await;
    // Anything before connect.
    let mut early = Socket::open(&address, None).await;
    let answer = early
        .ask("chat.history", json!({"sessionKey": "main"}))
        .await
        .unwrap();
    assert_eq!(answer["ok"], false, "{answer}");
    assert_eq!(early.closed().await.code, 1008);
    // More than a stranger may say.
    let mut loud = Socket::open(&address, None).await;
    let long = "x".repeat(100_000);
    loud.begin("connect", json!({"client": long})).await;
    assert_eq!(loud.closed().await.code, 1009);
    // No text.
    let mut binary = Socket::open(&address, None).await;
    binary.send_message(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(binary.closed().await.code, 1003);
    // Nothing at all is tolerated for a while only; others come in meanwhile.
    let _silent = Socket::open(&address, None).await;
    let mut good = Socket::enter(&suite).await;
    good.call("health", json!({})).await;
}

#[tokio::test]
async fn client_that_does_not_read_is_dropped_and_others_go_on() {
    let (suite, _model) = scene().await;
    let mut deaf = Socket::enter(&suite).await;
    let mut good = Socket::enter(&suite).await;
    let huge = "[[scenario:huge 900000]]";
    for number in 0..6 {
        let id = format!("h{number}");
        // Each in a session of its own: no prompt has more than one.
        let params = json!({"sessionKey": id, "message": huge, "idempotencyKey": id});
        good.call("chat.send", params).await;
        let end = within("a long answer", good.end_of(&id)).await;
        assert_eq!(end["payload"]["state"], "final", "{end}");
        good.seen.clear();
    }
    good.call("health", json!({})).await;
    // Whatever became of it, it can still be asked or is told to go.
    let _ = deaf.ask("health", json!({})).await;
}
