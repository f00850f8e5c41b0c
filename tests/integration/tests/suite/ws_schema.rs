//! Every frame we send is valid by the schema of OpenClaw's own package.

use integration_tests::{Setup, Socket, Suite, openclaw};
use jsonschema::Validator;
use scripted_model::Server;
use serde_json::{Value, json};

/// The schema with a definition of it as the root.
fn validator(schema: &Value, definition: &str) -> Validator {
    let root = json!({
        "$ref": format!("#/definitions/{definition}"),
        "definitions": schema["definitions"],
    });
    jsonschema::validator_for(&root).unwrap()
}

/// What must hold of the payload of some frames beside the frame's own shape.
const PAYLOADS: [(&str, &str); 7] = [
    ("chat", "ChatEvent"),
    ("tick", "TickEvent"),
    ("shutdown", "ShutdownEvent"),
    ("device.pair.requested", "DevicePairRequestedEvent"),
    ("device.pair.resolved", "DevicePairResolvedEvent"),
    ("health", "HealthSnapshot"),
    ("presence", "PresenceList"),
];

struct Check {
    schema: Value,
    response: Validator,
    event: Validator,
    payloads: Vec<(&'static str, Validator)>,
}

impl Check {
    fn new(schema: Value) -> Self {
        let known = |definition: &&str| schema["definitions"].get(*definition).is_some();
        let payloads = PAYLOADS.iter().filter(|(_, definition)| known(definition));
        let payloads = payloads.map(|(event, definition)| (*event, validator(&schema, definition)));
        Self {
            response: validator(&schema, "ResponseFrame"),
            event: validator(&schema, "EventFrame"),
            payloads: payloads.collect(),
            schema,
        }
    }

    fn frame(&self, frame: &Value) {
        let validator = match frame["type"].as_str() {
            Some("res") => &self.response,
            Some("event") => &self.event,
            other => panic!("a frame of type {other:?}: {frame}"),
        };
        valid(validator, frame, "frame");
        for (event, validator) in &self.payloads {
            if frame["event"] == *event {
                valid(validator, &frame["payload"], event);
            }
        }
    }

    fn result(&self, definition: &str, value: &Value) {
        valid(&validator(&self.schema, definition), value, definition);
    }
}

fn valid(validator: &Validator, value: &Value, what: &str) {
    let problems: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("at {}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{what}: {problems:#?} in {value}");
}

/// Methods whose results the package describes, with parameters.
fn described() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("agents.list", json!({}), "AgentsListResult"),
        ("models.list", json!({}), "ModelsListResult"),
        ("tools.catalog", json!({}), "ToolsCatalogResult"),
        ("commands.list", json!({}), "CommandsListResult"),
        ("channels.status", json!({}), "ChannelsStatusResult"),
        ("agent.identity.get", json!({}), "AgentIdentityResult"),
        (
            "sessions.resolve",
            json!({"key": "main"}),
            "SessionsResolveResult",
        ),
        ("logs.tail", json!({}), "LogsTailResult"),
        ("config.schema", json!({}), "ConfigSchemaResponse"),
    ]
}

#[tokio::test]
async fn frames_and_results_are_valid() {
    let Some(folder) = openclaw::folder() else {
        return;
    };
    let check = Check::new(openclaw::schema(&folder));
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hello = socket.seen[1]["payload"].clone();
    check.result("HelloOk", &hello);
    use_it(&mut socket).await;
    for (method, params, definition) in described() {
        let result = socket.call(method, params).await;
        check.result(definition, &result);
    }
    let listed = socket.call("sessions.list", json!({})).await;
    for row in listed["sessions"].as_array().unwrap() {
        check.result("SessionRow", row);
    }
    let deleted = socket.call("sessions.delete", json!({"key": "made"})).await;
    check.result("SessionsDeleteResult", &deleted);
    scheduled(&check, &mut socket).await;
    stop(suite, &mut socket).await;
    for frame in &socket.seen {
        check.frame(frame);
    }
    let events: Vec<&str> = socket
        .seen
        .iter()
        .filter_map(|it| it["event"].as_str())
        .collect();
    for event in ["chat", "agent", "health", "presence", "cron", "shutdown"] {
        assert!(events.contains(&event), "no {event} was sent");
    }
}

/// Everything that makes frames of other shapes.
async fn use_it(socket: &mut Socket) {
    socket.call("sessions.subscribe", json!({})).await;
    socket
        .call("sessions.messages.subscribe", json!({"key": "main"}))
        .await;
    let calls = "[[scenario:tool execute_shell {\"command\":\"echo hi\"}]]";
    for (id, message) in [
        ("t1", "hello"),
        ("t2", calls),
        ("t3", "[[scenario:401]]"),
        ("t4", "/status"),
    ] {
        let params = json!({"sessionKey": "main", "message": message, "idempotencyKey": id});
        socket.call("chat.send", params).await;
        socket.end_of(id).await;
    }
    let slow = "[[scenario:slow 100]] slowly";
    let params = json!({"sessionKey": "other", "message": slow, "idempotencyKey": "t5"});
    socket.call("chat.send", params).await;
    socket
        .call("chat.abort", json!({"sessionKey": "other", "runId": "t5"}))
        .await;
    socket.end_of("t5").await;
    let inject = json!({"sessionKey": "main", "message": "note", "label": "l"});
    socket.call("chat.inject", inject).await;
    socket.call("health", json!({"probe": true})).await;
    socket
        .call("system-event", json!({"text": "something happened"}))
        .await;
    socket
        .call("sessions.create", json!({"key": "made", "label": "Made"}))
        .await;
    socket
        .call("sessions.patch", json!({"key": "made", "label": "Renamed"}))
        .await;
    for (method, params) in [
        ("no.such.method", json!({})),
        ("chat.send", json!({"message": "x"})),
        ("chat.history", json!({"sessionKey": "main", "limit": 0})),
        (
            "exec.approval.resolve",
            json!({"id": "none", "decision": "deny"}),
        ),
        ("cron.remove", json!({"id": "none"})),
        (
            "agent",
            json!({"message": "x", "idempotencyKey": "x", "agentId": "nobody"}),
        ),
    ] {
        socket.fail(method, params).await;
    }
    socket.send("not JSON at all").await;
    socket.answer("invalid").await.unwrap();
}

async fn scheduled(check: &Check, socket: &mut Socket) {
    let job = json!({
        "name": "once", "schedule": {"kind": "at", "at": "2099-01-01T00:00:00Z"},
        "sessionTarget": "isolated", "wakeMode": "now",
        "payload": {"kind": "agentTurn", "message": "ping"},
    });
    let added = socket.call("cron.add", job).await;
    check.result("CronJob", &added);
    let id = added["id"].as_str().unwrap().to_owned();
    socket.call("cron.run", json!({"id": id})).await;
    socket
        .event(|frame| frame["event"] == "cron" && frame["payload"]["action"] == "finished")
        .await;
    let runs = socket.call("cron.runs", json!({"id": id})).await;
    let entries = runs["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{runs}");
    check.result("CronRunLogEntry", &entries[0]);
    assert_eq!(entries[0]["summary"], "You said: ping");
    let listed = socket.call("cron.list", json!({})).await;
    check.result("CronJob", &listed["jobs"][0]);
}

async fn stop(suite: Suite, socket: &mut Socket) {
    suite.terminate();
    let closed = socket.closed().await;
    assert_eq!(
        (closed.code, closed.reason.as_str()),
        (1012, "service restart")
    );
}
