//! Properties of seed 002 at the gateway's door.

use std::collections::HashSet;

use integration_tests::{Setup, Socket, Suite};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use tokio::runtime::Builder;

/// As many as the seeds ask for, and more. Given here, so that no variable of
/// the environment lowers it.
const CASES: u32 = 256;

fn runner() -> TestRunner {
    TestRunner::new(Config {
        max_shrink_iters: 16,
        failure_persistence: None,
        ..Config::with_cases(CASES)
    })
}

/// What somebody may present who does not know the token: something else, a
/// piece of it, more than it, or nearly it.
#[derive(Debug, Clone)]
enum Presented {
    Right,
    Other(String),
    Cut(usize),
    Longer(String),
    Turned(usize),
}

fn presented() -> impl Strategy<Value = Presented> {
    prop_oneof![
        Just(Presented::Right),
        "\\PC{1,80}".prop_map(Presented::Other),
        (1..64_usize).prop_map(Presented::Cut),
        "[0-9a-f ]{1,8}".prop_map(Presented::Longer),
        (0..64_usize).prop_map(Presented::Turned),
    ]
}

impl Presented {
    fn text(&self, token: &str) -> String {
        match self {
            Self::Right => token.to_owned(),
            Self::Other(other) => other.clone(),
            Self::Cut(length) => token[..*length].to_owned(),
            Self::Longer(more) => format!("{token}{more}"),
            Self::Turned(at) => {
                let turned = token.char_indices().map(|(i, c)| match (i == *at, c) {
                    (true, '0') => '1',
                    (true, _) => '0',
                    (false, c) => c,
                });
                turned.collect()
            }
        }
    }
}

/// Feature: openclaw-mvp, Property 1: For any authentication token, the Gateway
/// SHALL accept the connection if and only if the token matches the stored
/// token; invalid tokens SHALL be rejected and the rejection SHALL be logged.
#[test]
fn property_1_only_the_stored_token_opens_the_door() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (suite, address, token) = runtime.block_on(async {
        let suite = Setup::offline().start().await;
        let (address, token) = (suite.address("http").await, suite.token().await);
        (suite, address, token)
    });
    assert_eq!(token.len(), 64, "the stored token is 32 bytes in hex");
    let refused = std::cell::Cell::new(0);
    runner()
        .run(&presented(), |presented| {
            let presented = presented.text(&token);
            runtime.block_on(async {
                let mut socket = Socket::open(&address, None).await;
                let answer = socket.connect(&presented, json!({})).await.unwrap();
                prop_assert_eq!(answer["ok"] == true, presented == token, "{}", answer);
                if answer["ok"] != true {
                    refused.set(refused.get() + 1);
                    let code = &answer["error"]["details"]["code"];
                    prop_assert_eq!(code, "AUTH_TOKEN_MISMATCH");
                    prop_assert_eq!(socket.closed().await.code, 1008);
                }
                Ok(())
            })
        })
        .unwrap();
    runtime.block_on(async {
        suite.log.times("refused a client", refused.get()).await;
    });
    let log = suite.log.lines().join("\n");
    assert!(!log.contains(&token), "the token is in the log");
}

/// Feature: openclaw-mvp, Property 2: For any set of created sessions, all
/// session IDs SHALL be unique (no two sessions share the same ID), with or
/// without a name.
#[test]
fn property_2_no_two_sessions_have_the_same_id() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (_suite, socket): (Suite, Socket) = runtime.block_on(async {
        let suite = Setup::offline().start().await;
        let socket = Socket::enter(&suite).await;
        (suite, socket)
    });
    let socket = std::cell::RefCell::new(socket);
    let known = std::cell::RefCell::new((HashSet::new(), HashSet::new()));
    runner()
        .run(&prop::option::of("[a-z0-9]{1,12}"), |name| {
            let params = match &name {
                Some(name) => json!({"key": name}),
                None => json!({}),
            };
            let mut socket = socket.borrow_mut();
            let made = runtime
                .block_on(socket.ask("sessions.create", params))
                .unwrap();
            if made["ok"] != true {
                // A session of that name is there.
                prop_assert!(name.is_some(), "{}", made);
                return Ok(());
            }
            let made = &made["payload"];
            let (key, id) = (made["key"].to_string(), made["sessionId"].to_string());
            let (keys, ids) = &mut *known.borrow_mut();
            let is_new = keys.insert(key);
            prop_assert_eq!(ids.insert(id), is_new, "{}", made);
            Ok(())
        })
        .unwrap();
    assert!(known.borrow().1.len() > 100);
}
