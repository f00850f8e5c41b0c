//! Settings of OpenClaw's: those that act reach the model's request, and the
//! others are named.

use std::fs;
use std::path::{Path, PathBuf};

use integration_tests::transcript::of_role;
use integration_tests::{Setup, asked, openclaw};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// Files of OpenClaw's documentation.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            found.push(path);
        }
    }
}

/// The blocks of a page that are whole configurations in JSON5.
fn examples(page: &str, known: &[&str]) -> Vec<Value> {
    let blocks = page.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| {
        let (language, text) = block.split_once('\n')?;
        language.trim().starts_with("json").then_some(text)
    });
    let parsed = blocks.filter_map(|text| json5::from_str::<Value>(text).ok());
    let is_configuration = |value: &Value| {
        let fields = value.as_object().filter(|fields| !fields.is_empty());
        fields.is_some_and(|fields| fields.keys().all(|key| known.contains(&key.as_str())))
    };
    parsed.filter(is_configuration).collect()
}

#[tokio::test]
async fn keys_without_effect_are_named_everywhere() {
    let suite = Setup::offline()
        .set("talk.provider", "elevenlabs")
        .set("channels.telegram.token", "123:abc")
        .set("logging.file", "/tmp/openclaw.log")
        .start()
        .await;
    let keys = ["talk.provider", "channels.telegram.token", "logging.file"];
    let reasons = [
        "not supported yet",
        "channels.telegram.tokenFile",
        "journald",
    ];
    let validated = suite.ctl(&["config", "validate"]).await.ended(0);
    validated.complains(&[&keys[..], &reasons[..]].concat());
    let validated = suite.ctl(&["config", "validate", "--json"]).await;
    let unused = validated.document()["unused"].to_string();
    let status = suite.ctl(&["status", "--verbose"]).await.stdout;
    let doctor = suite.ctl(&["doctor"]).await.stdout;
    for text in keys.iter().chain(&reasons) {
        assert!(unused.contains(text), "{text}: {unused}");
        assert!(status.contains(text), "{text}: {status}");
        assert!(doctor.contains(text), "{text}: {doctor}");
    }
    for key in keys {
        suite.log.times(key, 3).await;
    }
    assert!(!status.contains("123:abc"), "{status}");
}

#[tokio::test]
async fn restriction_that_would_not_hold_is_refused() {
    let suite = Setup::offline().start().await;
    for (key, value) in [
        ("gateway.roles.default", "viewer"),
        ("gateway.tls.enabled", "true"),
        ("tools.byProvider", "{openai: {deny: ['exec']}}"),
    ] {
        let said = suite.ctl(&["config", "set", key, value]).await;
        said.ended(78).complains(&[key, "is a restriction"]);
    }
    suite
        .ctl(&["config", "set", "gateway.tls.enabled", "false"])
        .await
        .ok();
}

/// A file that cannot be used: each fault with its place, and what has no effect.
#[tokio::test]
async fn file_that_cannot_be_used_is_told_as_a_whole() {
    let site = Setup::empty().site();
    let file = site.path("example.json");
    for (text, key, line) in [
        (
            "{ \"talk\": {\"provider\": \"x\"},\n\"gateway\": {\"auth\": {\"mode\": \"trusted-proxy\"}} }",
            "gateway.auth.mode",
            2,
        ),
        (
            "{ \"talk\": {\"provider\": \"x\"},\n\n\"logging\": {\"level\": \"loud\"} }",
            "logging.level",
            3,
        ),
    ] {
        fs::write(&file, text).unwrap();
        let path = file.to_str().unwrap();
        let said = site.ctl(&["config", "validate", path, "--json"]).await;
        let document = said.ended(78).document();
        let problem = &document["problems"][0];
        assert_eq!(problem["path"], key, "{document}");
        assert_eq!(problem["file"], path, "{document}");
        assert_eq!(problem["line"], line, "{document}");
        let message = problem["message"].as_str().unwrap();
        assert!(message.starts_with("is \""), "{document}");
        assert_eq!(document["unused"][0]["keys"], json!(["talk.provider"]));
        let said = site.ctl(&["config", "validate", path]).await.ended(78);
        said.complains(&[
            &format!("{path}:{line}:"),
            key,
            "talk.provider",
            "not supported yet",
        ]);
    }
}

#[tokio::test]
async fn messages_go_only_where_the_send_policy_lets_them() {
    let deny = json!({"action": "deny", "match": {"keyPrefix": "closed"}});
    let suite = Setup::offline()
        .set("session.sendPolicy", json!({"rules": [deny]}))
        .start()
        .await;
    suite.say("hello").await;
    let closed = ["message", "--session", "agent:main:closed", "hello"];
    let said = suite.ctl(&closed).await;
    assert_ne!(said.code, 0, "{said}");
    said.complains(&["send blocked by session policy"]);
}

#[tokio::test]
async fn safe_bins_run_as_filters_alone_where_only_what_is_listed_runs() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.security", "safe-bin")
        .set("tools.exec.safeBins", json!(["sort", "wc", "jq"]))
        .start()
        .await;
    suite.note("a.txt", "b\na\n");
    let begin = |command: &str| {
        model.push(Scenario::tool("execute_shell", json!({"command": command})));
        suite.begin(&["message", "--json", "go on"])
    };
    for command in ["wc -l", "sort -k 1 | wc -w"] {
        let said = begin(command).end().await.ok();
        assert!(!said.contains("approval_requested"), "{command}: {said}");
        assert!(said.contains("\"success\":true"), "{command}: {said}");
    }
    for command in [
        "sort -o b.txt",
        "sort a.txt",
        "cat a.txt",
        "wc -l a.txt",
        "jq .",
    ] {
        let mut talk = begin(command);
        talk.hear("\"approval_requested\"").await;
        let list = suite.ctl(&["approvals", "list", "--json"]).await.document();
        let id = list["waiting"][0]["id"].as_str().unwrap().to_owned();
        suite.ctl(&["approvals", "deny", &id]).await.ok();
        talk.end().await.ok();
    }
    assert_eq!(suite.written("b.txt"), None);
    suite
        .log
        .times("is never taken for one that only filters", 1)
        .await;
}

#[tokio::test]
async fn agents_persona_and_parameters_reach_the_model() {
    let model = Server::start().await.unwrap();
    let main = json!({
        "id": "main", "default": true,
        "systemPrompt": "Never mention the weather.",
        "identity": {"name": "Molty", "theme": "space lobster", "emoji": "🦞"},
        "params": {"temperature": 0.25, "topP": 0.5, "maxTokens": 321, "colour": "red"},
    });
    let suite = Setup::anthropic(&model)
        .set("agents.list", json!([main]))
        .start()
        .await;
    suite.say("hello").await;
    let request = asked::turns(&model, 1).await.remove(0);
    let words = asked::words(&request);
    for text in ["Never mention the weather.", "Molty", "space lobster", "🦞"] {
        assert!(words.contains(text), "{text}: {words}");
    }
    let request = request.json();
    assert_eq!(request["temperature"], 0.25);
    assert_eq!(request["top_p"], 0.5);
    assert_eq!(request["max_tokens"], 321);
    let said = suite.ctl(&["config", "validate"]).await.ended(0);
    said.complains(&["agents.list.0.params.colour"]);
}

#[tokio::test]
async fn overriding_prompt_is_all_that_is_said() {
    let model = Server::start().await.unwrap();
    let suite = Setup::openai(&model)
        .set("agents.defaults.systemPromptOverride", "You are a parrot.")
        .set(
            "agents.defaults.params",
            json!({"seed": 7, "stop": ["END"]}),
        )
        .start()
        .await;
    suite.say("hello").await;
    let request = asked::turns(&model, 1).await.remove(0);
    let words = asked::words(&request);
    assert!(words.contains("You are a parrot."), "{words}");
    assert!(!words.contains("personal assistant"), "{words}");
    let request = request.json();
    assert_eq!(
        (&request["seed"], &request["stop"]),
        (&json!(7), &json!(["END"]))
    );
}

#[tokio::test]
async fn models_own_limits_hold() {
    let model = Server::start().await.unwrap();
    let described = json!([{
        "id": "gpt-5", "name": "Mine", "contextWindow": 12_000, "maxTokens": 77,
        "reasoning": false, "input": ["text", "image"],
    }]);
    let suite = Setup::openai(&model)
        .set("models.providers.openai.models", described)
        .start()
        .await;
    let patch = ["sessions", "patch", "main", "--set", "thinkingLevel=high"];
    suite.say("first").await;
    suite.ctl(&patch).await.ok();
    suite.say("second").await;
    let requests = asked::turns(&model, 2).await;
    for request in &requests {
        let request = request.json();
        let most = [&request["max_completion_tokens"], &request["max_tokens"]];
        assert!(most.contains(&&json!(77)), "{request}");
        assert_eq!(request["reasoning_effort"], Value::Null, "{request}");
    }
    // A part of the window is for the answer: the rest is summarised before it
    // is full.
    model.push(Scenario::text("yes ".repeat(8_000)));
    suite.say("third").await;
    model.push(Scenario::text("what was said, in short"));
    suite.say("fourth").await;
    let entries = suite.entries();
    let is_summary = |entry: &Value| entry["type"] == "compaction";
    assert!(entries.iter().any(is_summary), "{}", entries.len());
    let Some(openclaw) = openclaw::OpenClaw::at(&suite).await else {
        return;
    };
    let models = openclaw.cli(&["models", "list"]).await.ok();
    assert!(
        models.contains("12k") || models.contains("11.7k"),
        "{models}"
    );
}

#[tokio::test]
async fn file_tools_stay_in_the_workspace_where_they_are_to() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.fs.workspaceOnly", true)
        .start()
        .await;
    model.push(Scenario::tool(
        "read_file",
        json!({"path": "/etc/os-release"}),
    ));
    suite.say("what is this machine?").await;
    let messages = suite.messages();
    let result = of_role(&messages, "toolResult")[0].to_string();
    assert!(result.contains("outside the workspace"), "{result}");
    assert!(result.contains("tools.fs.workspaceOnly"), "{result}");
}

#[tokio::test]
async fn command_ends_after_the_configured_time() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.timeoutSec", 1)
        .start()
        .await;
    model.push(Scenario::tool(
        "execute_shell",
        json!({"command": "sleep 60"}),
    ));
    suite.say("wait").await;
    let messages = suite.messages();
    let result = of_role(&messages, "toolResult")[0].to_string();
    assert!(result.contains("1 s"), "{result}");
}

#[tokio::test]
async fn claude_is_told_its_limits_and_has_our_file_tools() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup
        .set("agents.defaults.maxTokens", 1234)
        .set("agents.defaults.systemPromptOverride", "You are a parrot.")
        .set("tools.fs.workspaceOnly", true)
        .start()
        .await;
    suite.say("hello").await;
    let request = asked::turns(&model, 1).await.remove(0);
    assert_eq!(request.json()["max_tokens"], 1234);
    let words = asked::words(&request);
    assert!(words.contains("You are a parrot."), "{words}");
    assert!(!words.contains("personal assistant"), "{words}");
    let tools = asked::tools(&request);
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    assert!(has("mcp__openclaw__read_file"), "{tools:?}");
    assert!(!has("Read") && !has("Write") && !has("Grep"), "{tools:?}");
}

#[tokio::test]
async fn provider_with_an_unknown_api_takes_only_itself_away() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("models.providers.soap.api", "google-generative-ai")
        .set("models.providers.soap.baseUrl", "http://127.0.0.1:1")
        .set("models.providers.litellm.baseUrl", "http://127.0.0.1:1")
        .set("models.providers.litellm.apiKey", "${SET_NOWHERE}")
        .set("models.providers.vault.baseUrl", "http://127.0.0.1:1")
        .set(
            "models.providers.vault.apiKey",
            json!({"source": "file", "id": "/v"}),
        )
        .set("tts.providers.openai.apiKey", "${SET_NOWHERE_EITHER}")
        .start()
        .await;
    model.push(Scenario::text("here I am"));
    assert_eq!(suite.say("hello").await, "here I am\n");
    let said = suite.ctl(&["config", "validate"]).await.ended(0);
    said.complains(&[
        "models.providers.soap.api",
        "google-generative-ai",
        "models.providers.litellm.apiKey",
        "${SET_NOWHERE}, which is not set",
        "models.providers.vault.apiKey",
        "is a reference to a secret elsewhere",
    ]);
    let patch = ["sessions", "patch", "main", "--set", "model=soap/x"];
    let refused = suite.ctl(&patch).await.ended(64);
    refused.complains(&["soap/x", "cannot be asked"]);
}

/// Keys that nothing can be done without.
const NEEDED: [&str; 2] = ["gateway.auth", "hooks.token"];
/// What is said of a value that is elsewhere.
const ABSENT: [&str; 2] = ["which is not set", "secret elsewhere"];

/// Every key of OpenClaw's own examples acts or is named, and none is unknown.
#[tokio::test]
async fn examples_of_openclaw_have_no_silent_keys() {
    let Some(folder) = openclaw::folder() else {
        return;
    };
    let keys = include_str!("../../../../services/effect/openclaw-keys/keys.txt");
    let known: Vec<&str> = keys
        .lines()
        .filter(|key| !key.contains('.') && !key.starts_with('#'))
        .collect();
    let mut found = Vec::new();
    pages(&folder.join("node_modules/openclaw/docs"), &mut found);
    // Other programs' settings, and messages.
    let is_other = |page: &PathBuf| {
        page.ends_with("docs/cli/acp.md") || page.to_string_lossy().contains("/gateway/protocol/")
    };
    found.retain(|page| !is_other(page));
    found.sort();
    let site = Setup::empty().site();
    let file = site.path("example.json");
    let (mut count, mut unknown, mut unusable) = (0, Vec::new(), Vec::new());
    for page in found {
        let text = fs::read_to_string(&page).unwrap();
        for example in examples(&text, &known) {
            count += 1;
            fs::write(&file, example.to_string()).unwrap();
            let path = file.to_str().unwrap();
            let said = site.ctl(&["config", "validate", path, "--json"]).await;
            let problems = said.document()["problems"].clone();
            for problem in problems.as_array().into_iter().flatten() {
                let message = problem["message"].as_str().unwrap_or_default();
                if message.contains("is not known") {
                    unknown.push(format!("{}: {}", page.display(), problem["path"]));
                }
                // A secret that is not there makes no file unusable, but for those without
                // which anybody could come in.
                let path = problem["path"].as_str().unwrap_or_default();
                let is_needed = NEEDED.iter().any(|it| path.starts_with(it));
                let is_absent = ABSENT.iter().any(|it| message.contains(it));
                if is_absent && !is_needed {
                    unusable.push(format!("{}: {path}: {message}", page.display()));
                }
            }
        }
    }
    assert!(count > 1000, "only {count} examples were found");
    unknown.sort();
    unknown.dedup();
    assert!(unknown.is_empty(), "{unknown:#?}");
    unusable.sort();
    unusable.dedup();
    assert!(unusable.is_empty(), "{unusable:#?}");
}
