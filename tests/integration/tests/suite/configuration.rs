//! The configuration in use: changes that arrive by themselves, overlays,
//! variables, and an agent's credentials.

use std::fs;
use std::path::Path;

use integration_tests::socket::Socket;
use integration_tests::{Setup, Suite, asked};
use scripted_model::{Recorded, Scenario, Server};
use serde_json::{Value, json};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn header<'a>(request: &'a Recorded, name: &str) -> Option<&'a str> {
    let mut headers = request.headers.iter();
    let found = headers.find(|(header, _)| header == name);
    found.map(|(_, value)| value.as_str())
}

async fn backend(suite: &Suite) -> Value {
    suite.ask("hello").await["backend"].clone()
}

#[tokio::test]
async fn change_holds_for_what_is_asked_next() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let file = suite.state().join("openclaw.json");
    let mut client = Socket::enter(&suite).await;
    let http = suite.http().await;
    for round in 0..8 {
        let name = format!("claude-number-{round}");
        let set = ["config", "set", "agents.defaults.model", &name];
        suite.ctl(&set).await.ok();
        suite.say("hello").await;
        let asked = model.requests().pop().unwrap().json();
        assert_eq!(asked["model"], name);

        // An editor, and clients whose connections are open already.
        let scope = ["global", "per-sender"][round % 2];
        let text = format!("{{session: {{scope: '{scope}'}}}}");
        fs::write(&file, text).unwrap();
        let agents = client.call("agents.list", json!({})).await;
        assert_eq!(agents["scope"], scope, "{agents}");
        let is_shown = round % 2 == 0;
        let text =
            format!("{{gateway: {{http: {{endpoints: {{metrics: {{enabled: {is_shown}}}}}}}}}}}");
        fs::write(&file, text).unwrap();
        let status = http.get("/metrics").await.status;
        assert_eq!(status, if is_shown { 200 } else { 404 });
        fs::write(&file, "{agents: {defaults: {backend: 'native'}}}").unwrap();
    }
}

#[tokio::test]
async fn change_is_taken_up_without_a_signal() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    assert_eq!(backend(&suite).await, "native");
    let said = suite
        .ctl(&["config", "set", "agents.defaults.backend", "offline"])
        .await;
    said.ended(0);
    suite.log.times("the configuration was read again", 3).await;
    assert_eq!(backend(&suite).await, "offline");

    // An overlay comes over the file, as a drop-in does over a unit.
    let overlay = suite.state().join("openclaw.json.d/10-native.json");
    write(&overlay, "{ agents: { defaults: { backend: 'native' } } }");
    suite.log.times("the configuration was read again", 6).await;
    assert_eq!(backend(&suite).await, "native");

    // What is broken changes nothing but what is said.
    write(&overlay, "{ agents: { defaults: {\n backend: 'nativ' } } }");
    let record = suite.log.message("keeping the one before").await;
    let text = record["message"].as_str().unwrap();
    assert!(
        text.contains("10-native.json:2:2: agents.defaults.backend"),
        "{text}"
    );
    assert_eq!(backend(&suite).await, "native");
    let status = suite.ctl(&["status"]).await;
    assert!(
        status.stdout.contains("did you mean \"native\""),
        "{status}"
    );
}

#[tokio::test]
async fn configuration_every_key_has_a_variable_that_comes_before_the_file() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("agents.defaults.maxTokens", 11)
        .set("agents.defaults.model", "anthropic/from-file")
        .variable("OPENCLAW__AGENTS__DEFAULTS__MAX_TOKENS", "77")
        .start()
        .await;
    suite.say("hello").await;
    let request = &asked::turns(&model, 1).await[0].json();
    assert_eq!(request["max_tokens"], 77);
    assert_eq!(request["model"], "from-file");
}

#[tokio::test]
async fn used_up_credential_is_followed_by_the_next() {
    let model = Server::start().await.unwrap();
    let site = Setup::anthropic(&model).site();
    let store = json!({"version": 1, "profiles": {
        "anthropic:login": {"type": "token", "provider": "anthropic", "token": "tok-1"},
        "anthropic:key": {"type": "api_key", "provider": "anthropic", "key": "key-2"},
    }});
    let auth = site.state().join("agents/main/auth");
    write(&auth.join("profiles.json"), &store.to_string());
    let suite = Suite::start(site).await;
    model.push(Scenario::failure(429).retry_after(60));
    model.push(Scenario::text("with the other key"));
    assert_eq!(suite.say("hello").await, "with the other key\n");
    let requests = asked::turns(&model, 2).await;
    assert_eq!(header(&requests[0], "authorization"), Some("Bearer tok-1"));
    assert_eq!(header(&requests[0], "x-api-key"), None);
    assert_eq!(header(&requests[1], "x-api-key"), Some("key-2"));
    let record = suite
        .log
        .message("going on with an auth profile for anthropic")
        .await;
    for hidden in ["tok-1", "anthropic:login", "anthropic:key"] {
        assert!(!record.to_string().contains(hidden), "{record}");
    }

    // The pause is kept; the reply may come before it is on the disk.
    let kept = auth.join("usage.json");
    let usage =
        || serde_json::from_slice(&fs::read(&kept).unwrap_or_default()).unwrap_or(Value::Null);
    integration_tests::within("the usage is kept", async {
        while usage()["anthropic:login"]["failureCount"] != 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    model.push(Scenario::text("again"));
    suite.say("hello again").await;
    let requests = asked::turns(&model, 3).await;
    assert_eq!(header(&requests[2], "x-api-key"), Some("key-2"));
}

#[tokio::test]
async fn service_managers_credential_is_preferred() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model);
    let credentials = tempfile::tempdir().unwrap();
    write(
        &credentials.path().join("anthropic-api-key"),
        "passed-key\n",
    );
    let folder = credentials.path().to_str().unwrap();
    let site = setup.variable("CREDENTIALS_DIRECTORY", folder).site();
    let profile = json!({
        "id": "anthropic:me", "provider": "anthropic",
        "credential": {"type": "oauth", "accessToken": "login", "expiresAt": 4_102_444_800_000_u64},
    });
    write(
        &site.state().join("agents/main/auth/me.json"),
        &profile.to_string(),
    );
    let suite = Suite::start(site).await;
    suite.say("hello").await;
    let requests = asked::turns(&model, 1).await;
    assert_eq!(header(&requests[0], "x-api-key"), Some("passed-key"));

    let models = suite.state().join("agents/main/models.json");
    let text = fs::read_to_string(models).unwrap();
    assert!(
        !text.contains("passed-key") && !text.contains("login"),
        "{text}"
    );
    let models: Value = serde_json::from_str(&text).unwrap();
    let anthropic = &models["providers"]["anthropic"];
    assert_eq!(anthropic["baseUrl"], model.url());
    assert_eq!(anthropic["api"], "anthropic-messages");
}

#[tokio::test]
async fn mcp_server_elsewhere_is_refused_and_harmless_variables_are_shown() {
    let local = json!({"command": "x", "env": {"PYTHONPATH": "/srv/lib", "API_KEY": "hidden"}});
    let suite = Setup::offline()
        .set("mcp.servers.local", local)
        .set("mcp.servers.far.url", "https://mcp.example.org")
        .start()
        .await;
    let said = suite.ctl(&["config", "validate"]).await;
    said.ended(78)
        .complains(&["mcp.servers.far.url", "a server elsewhere"]);
    let shown = suite
        .ctl(&["config", "get", "mcp.servers.local.env"])
        .await
        .ok();
    assert!(
        shown.contains("/srv/lib") && !shown.contains("hidden"),
        "{shown}"
    );
    let key = "mcp.servers.other.url";
    let said = suite.ctl(&["config", "unset", "mcp.servers.far"]).await;
    said.ok();
    let said = suite
        .ctl(&["config", "set", key, "https://mcp.example.org"])
        .await;
    said.ended(78).complains(&[key]);
    suite.ctl(&["config", "validate"]).await.ok();
}

/// A file that was emptied is not what the user wants: what it said before holds, also
/// for a suite that is started then, and everybody says so.
#[tokio::test]
async fn file_that_was_emptied_is_named_and_the_one_before_holds() {
    let setup = Setup::offline().set("agents.list", json!([{"id": "main"}, {"id": "robin"}]));
    let mut suite = setup.start().await;
    suite.ctl(&["agents"]).await.ended(0).says(&["robin"]);
    suite.configure("\n");
    suite.terminate();
    suite.ended().await;
    let suite = suite.restart().await;
    let told = "the file is empty";
    let status = suite.ctl(&["status"]).await;
    assert!(status.stdout.contains(told), "{status:?}");
    let doctor = suite.ctl(&["doctor"]).await;
    assert!(doctor.stdout.contains(told), "{doctor:?}");
    suite.ctl(&["message", "hi"]).await.complains(&[told]);
    suite
        .ctl(&["config", "validate"])
        .await
        .ended(78)
        .complains(&[told]);
    suite.ctl(&["agents"]).await.ended(0).says(&["robin"]);
    // One key alone is not what the user wants either.
    let set = ["config", "set", "logging.level", "debug"];
    suite
        .ctl(&set)
        .await
        .ended(78)
        .complains(&[told, "last-good"]);
    fs::copy(
        suite.state().join("openclaw.json.last-good"),
        suite.configuration(),
    )
    .unwrap();
    suite.ctl(&set).await.ok();
    suite.ctl(&["config", "validate"]).await.ended(0);
}

#[tokio::test]
async fn value_that_cannot_act_is_told_by_its_key() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let telegram = json!({
        "enabled": false, "allowFrom": ["@ada", 5], "webhookUrl": "http://x", "webhookPort": 0,
        "webhookPath": "nopath", "customCommands": [
            {"command": "Bad Name!", "description": "a"}, {"command": "status", "description": "b"},
        ],
    });
    let file = suite.state().join("openclaw.json");
    write(
        &file,
        &json!({"channels": {"telegram": telegram}}).to_string(),
    );
    let valid = suite.ctl(&["config", "validate"]).await.ended(0);
    for key in [
        "allowFrom.0",
        "webhookUrl",
        "webhookPort",
        "webhookPath",
        "customCommands.0.command",
        "customCommands.1.command",
    ] {
        assert!(
            valid.stderr.contains(&format!("channels.telegram.{key}")),
            "{key}: {valid:?}"
        );
    }
    let set = [
        "config",
        "set",
        "channels.telegram.groupAllowFrom",
        "[\"bob\"]",
    ];
    let said = suite.ctl(&set).await.ended(0);
    assert!(said.stderr.contains("groupAllowFrom.0"), "{said:?}");
    assert!(said.stderr.contains("numeric ids"), "{said:?}");
    assert!(
        !said.stderr.contains("webhookUrl"),
        "only what was changed: {said:?}"
    );
    let proxy = [
        "config",
        "set",
        "channels.telegram.proxy",
        "socks5://127.0.0.1:1080",
    ];
    let refused = suite.ctl(&proxy).await.ended(78);
    assert!(
        refused.stderr.contains("channels.telegram.proxy: must be"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn hours_that_cannot_be_read_keep_the_heartbeat_off_alone() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let file = suite.state().join("openclaw.json");
    let beat = json!({"every": "1h", "activeHours": {"start": "10pm"}});
    let text = json!({"agents": {"defaults": {"heartbeat": beat, "backend": "offline"}}});
    write(&file, &text.to_string());
    let key = "agents.defaults.heartbeat.activeHours.start";
    let record = suite.log.message(key).await;
    assert!(
        record["message"].as_str().unwrap().contains("HH:MM"),
        "{record}"
    );
    assert_eq!(
        backend(&suite).await,
        "offline",
        "the rest of the file holds"
    );
    let validated = suite.ctl(&["config", "validate"]).await.ended(78);
    for said in [key, "HH:MM", "no heartbeat", "the rest of the file is used"] {
        assert!(validated.stderr.contains(said), "{said}: {validated:?}");
    }
    let document = suite.ctl(&["config", "validate", "--json"]).await;
    let document: Value = serde_json::from_str(&document.stdout).unwrap();
    assert_eq!(document["valid"], false);
    assert_eq!(document["problems"][0]["path"], key);
    for command in ["doctor", "status"] {
        let said = suite.ctl(&[command]).await;
        assert!(said.stdout.contains(key), "{command}: {said:?}");
    }
    let jobs = suite.ctl(&["cron", "list"]).await.ended(0);
    assert!(!jobs.stdout.contains("Heartbeat"), "{jobs:?}");
    let later = ["config", "set", key, "11pm"];
    suite.ctl(&later).await.ended(78);
    let mended = ["config", "set", key, "22:00"];
    suite.ctl(&mended).await.ended(0);
    suite.ctl(&["config", "validate"]).await.ended(0);
}
