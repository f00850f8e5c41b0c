//! The level `text` of the sandbox, set by the user: whatever an agent asks for, no command runs, no
//! file is written, and no server of tools is started.

use std::fs;
use std::path::Path;

use integration_tests::tool_server::ToolServer;
use integration_tests::{Setup, Suite};
use scripted_model::{Scenario, Server, ToolCall};
use serde_json::{Value, json};

/// Every file beneath, with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

fn names(contents: &[(String, Vec<u8>)]) -> Vec<&str> {
    contents.iter().map(|(name, _)| name.as_str()).collect()
}

/// A suite at the level, with a server of tools that leaves `started` when it is.
async fn text(model: &Server, server: &ToolServer) -> Suite {
    let started = server.path("started");
    let mut entry = server.entry(&json!({"into": server.path("")}));
    entry["command"] = json!("sh");
    entry["args"] = json!(["-c", format!("touch {}", started.display())]);
    Setup::anthropic(model)
        .set("sandbox.level", "text")
        .set("sandbox.network", "full")
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", entry)
        .note("notes/plan.md", "The plan.\n")
        .start()
        .await
}

/// What comes of calls that the model makes although it is not offered them.
async fn called(suite: &Suite, model: &Server, calls: &[(&str, Value)]) -> Vec<Value> {
    let calls = calls.iter().map(|(name, arguments)| ToolCall {
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    });
    model.push(Scenario::tools(calls).then(Scenario::text("Done.")));
    let run = suite.ask("go on").await;
    run["toolCalls"].as_array().unwrap().clone()
}

#[tokio::test]
async fn text_level_does_nothing_that_a_model_calls() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = text(&model, &server).await;
    suite.say("hello").await;
    let before = contents(&suite.workspace());
    let outside = suite.path("outside");
    let run = format!("echo ran > {}", outside.display());
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch";
    let calls = [
        ("exec", json!({"command": run})),
        ("bash", json!({"command": run})),
        ("process", json!({"action": "list"})),
        ("write_file", json!({"path": outside, "content": "x"})),
        ("write", json!({"path": "new.txt", "content": "x"})),
        (
            "edit",
            json!({"path": "notes/plan.md", "old_text": "plan", "new_text": "x"}),
        ),
        ("apply_patch", json!({"patch": patch})),
        ("read_file", json!({"path": "notes/plan.md"})),
        ("list_directory", json!({"path": "."})),
        ("web_fetch", json!({"url": model.openai_url()})),
        ("test__count", json!({"put": "x"})),
        ("mcp__test__count", json!({"put": "x"})),
    ];
    for call in &calls {
        let called = called(&suite, &model, std::slice::from_ref(call)).await;
        assert_eq!(called[0]["success"], false, "{called:?}");
    }
    assert!(contents(&suite.workspace()) == before);
    assert!(!outside.exists() && !server.path("started").exists());
}

#[tokio::test]
async fn text_level_makes_no_job_that_runs_a_command_and_runs_none() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = text(&model, &server).await;
    let schedule = json!({"kind": "every", "everyMs": 3_600_000});
    let job = |payload: Value| json!({"action": "add", "job": {"schedule": schedule, "payload": payload}});
    let turn = json!({"kind": "agentTurn", "message": "go on"});
    let calls = [
        job(json!({"kind": "command", "argv": ["touch", "made"]})),
        json!({"action": "add", "job": {"schedule": schedule, "payload": turn, "agentId": "other"}}),
    ];
    for arguments in calls {
        let called = called(&suite, &model, &[("cron", arguments)]).await;
        assert_eq!(called[0]["success"], false, "{called:?}");
    }
    // One of the user's own does not run at this level either, and says so.
    let add = [
        "cron",
        "add",
        "--command",
        "touch ran",
        "--every",
        "1h",
        "--name",
        "c",
    ];
    suite.ctl(&add).await.ok();
    suite.ctl(&["cron", "run", "c"]).await.ok();
    let run = loop {
        let history = suite.ctl(&["cron", "history", "--json"]).await.document();
        if let Some(run) = history.as_array().unwrap().first()
            && !run["endedMs"].is_null()
        {
            break run.clone();
        }
    };
    assert_eq!(run["state"], "failed", "{run}");
    assert_eq!((suite.written("made"), suite.written("ran")), (None, None));
}

#[tokio::test]
async fn text_level_obeys_nothing_that_lies_in_the_workspace() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = text(&model, &server).await;
    let obeyed = suite.path("obeyed");
    let command = format!("touch {}", obeyed.display());
    let skill = format!(
        "---\nname: note\ndescription: Notes.\ncommand-dispatch: tool\ncommand-tool: exec\n---\n\n!`{command}`\n"
    );
    let servers = json!({"mcpServers": {"own": {"command": "sh", "args": ["-c", command]}}});
    for (name, text) in [
        ("skills/note/SKILL.md", skill.as_str()),
        (".mcp.json", &servers.to_string()),
        ("BOOT.md", &format!("Run `{command}`.")),
        ("HEARTBEAT.md", &format!("!{command}")),
    ] {
        suite.note(name, text);
    }
    // The first turn lays out what the user may fill in.
    suite.say("hello").await;
    let before = contents(&suite.workspace());
    for said in [
        "/note now",
        "/skill note now",
        "!touch made",
        "/run touch made",
    ] {
        suite.ctl(&["message", said]).await;
    }
    assert_eq!(names(&contents(&suite.workspace())), names(&before));
    assert!(contents(&suite.workspace()) == before);
    assert!(!obeyed.exists() && !server.path("started").exists());
}

#[tokio::test]
async fn text_level_takes_away_the_servers_of_a_session_that_had_them() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let into = server.path("");
    let suite = Setup::anthropic(&model)
        .set("sandbox.level", "off")
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", server.entry(&json!({"into": into})))
        .start()
        .await;
    let put = |text: &str| [("test__count", json!({"put": text}))];
    let before = called(&suite, &model, &put("before")).await;
    assert_eq!(before[0]["success"], true, "{before:?}");
    suite
        .ctl(&["config", "set", "sandbox.level", "text"])
        .await
        .ok();
    let after = called(&suite, &model, &put("after")).await;
    assert_eq!(after[0]["success"], false, "{after:?}");
    assert_eq!(
        fs::read_to_string(into.join("put.txt")).unwrap(),
        "before\n"
    );
}
