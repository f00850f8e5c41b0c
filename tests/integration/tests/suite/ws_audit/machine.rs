//! What the gateway has and does beside conversations.

use std::path::Path;

use integration_tests::socket::Socket;
use scripted_model::Scenario;
use serde_json::{Value, json};

use super::{Audit, difference};

pub(super) async fn agents(audit: &mut Audit) {
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
    let robin = json!({"agentId": "main", "name": "Robin", "nameSource": "agent",
        "avatar": "🐦", "emoji": "🐦"});
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
}

pub(super) async fn jobs(audit: &mut Audit) {
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

pub(super) async fn approvals(audit: &mut Audit) {
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

pub(super) async fn system(audit: &mut Audit) {
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
    assert_eq!(recent["systemSent"], true, "{recent}");
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

pub(super) async fn devices(audit: &mut Audit) {
    let address = audit.suite.address("http").await;
    let read = json!(["operator.read"]);
    let write = json!(["operator.read", "operator.write"]);
    let auth = json!({"token": audit.suite.token().await});
    let (_first, answer) = Socket::with_device(&address, auth, 7, read.clone()).await;
    let own = json!({"deviceToken": answer["payload"]["auth"]["deviceToken"]});
    let (_second, _) = Socket::with_device(&address, own.clone(), 7, write.clone()).await;
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
    let (_third, _) = Socket::with_device(&address, own.clone(), 7, write.clone()).await;
    let asked = audit.socket.call("device.pair.list", json!({})).await;
    let expected = json!({"device": {"deviceId": device, "scopes": write}});
    audit
        .row("device.pair.approve", request(&asked), expected)
        .await;
    let (mut fourth, answer) = Socket::with_device(&address, own.clone(), 7, write.clone()).await;
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
    let (_fifth, answer) = Socket::with_device(&address, own, 7, write).await;
    assert_eq!(answer["ok"], false, "the old token opens no door: {answer}");
    let expected = json!({"deviceId": device, "role": "operator"});
    let revoked = audit.row("device.token.revoke", role, expected).await;
    assert!(revoked["revokedAtMs"].as_i64() > Some(0), "{revoked}");
    let one = json!({"deviceId": device});
    audit.row("device.pair.remove", one.clone(), one).await;
    let none = json!({"pending": [], "paired": []});
    audit.row("device.pair.list", json!({}), none).await;
}

pub(super) async fn channels(audit: &mut Audit) {
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

pub(super) async fn configuration(audit: &mut Audit) {
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

    let log = audit.suite.state().join("logs/run.jsonl");
    assert!(log.is_file(), "{}", log.display());
    let tail = audit
        .row("logs.tail", json!({"limit": 200}), json!({ "file": log }))
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
