//! Every method that hello-ok advertises, called where there is something to tell,
//! and its answer compared with what is known: what was set up, what the calls before
//! did, what is on the disk. A method that is advertised and has no row here fails.

use std::collections::BTreeSet;
use std::time::Duration;

use integration_tests::socket::Socket;
use integration_tests::{Setup, Suite, before, until};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

mod machine;
mod talk;

/// How long the methods of one area may take together.
const STAGE: Duration = Duration::from_secs(60);

/// A running suite, and which methods have answered as they should.
struct Audit {
    suite: Suite,
    model: Server,
    socket: Socket,
    advertised: BTreeSet<String>,
    seen: BTreeSet<&'static str>,
    /// What was answered otherwise.
    wrong: Vec<String>,
}

/// Where `actual` is not what `expected` says of it. Fields that it does not name may
/// be any; of a list it names all.
fn difference(expected: &Value, actual: &Value, path: &str) -> Option<String> {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.iter().find_map(|(name, value)| {
                let actual = actual.get(name).unwrap_or(&Value::Null);
                difference(value, actual, &format!("{path}/{name}"))
            })
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            let mut pairs = expected.iter().zip(actual).enumerate();
            pairs.find_map(|(at, (expected, actual))| {
                difference(expected, actual, &format!("{path}/{at}"))
            })
        }
        _ if expected == actual => None,
        _ => Some(format!("{path} is {actual}, not {expected}")),
    }
}

#[test]
fn difference_is_found_wherever_it_is() {
    let actual = json!({"a": [{"b": 1, "c": 2}], "d": null});
    for same in [
        json!({}),
        json!({"a": [{"b": 1}]}),
        json!({"d": null, "e": null}),
    ] {
        assert_eq!(difference(&same, &actual, ""), None);
    }
    for other in [
        json!({"a": [{"b": 2}]}),
        json!({"a": []}),
        json!({"a": {}}),
        json!({"d": 1}),
        json!([]),
    ] {
        assert!(difference(&other, &actual, "").is_some(), "{other}");
    }
}

impl Audit {
    async fn begin() -> Self {
        let model = Server::start().await.unwrap();
        let priced = json!([{
            "id": "claude-sonnet-5", "name": "Mine", "contextWindow": 120_000,
            "reasoning": true, "input": ["text", "image"],
            "cost": {"input": 3.0, "output": 15.0, "cacheRead": 0.0, "cacheWrite": 0.0},
        }]);
        let agents = json!([
            {"id": "main", "default": true, "name": "Robin",
                "identity": {"name": "Robin", "emoji": "🐦", "theme": "calm"},
                "tools": {"deny": ["memory_write"]}},
            {"id": "helper"},
        ]);
        let suite = Setup::anthropic(&model)
            .set("agents.defaults.model", "anthropic/claude-sonnet-5")
            .set("models.providers.anthropic.models", priced)
            .set("agents.list", agents)
            .set("channels.telegram.enabled", false)
            .set("channels.telegram.botToken", "123:secret")
            .set("channels.slack.enabled", true)
            .start()
            .await;
        let socket = Socket::enter(&suite).await;
        let methods = &socket.seen[1]["payload"]["features"]["methods"];
        let methods = methods.as_array().unwrap().iter();
        let advertised = methods.map(|it| it.as_str().unwrap().to_owned()).collect();
        Self {
            suite,
            model,
            socket,
            advertised,
            seen: BTreeSet::new(),
            wrong: Vec::new(),
        }
    }

    /// Calls a method; what it answers is at least what is expected.
    async fn row(&mut self, method: &'static str, params: Value, expected: Value) -> Value {
        let payload = self.socket.call(method, params).await;
        if let Some(difference) = difference(&expected, &payload, "") {
            self.wrong
                .push(format!("{method}: {difference} in {payload}"));
        }
        self.seen.insert(method);
        payload
    }

    /// Says something in a session and waits for the answer.
    async fn say(&mut self, session: &str, text: &str, id: &str) {
        let message = json!({"sessionKey": session, "message": text, "idempotencyKey": id});
        let expected = json!({"runId": id, "status": "started"});
        self.row("chat.send", message, expected).await;
        let end = self.socket.end_of(id).await;
        assert_eq!(end["payload"]["state"], "final", "{end}");
    }

    /// Sends what the model does not answer, and waits until it was asked.
    async fn held(&mut self, message: Value) {
        self.model.push(Scenario::held("never", "gate"));
        self.socket.call("chat.send", message).await;
        until("the model is asked", || self.model.queued() == 0).await;
    }

    /// What a model was asked last.
    fn asked_last(&self) -> String {
        self.model.turns().last().unwrap().json().to_string()
    }

    fn state(&self, name: &str) -> Value {
        json!(self.suite.state().join(name))
    }
}

#[tokio::test]
async fn ws_audit_every_method_that_is_advertised_tells_what_is_so() {
    let mut audit = Audit::begin().await;
    before(STAGE, "agents", machine::agents(&mut audit)).await;
    before(STAGE, "conversation", talk::conversation(&mut audit)).await;
    before(STAGE, "aborted", talk::aborted(&mut audit)).await;
    before(STAGE, "sessions", talk::sessions(&mut audit)).await;
    before(STAGE, "followed", talk::followed(&mut audit)).await;
    before(STAGE, "compacted", talk::compacted(&mut audit)).await;
    before(STAGE, "jobs", machine::jobs(&mut audit)).await;
    before(STAGE, "approvals", machine::approvals(&mut audit)).await;
    before(STAGE, "system", machine::system(&mut audit)).await;
    before(STAGE, "devices", machine::devices(&mut audit)).await;
    before(STAGE, "channels", machine::channels(&mut audit)).await;
    before(STAGE, "configuration", machine::configuration(&mut audit)).await;
    assert!(audit.wrong.is_empty(), "{:#?}", audit.wrong);
    let seen: BTreeSet<String> = audit.seen.iter().map(|it| (*it).to_owned()).collect();
    let unseen: Vec<_> = audit.advertised.difference(&seen).collect();
    assert!(
        unseen.is_empty(),
        "advertised, and without a row: {unseen:?}"
    );
    let unsaid: Vec<_> = seen.difference(&audit.advertised).collect();
    assert!(
        unsaid.is_empty(),
        "answered, and not advertised: {unsaid:?}"
    );
}
