//! Every method that hello-ok advertises, called where there is something to tell,
//! and its answer compared with what is known: what was set up, what the calls before
//! did, what is on the disk. A method that is advertised and has no row here fails.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use integration_tests::socket::{self, Socket};
use integration_tests::{Setup, Suite, before, until};
use scripted_model::{Scenario, Server, Usage};
use serde_json::{Value, json};

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
        let skill = "---\nname: weather\ndescription: Tells it\n---\nLook out of the window.";
        let suite = Setup::anthropic(&model)
            .set("agents.defaults.model", "anthropic/claude-sonnet-5")
            .set("models.providers.anthropic.models", priced)
            .set("agents.list", agents)
            .set("channels.telegram.enabled", false)
            .set("channels.telegram.botToken", "123:secret")
            .set("channels.slack.enabled", true)
            .note("skills/weather/SKILL.md", skill)
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

/// What the two answers cost, in tokens and in dollars.
const USAGE: Usage = Usage {
    input: 1000,
    output: 200,
    cache_read: 0,
    cache_write: 0,
};

#[tokio::test]
async fn every_method_that_is_advertised_tells_what_is_so() {
    let mut audit = Audit::begin().await;
    before(STAGE, "agents", agents(&mut audit)).await;
    before(STAGE, "conversation", conversation(&mut audit)).await;
    before(STAGE, "aborted", aborted(&mut audit)).await;
    before(STAGE, "sessions", sessions(&mut audit)).await;
    before(STAGE, "followed", followed(&mut audit)).await;
    before(STAGE, "compacted", compacted(&mut audit)).await;
    before(STAGE, "jobs", jobs(&mut audit)).await;
    before(STAGE, "approvals", approvals(&mut audit)).await;
    before(STAGE, "system", system(&mut audit)).await;
    before(STAGE, "devices", devices(&mut audit)).await;
    before(STAGE, "channels", channels(&mut audit)).await;
    before(STAGE, "configuration", configuration(&mut audit)).await;
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

async fn agents(audit: &mut Audit) {
    let listed = json!({
        "defaultId": "main", "mainKey": "main", "scope": "per-sender",
        "agents": [
            {"id": "helper", "workspace": audit.state("workspace-helper"), "name": null,
                "model": {"primary": "anthropic/claude-sonnet-5"}},
            {"id": "main", "workspace": audit.state("workspace"), "name": "Robin",
                "identity": {"name": "Robin", "emoji": "🐦", "theme": "calm"},
                "model": {"primary": "anthropic/claude-sonnet-5"}},
        ],
    });
    audit.row("agents.list", json!({}), listed).await;
    let robin = json!({"agentId": "main", "name": "Robin", "nameSource": "config",
        "avatar": "R", "emoji": "🐦"});
    audit.row("agent.identity.get", json!({}), robin).await;
    let helper = json!({"agentId": "helper", "nameSource": "default", "emoji": null});
    let of_helper = json!({"agentId": "helper"});
    audit.row("agent.identity.get", of_helper, helper).await;
    let mine = json!({"models": [{
        "id": "claude-sonnet-5", "name": "Mine", "provider": "anthropic",
        "contextWindow": 120_000, "tags": ["default"], "reasoning": true,
        "input": ["text", "image"],
    }]});
    audit.row("models.list", json!({}), mine).await;
    for (agent, has) in [("main", false), ("helper", true)] {
        let params = json!({"agentId": agent});
        let expected = json!({"agentId": agent});
        let catalog = audit.row("tools.catalog", params, expected).await;
        let groups = catalog["groups"].as_array().unwrap().iter();
        let tools: Vec<&Value> = groups
            .flat_map(|group| group["tools"].as_array().unwrap())
            .map(|tool| &tool["id"])
            .collect();
        assert!(tools.contains(&&json!("read_file")), "{tools:?}");
        let is_there = tools.contains(&&json!("memory_write"));
        assert_eq!(is_there, has, "{agent}: {tools:?}");
    }
    let folder = audit.suite.workspace().join("skills/weather");
    let skills = json!({"agentId": "main", "workspaceDir": audit.state("workspace"), "skills": [{
        "name": "weather", "description": "Tells it", "source": "openclaw-workspace",
        "baseDir": folder, "filePath": folder.join("SKILL.md"),
        // No agent is given skills, and that is said.
        "disabled": true, "eligible": false,
    }]});
    audit.row("skills.status", json!({}), skills).await;
}

async fn conversation(audit: &mut Audit) {
    for text in ["The first answer.", "The second answer."] {
        audit.model.push(Scenario::text(text).usage(USAGE));
    }
    audit.say("main", "hello", "u1").await;
    let message = json!({"message": "and then?", "sessionKey": "main", "idempotencyKey": "u2"});
    let accepted = json!({"runId": "u2", "sessionKey": "agent:main:main", "agentId": "main",
        "status": "accepted"});
    audit.row("agent", message, accepted).await;
    let ended = json!({"runId": "u2", "status": "ok", "error": null});
    let ended = audit.row("agent.wait", json!({"runId": "u2"}), ended).await;
    assert!(ended["startedAt"].as_i64() <= ended["endedAt"].as_i64());
    let whole = |it: &Value| it["payload"]["runId"] == "u2" && it["payload"]["result"].is_object();
    let second = loop {
        match audit.socket.seen.iter().find(|it| whole(it)) {
            Some(frame) => break frame.clone(),
            None => drop(audit.socket.next().await.unwrap()),
        }
    };
    let expected = json!({"payload": {"summary": "completed", "result": {
        "payloads": [{"text": "The second answer."}],
        "meta": {"aborted": false, "agentMeta": {
            "provider": "anthropic", "model": "claude-sonnet-5",
            "usage": {"input": 1000, "output": 200, "total": 1200},
        }},
    }}});
    assert_eq!(difference(&expected, &second, ""), None);

    let said = |role: &str, text: &str| match role {
        "user" => json!({"role": role, "content": text}),
        _ => json!({"role": role, "content": [{"text": text}]}),
    };
    let page = json!({
        "sessionKey": "main", "totalMessages": 4, "hasMore": true, "hasActiveRun": false,
        "pendingInputs": {"items": [], "total": 0},
        "defaults": {"modelProvider": "anthropic", "model": "claude-sonnet-5",
            "contextTokens": 120_000},
        "messages": [said("assistant", "The first answer."), said("user", "and then?"),
            said("assistant", "The second answer.")],
    });
    let wanted = json!({"sessionKey": "main", "limit": 3});
    let page = audit.row("chat.history", wanted, page).await;
    let rest = json!({"sessionKey": "main", "cursor": page["nextCursor"]});
    let older = json!({"hasMore": false, "messages": [said("user", "hello")]});
    audit.row("chat.history", rest, older).await;

    let (input, output) = (2.0 * 1000.0 * 3.0 / 1e6, 2.0 * 200.0 * 15.0 / 1e6);
    let cost = audit
        .row(
            "usage.cost",
            json!({"days": 1}),
            json!({"days": 1, "totals": {
                "input": 2000, "output": 400, "totalTokens": 2400, "missingCostEntries": 0,
            }}),
        )
        .await;
    assert_eq!(cost["daily"][0]["totalTokens"], 2400, "{cost}");
    for (name, dollars) in [("inputCost", input), ("totalCost", input + output)] {
        let told = cost["totals"][name].as_f64().unwrap();
        assert!((told - dollars).abs() < 1e-9, "{name}: {cost}");
    }

    let note = json!({"sessionKey": "main", "message": "a note", "label": "L"});
    let injected = audit.row("chat.inject", note, json!({"ok": true})).await;
    let sent = json!({"to": "main", "message": "sent words", "idempotencyKey": "u3"});
    let expected = json!({"runId": "u3", "channel": "webchat", "duplicate": null});
    let words = audit.row("send", sent.clone(), expected).await;
    let again = json!({"runId": "u3", "duplicate": true, "messageId": null});
    audit.row("send", sent, again).await;
    let both = json!({"totalMessages": 6, "messages": [
        said("assistant", "[L]\n\na note"), said("assistant", "sent words")]});
    let wanted = json!({"sessionKey": "main", "limit": 2});
    audit.row("chat.history", wanted, both).await;
    for (id, text) in [(&injected, "[L]\n\na note"), (&words, "sent words")] {
        let around = json!({"sessionKey": "main", "messageId": id["messageId"], "limit": 1});
        let one = json!({"messages": [said("assistant", text)]});
        audit.row("chat.history", around, one).await;
    }
}

/// Runs that are ended, and the messages that wait behind them.
async fn aborted(audit: &mut Audit) {
    let send = |session: &str, id: &str| {
        json!({"sessionKey": session, "message": format!("words of {id}"), "idempotencyKey": id,
            "queueMode": "followup"})
    };
    audit.held(send("main", "a1")).await;
    let one = json!({"sessionKey": "main", "runId": "a1"});
    let expected = json!({"ok": true, "aborted": true, "runIds": ["a1"]});
    audit.row("chat.abort", one.clone(), expected).await;
    assert_eq!(
        audit.socket.end_of("a1").await["payload"]["state"],
        "aborted"
    );
    let nothing = json!({"ok": true, "aborted": false, "runIds": []});
    audit.row("chat.abort", one, nothing).await;

    // What waits is answered after it, unless it is to go too.
    audit.held(send("other", "a2")).await;
    audit.socket.call("chat.send", send("other", "a3")).await;
    let expected = json!({"ok": true, "abortedRunId": "a2", "runIds": ["a2"],
        "status": "aborted"});
    let key = json!({"key": "other"});
    audit.row("sessions.abort", key.clone(), expected).await;
    assert_eq!(audit.socket.end_of("a3").await["payload"]["state"], "final");
    audit.held(send("other", "a4")).await;
    audit.socket.call("chat.send", send("other", "a5")).await;
    let all = json!({"key": "other", "clearQueued": true});
    let ended = audit
        .row("sessions.abort", all, json!({"status": "aborted"}))
        .await;
    assert_eq!(ended["runIds"].as_array().unwrap().len(), 2, "{ended}");
    assert_eq!(
        audit.socket.end_of("a5").await["payload"]["state"],
        "aborted"
    );
    let nothing = json!({"status": "no-active-run", "runIds": []});
    audit.row("sessions.abort", key, nothing).await;
}

async fn sessions(audit: &mut Audit) {
    let new = json!({"key": "fresh", "label": "Fresh", "thinkingLevel": "low"});
    let expected = json!({"ok": true, "key": "agent:main:fresh", "runStarted": false,
        "entry": {"label": "Fresh", "thinkingLevel": "low"}});
    let made = audit.row("sessions.create", new, expected).await;
    for name in ["fork", "worktree", "agentRuntime", "permissionMode"] {
        let other = json!({"key": "otherwise", name: "x"});
        let error = audit.socket.fail("sessions.create", other).await;
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
    let first = json!({"key": "fresh", "message": "hi", "idempotencyKey": "s1"});
    let expected = json!({"runId": "s1", "status": "started", "sessionKey": "agent:main:fresh"});
    audit.row("sessions.send", first, expected).await;
    audit.socket.end_of("s1").await;
    let begun = json!({"message": "begin", "idempotencyKey": "s2", "agentId": "helper"});
    let expected = json!({"runStarted": true, "runId": "s2", "entry": {"label": null}});
    audit.row("sessions.create", begun, expected).await;
    audit.socket.end_of("s2").await;

    let index = "agents/main/sessions/sessions.json";
    let patch = json!({"key": "fresh", "label": "Other one", "thinkingLevel": "high"});
    let expected = json!({"key": "agent:main:fresh", "path": audit.state(index),
        "entry": {"label": "Other one", "thinkingLevel": "high"},
        "resolved": {"modelProvider": "anthropic", "model": "claude-sonnet-5"}});
    audit.row("sessions.patch", patch, expected).await;
    let row = json!({"key": "agent:main:fresh", "sessionId": made["sessionId"],
        "label": "Other one", "thinkingLevel": "high", "status": "done",
        "hasActiveRun": false, "model": "claude-sonnet-5", "modelProvider": "anthropic"});
    let described = json!({"session": row});
    audit
        .row("sessions.describe", json!({"key": "fresh"}), described)
        .await;
    let none = json!({"session": null});
    audit
        .row("sessions.describe", json!({"key": "no-such"}), none)
        .await;

    let listed = json!({"count": 1, "totalCount": 4, "limitApplied": 1, "hasMore": true,
        "nextOffset": 1, "sessions": [{"key": "agent:main:fresh", "label": "Other one"}]});
    audit
        .row("sessions.list", json!({"limit": 1}), listed)
        .await;
    let of_label = json!({"totalCount": 1, "sessions": [row]});
    audit
        .row("sessions.list", json!({"label": "Other one"}), of_label)
        .await;
    let no_label = json!({"totalCount": 0, "count": 0, "sessions": [], "hasMore": false});
    audit
        .row("sessions.list", json!({"label": "Other"}), no_label)
        .await;

    let item = |role: &str, text: &str| json!({"role": role, "text": text});
    let previews = json!({"previews": [
        {"key": "agent:main:fresh", "status": "ok",
            "items": [item("user", "hi"), item("assistant", "You said: hi")]},
        {"key": "agent:main:none", "status": "missing", "items": []},
    ]});
    let keys = json!({"keys": ["fresh", "none"]});
    audit.row("sessions.preview", keys, previews).await;
    let found = json!({"ok": true, "key": "agent:main:fresh", "agentId": "main"});
    for name in [
        json!({"label": "Other one"}),
        json!({"sessionId": made["sessionId"]}),
        json!({"key": "fresh"}),
    ] {
        audit.row("sessions.resolve", name, found.clone()).await;
    }

    let anew = json!({"key": "agent:main:fresh", "entry": {"label": "Other one"}});
    let reset = audit
        .row("sessions.reset", json!({"key": "fresh"}), anew)
        .await;
    // It begins anew under the id that it has.
    assert_eq!(reset["entry"]["sessionId"], made["sessionId"], "{reset}");
    audit.say("fresh", "what was that?", "s3").await;
    let asked = audit.asked_last();
    assert!(
        asked.contains("what was that?") && !asked.contains("You said: hi"),
        "{asked}"
    );

    let gone = json!({"ok": true, "key": "agent:main:other", "deleted": true});
    let gone = audit
        .row("sessions.delete", json!({"key": "other"}), gone)
        .await;
    let archived = gone["archived"][0].as_str().unwrap();
    let kept = std::fs::read(Path::new(archived)).unwrap();
    assert!(!kept.is_empty(), "{archived}");
    let again = json!({"deleted": false, "archived": []});
    audit
        .row("sessions.delete", json!({"key": "other"}), again)
        .await;
    let described = json!({"session": null});
    audit
        .row("sessions.describe", json!({"key": "other"}), described)
        .await;
}

/// Who subscribes hears of it, and who does so no more does not.
async fn followed(audit: &mut Audit) {
    let changed = |it: &Value| it["event"] == "sessions.changed";
    let said = |it: &Value| it["event"] == "session.message";
    let label = |label: &str| json!({"key": "fresh", "label": label});
    let note = |text: &str| json!({"sessionKey": "fresh", "message": text});
    let key = json!({"key": "fresh"});
    let mut other = Socket::enter(&audit.suite).await;

    audit
        .row("sessions.subscribe", json!({}), json!({"subscribed": true}))
        .await;
    audit.socket.seen.clear();
    other.call("sessions.patch", label("Told")).await;
    let told = audit.socket.heard(changed).await;
    assert_eq!(told["payload"]["sessionKey"], "agent:main:fresh", "{told}");
    audit
        .row(
            "sessions.unsubscribe",
            json!({}),
            json!({"subscribed": false}),
        )
        .await;

    let expected = json!({"subscribed": true, "key": "agent:main:fresh"});
    audit
        .row("sessions.messages.subscribe", key.clone(), expected)
        .await;
    audit.socket.seen.clear();
    other.call("chat.inject", note("heard")).await;
    let told = audit.socket.heard(said).await;
    assert!(told["payload"].to_string().contains("heard"), "{told}");
    let expected = json!({"subscribed": false, "key": "agent:main:fresh"});
    audit
        .row("sessions.messages.unsubscribe", key, expected)
        .await;

    audit.socket.seen.clear();
    other.call("sessions.patch", label("Not told")).await;
    other.call("chat.inject", note("not heard")).await;
    // What was told before is before this in the stream.
    audit.socket.call("health", json!({})).await;
    let heard = audit.socket.seen.iter().any(|it| changed(it) || said(it));
    assert!(!heard, "{:?}", audit.socket.seen);
}

async fn compacted(audit: &mut Audit) {
    for number in 1..=3 {
        let id = format!("c{number}");
        audit.say("long", &format!("word{number}"), &id).await;
    }
    audit.model.default(Scenario::text("They spoke of whales."));
    let wanted = json!({"key": "long", "maxLines": 2});
    let expected = json!({"ok": true, "key": "agent:main:long", "compacted": true});
    audit.row("sessions.compact", wanted, expected).await;
    audit.model.default(Scenario::echo());
    audit.say("long", "and now?", "c4").await;
    let asked = audit.asked_last();
    assert!(asked.contains("They spoke of whales."), "{asked}");
    assert!(
        !asked.contains("word1") && asked.contains("word3"),
        "{asked}"
    );
}

async fn jobs(audit: &mut Audit) {
    const AT: i64 = 4_070_908_800_000;
    let at = json!({
        "name": "far", "schedule": {"kind": "at", "at": "2099-01-01T00:00:00Z"},
        "sessionTarget": "isolated", "wakeMode": "now",
        "payload": {"kind": "agentTurn", "message": "ping"},
    });
    let expected = json!({"name": "far", "enabled": true, "nextRunAtMs": AT,
        "payload": {"message": "ping"}});
    let far = audit.row("cron.add", at, expected.clone()).await;
    let id = json!({"id": far["id"]});
    audit.row("cron.get", id.clone(), expected).await;
    let later = json!({
        "name": "later", "schedule": {"kind": "at", "at": "2099-01-02T00:00:00Z"},
        "sessionTarget": "main", "wakeMode": "now",
        "payload": {"kind": "systemEvent", "text": "it is time"},
    });
    let later = audit.socket.call("cron.add", later).await;
    let listed = json!({"total": 2, "hasMore": true, "nextOffset": 1,
        "jobs": [{"id": far["id"], "name": "far"}]});
    audit.row("cron.list", json!({"limit": 1}), listed).await;
    let status = json!({"enabled": true, "jobs": 2, "nextWakeAtMs": AT,
        "storePath": audit.state("state/ledger.sqlite")});
    audit.row("cron.status", json!({}), status).await;

    let due = json!({"id": far["id"], "mode": "due"});
    let not_due = json!({"ok": true, "ran": false, "reason": "not-due"});
    audit.row("cron.run", due, not_due).await;
    let run = audit.row("cron.run", id.clone(), json!({"ok": true})).await;
    let finished = |it: &Value| it["event"] == "cron" && it["payload"]["action"] == "finished";
    audit.socket.heard(finished).await;
    let runs = json!({"total": 1, "entries": [{"jobId": far["id"], "runId": run["runId"],
        "status": "ok", "summary": "You said: ping"}]});
    audit.row("cron.runs", id.clone(), runs).await;

    let off = json!({"id": far["id"], "patch": {"enabled": false, "name": "off"}});
    let expected = json!({"enabled": false, "name": "off", "nextRunAtMs": null});
    audit.row("cron.update", off, expected).await;
    let status = json!({"nextWakeAtMs": later["nextRunAtMs"]});
    audit.row("cron.status", json!({}), status).await;
    let shown = audit
        .suite
        .ctl(&["cron", "list", "--json"])
        .await
        .document();
    assert!(shown.to_string().contains("\"off\""), "{shown}");
    audit
        .row("cron.remove", id.clone(), json!({"removed": true}))
        .await;
    let error = audit.socket.fail("cron.get", id).await;
    assert_eq!(error["details"]["code"], "CRON_JOB_NOT_FOUND", "{error}");
}

async fn approvals(audit: &mut Audit) {
    let ask = json!({"id": "mine", "command": "ls /srv", "cwd": "/", "twoPhase": true,
        "timeoutMs": 60_000});
    let expected = json!({"status": "accepted", "id": "mine"});
    let asked = audit.row("exec.approval.request", ask, expected).await;
    let patience = asked["expiresAtMs"].as_i64().unwrap() - asked["createdAtMs"].as_i64().unwrap();
    assert_eq!(patience, 60_000, "{asked}");
    let one = json!({"id": "mine"});
    let shown = audit
        .row("exec.approval.get", one.clone(), one.clone())
        .await;
    assert!(shown.to_string().contains("ls /srv"), "{shown}");
    audit
        .row("exec.approval.list", json!({}), json!([one]))
        .await;
    let waiting = audit
        .socket
        .begin("exec.approval.waitDecision", one.clone())
        .await;
    let decision = json!({"id": "mine", "decision": "allow-once"});
    audit
        .row("exec.approval.resolve", decision, json!({"ok": true}))
        .await;
    let seen = audit
        .socket
        .seen
        .iter()
        .find(|it| it["id"] == waiting)
        .cloned();
    let decided = match seen {
        Some(decided) => decided,
        None => audit.socket.answer(&waiting).await.unwrap(),
    };
    let expected = json!({"payload": {"id": "mine", "decision": "allow-once"}});
    assert_eq!(difference(&expected, &decided, ""), None);
    audit.seen.insert("exec.approval.waitDecision");
    audit.row("exec.approval.list", json!({}), json!([])).await;
    // A grant that is to end is not one that never does.
    let ending = json!({"id": "mine", "decision": "allow-always", "grantExpiresInDays": 7});
    let error = audit.socket.fail("exec.approval.resolve", ending).await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("grantExpiresInDays"),
        "{error}"
    );
}

async fn system(audit: &mut Audit) {
    let event = json!({"text": "it rains", "host": "h1", "mode": "node", "instanceId": "i1"});
    audit.row("system-event", event, json!({"ok": true})).await;
    let later = json!({"mode": "next-heartbeat", "text": "later"});
    audit.row("wake", later, json!({"ok": true})).await;
    let presence = audit.socket.call("system-presence", json!({})).await;
    audit.seen.insert("system-presence");
    let entry = presence.as_array().unwrap().iter();
    let entry = entry.clone().find(|it| it["instanceId"] == "i1").unwrap();
    let expected = json!({"text": "it rains", "host": "h1", "mode": "node"});
    assert_eq!(difference(&expected, entry, ""), None);

    let sessions = audit.socket.call("sessions.list", json!({})).await;
    let (count, newest) = (&sessions["totalCount"], &sessions["sessions"][0]);
    let status = json!({
        "pid": audit.suite.daemon("openclaw-gateway").as_raw(),
        "runtimeVersion": env!("CARGO_PKG_VERSION"),
        "turns": {"running": 0, "waiting": 0},
        "heartbeat": {"defaultAgentId": "main"},
        "channelSummary": [],
        "sessions": {"count": count,
            "defaults": {"model": "claude-sonnet-5", "contextTokens": 120_000}},
    });
    let status = audit.row("status", json!({}), status).await;
    let recent = &status["sessions"]["recent"][0];
    for name in ["key", "sessionId", "updatedAt", "model", "totalTokens"] {
        assert_eq!(recent[name], newest[name], "{name}: {recent} {newest}");
    }
    let waiting = status["queuedSystemEvents"].to_string();
    assert!(
        waiting.contains("it rains") && waiting.contains("later"),
        "{status}"
    );
    let memory = status["processMemory"]["rssBytes"].as_u64();
    assert!(memory > Some(1 << 20), "{status}");

    let health = json!({
        "ok": true, "defaultAgentId": "main", "channelOrder": ["telegram"],
        "configReload": {"hotReloadStatus": "active"},
        "sessions": {"count": count},
        "agents": [{"agentId": "helper", "isDefault": false, "sessions": {"count": 1}},
            {"agentId": "main", "isDefault": true}],
        "channels": {"telegram": {"enabled": false, "running": false, "connected": false}},
    });
    audit.row("health", json!({"probe": true}), health).await;

    audit.model.push(Scenario::text("It is wet."));
    audit
        .socket
        .call("wake", json!({"mode": "now", "text": "look"}))
        .await;
    let heard = audit.socket.heard(|it| it["event"] == "heartbeat").await;
    let expected = json!({"status": "sent", "preview": "It is wet."});
    let last = audit.row("last-heartbeat", json!({}), expected).await;
    assert_eq!(last, heard["payload"]);
    let asked = audit.asked_last();
    for text in ["it rains", "later", "look"] {
        assert!(asked.contains(text), "{text}: {asked}");
    }
    let told = json!({"queuedSystemEvents": []});
    audit.row("status", json!({}), told).await;

    let names = json!({"includeArgs": true});
    let listed = audit.row("commands.list", names, json!({})).await;
    for command in listed["commands"].as_array().unwrap() {
        let has_arguments = command["args"].is_array();
        assert_eq!(command["acceptsArgs"], has_arguments, "{command}");
    }
    let status = json!({"sessionKey": "main", "message": "/help", "idempotencyKey": "h1"});
    let before = audit.model.turns().len();
    audit.socket.call("chat.send", status).await;
    let help = audit.socket.end_of("h1").await["payload"]["message"].to_string();
    assert_eq!(audit.model.turns().len(), before, "no model is asked");
    for command in listed["commands"].as_array().unwrap() {
        let alias = command["textAliases"][0].as_str().unwrap();
        assert!(help.contains(alias), "{alias} is listed, and not in {help}");
    }
}

/// `connect` of a device; the response.
async fn connected(audit: &Audit, auth: Value, seed: u8, scopes: Value) -> (Socket, Value) {
    let mut socket = Socket::open(&audit.suite.address("http").await, None).await;
    let challenge = socket.next().await.unwrap();
    let mut params = json!({
        "minProtocol": 4, "maxProtocol": 4,
        "client": {"id": "openclaw-ios", "version": "1.0.0", "platform": "ios", "mode": "ui"},
        "role": "operator", "scopes": scopes, "auth": auth,
    });
    params["device"] = socket::device(seed, &params, &challenge["payload"]);
    let answer = socket.ask("connect", params).await.unwrap();
    (socket, answer)
}

async fn devices(audit: &mut Audit) {
    let read = json!(["operator.read"]);
    let write = json!(["operator.read", "operator.write"]);
    let auth = json!({"token": audit.suite.token().await});
    let (_first, answer) = connected(audit, auth, 7, read.clone()).await;
    let own = json!({"deviceToken": answer["payload"]["auth"]["deviceToken"]});
    let (_second, _) = connected(audit, own.clone(), 7, write.clone()).await;
    let asked = json!({"pending": [{"scopes": write, "role": "operator", "platform": "ios"}],
        "paired": [{"scopes": read, "platform": "ios"}]});
    let asked = audit.row("device.pair.list", json!({}), asked).await;
    let device = asked["paired"][0]["deviceId"].clone();
    assert_eq!(asked["pending"][0]["deviceId"], device, "{asked}");
    let request = |asked: &Value| json!({"requestId": asked["pending"][0]["requestId"]});

    let expected = json!({"requestId": request(&asked)["requestId"], "deviceId": device});
    audit
        .row("device.pair.reject", request(&asked), expected)
        .await;
    let still = json!({"pending": [], "paired": [{"scopes": read}]});
    audit.row("device.pair.list", json!({}), still).await;
    let (_third, _) = connected(audit, own.clone(), 7, write.clone()).await;
    let asked = audit.socket.call("device.pair.list", json!({})).await;
    let expected = json!({"device": {"deviceId": device, "scopes": write}});
    audit
        .row("device.pair.approve", request(&asked), expected)
        .await;
    let (mut fourth, answer) = connected(audit, own.clone(), 7, write.clone()).await;
    assert_eq!(answer["payload"]["auth"]["scopes"], write, "{answer}");

    let name = json!({"deviceId": device, "label": "The phone"});
    let expected = json!({"ok": true, "deviceId": device, "label": "The phone"});
    audit.row("device.pair.rename", name, expected).await;
    let named = audit.socket.call("device.pair.list", json!({})).await;
    assert!(named["paired"].to_string().contains("The phone"), "{named}");

    let role = json!({"deviceId": device, "role": "operator"});
    // The token is for the device itself.
    let expected = json!({"deviceId": device, "role": "operator", "scopes": write, "token": null});
    audit
        .row("device.token.rotate", role.clone(), expected)
        .await;
    while fourth.next().await.is_ok() {}
    let (_fifth, answer) = connected(audit, own, 7, write).await;
    assert_eq!(answer["ok"], false, "the old token opens no door: {answer}");
    let expected = json!({"deviceId": device, "role": "operator"});
    let revoked = audit.row("device.token.revoke", role, expected).await;
    assert!(revoked["revokedAtMs"].as_i64() > Some(0), "{revoked}");
    let one = json!({"deviceId": device});
    audit.row("device.pair.remove", one.clone(), one).await;
    let none = json!({"pending": [], "paired": []});
    audit.row("device.pair.list", json!({}), none).await;
}

async fn channels(audit: &mut Audit) {
    let expected = json!({
        "channelOrder": ["slack", "telegram"],
        "channelDefaultAccountId": {"telegram": "default"},
        "channels": {
            "telegram": {"configured": true, "enabled": false, "running": false},
            "slack": {"running": false,
                "lastError": "not supported yet: there is no daemon for this channel"},
        },
    });
    audit
        .row("channels.status", json!({"probe": false}), expected)
        .await;
    let account = json!({"channel": "telegram"});
    let expected = json!({"channel": "telegram", "accountId": "default", "cleared": true,
        "loggedOut": true, "envToken": false});
    audit.row("channels.logout", account, expected).await;
    let file = std::fs::read_to_string(audit.suite.configuration()).unwrap();
    assert!(!file.contains("123:secret"), "{file}");
    let error = audit
        .socket
        .fail("channels.logout", json!({"channel": "signal"}))
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("there are telegram"),
        "{error}"
    );
}

async fn configuration(audit: &mut Audit) {
    let path = json!(audit.suite.configuration());
    let expected = json!({"path": path, "exists": true, "valid": true, "issues": [],
        "config": {"agents": {"list": [{"id": "main", "name": "Robin"}, {"id": "helper"}]}}});
    let got = audit.row("config.get", json!({}), expected).await;
    let raw = "{\"logging\": {\"level\": \"debug\"}, \"models\": {\"providers\": {\"openai\": {\"apiKey\": \"t0p-secret-words\"}}}}";
    let patch = json!({"raw": raw, "baseHash": got["hash"]});
    let expected = json!({"ok": true, "noop": false, "config": {"logging": {"level": "debug"}}});
    let patched = audit.row("config.patch", patch, expected).await;
    let written = || std::fs::read_to_string(audit.suite.configuration()).unwrap();
    let file = written();
    assert!(
        file.contains("debug") && file.contains("t0p-secret-words"),
        "{file}"
    );
    assert!(file.contains("Robin"), "the rest stays: {file}");
    assert!(
        !patched.to_string().contains("t0p-secret-words"),
        "{patched}"
    );

    let covered = audit.socket.call("config.get", json!({})).await;
    let raw = covered["raw"].as_str().unwrap().to_owned();
    assert!(!raw.contains("t0p-secret-words"), "{raw}");
    let same = json!({"raw": raw, "baseHash": covered["hash"]});
    let expected = json!({"ok": true, "noop": true, "hash": covered["hash"]});
    audit.row("config.set", same, expected).await;
    let warn = raw.replace("debug", "warn");
    let other = json!({"raw": warn, "baseHash": covered["hash"]});
    let expected = json!({"ok": true, "noop": false, "config": {"logging": {"level": "warn"}}});
    audit.row("config.apply", other, expected).await;
    let file = std::fs::read_to_string(audit.suite.configuration()).unwrap();
    assert!(
        file.contains("warn") && file.contains("t0p-secret-words"),
        "{file}"
    );
    let stale = json!({"raw": "{}", "baseHash": covered["hash"]});
    let error = audit.socket.fail("config.set", stale).await;
    assert!(
        error["message"].as_str().unwrap().contains("changed since"),
        "{error}"
    );

    let schema = audit.row("config.schema", json!({}), json!({})).await;
    let shipped =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/openclaw.schema.json");
    let shipped: Value = serde_json::from_slice(&std::fs::read(shipped).unwrap()).unwrap();
    assert_eq!(schema["schema"], shipped);
    assert_eq!(schema["version"], env!("CARGO_PKG_VERSION"));
    let place = json!({"path": "gateway.auth"});
    let looked = audit
        .row("config.schema.lookup", place.clone(), place)
        .await;
    let children = looked["children"].as_array().unwrap();
    let child = children.iter().find(|it| it["key"] == "token").unwrap();
    assert_eq!(child["path"], "gateway.auth.token", "{child}");
    // Of an agent in the list the id alone must be there.
    let place = json!({"path": "agents.list[0]"});
    let looked = audit.socket.call("config.schema.lookup", place).await;
    for child in looked["children"].as_array().unwrap() {
        assert_eq!(child["required"], child["key"] == "id", "{child}");
    }

    let tail = audit
        .row(
            "logs.tail",
            json!({"limit": 200}),
            json!({"file": "journal:openclaw-gateway"}),
        )
        .await;
    let lines = tail["lines"].to_string();
    assert!(
        lines.contains("the configuration was changed by a client"),
        "{lines}"
    );
    let next = json!({"cursor": tail["cursor"], "limit": 1});
    let rest = audit.row("logs.tail", next, json!({"reset": false})).await;
    let told = rest["lines"].to_string();
    assert!(
        !told.contains("the configuration was changed by a client"),
        "{rest}"
    );
}
