//! What is forgotten everywhere is nowhere.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use integration_tests::{Setup, Socket, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

const NOTE: &str = "# House\n\n- The spare key is under the blue flowerpot.\n- The bin is green.\n";

/// The files below `folder` whose bytes, unpacked, have `word` in them.
fn with(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(with(&path, word));
        } else if kind.is_file() {
            let mut bytes = fs::read(&path).unwrap_or_default();
            if path.extension().is_some_and(|ending| ending == "zst") {
                let mut unpacked = Vec::new();
                let mut decoder = zstd::Decoder::new(bytes.as_slice()).unwrap();
                decoder.read_to_end(&mut unpacked).unwrap();
                bytes = unpacked;
            }
            if String::from_utf8_lossy(&bytes)
                .to_lowercase()
                .contains(word)
            {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test]
async fn forgetting_leaves_the_words_nowhere_and_the_conversation_goes_on() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .note("memory/house.md", NOTE)
        .start()
        .await;
    for _ in 0..2 {
        model.push(Scenario::text("It is under the Blue\nFlowerpot, I think."));
    }
    suite
        .say("Where is the key? Under the blue flowerpot?")
        .await;
    let other = ["message", "--session", "work", "the BLUE flowerpot again"];
    suite.ctl(&other).await.ok();
    suite
        .ctl(&[
            "sessions",
            "patch",
            "work",
            "--label",
            "blue flowerpot talk",
        ])
        .await
        .ok();
    let state = suite.state();
    assert!(
        with(&state, "flowerpot").len() >= 3,
        "notes, conversations, index"
    );

    let shown = suite.ctl(&["memory", "forget", "blue", "flowerpot"]).await;
    let shown = shown.says(&["memory/house.md:3", "agent:main:main", "agent:main:work"]);
    shown.complains(&["--everywhere"]).ok();
    assert!(with(&state, "flowerpot").len() >= 3, "it was only shown");
    let unasked = suite
        .ctl(&["memory", "forget", "--everywhere", "blue flowerpot"])
        .await;
    unasked.complains(&["--yes"]).ended(64);

    let forget = [
        "memory",
        "forget",
        "--everywhere",
        "--yes",
        "blue flowerpot",
    ];
    suite
        .ctl(&forget)
        .await
        .says(&["removed 1 line of notes"])
        .ok();
    assert_eq!(with(&state, "flowerpot"), Vec::<PathBuf>::new());
    assert!(
        suite
            .written("memory/house.md")
            .unwrap()
            .contains("The bin is green.")
    );
    suite.ctl(&forget).await.ended(1);
    suite
        .ctl(&["memory", "forget", "ab"])
        .await
        .complains(&["3 letters"])
        .ended(64);

    // What the model is told next has no trace of it either.
    model.push(Scenario::text("I do not know."));
    suite.say("So where is it?").await;
    let requests = asked::turns(&model, 3).await;
    let last = asked::words(requests.last().unwrap()).to_lowercase();
    assert!(!last.contains("flowerpot"), "{last}");
    assert!(last.contains("under the ****"), "{last}");
    let suite = suite.restart().await;
    assert_eq!(with(&suite.state(), "flowerpot"), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn forgetting_what_agents_keep_is_forgotten_or_named() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("The code of the gate is 4711 mango.").await;
    let home = suite.state().join("agents/main/home");
    let line = r#"{"type":"user","message":{"role":"user","content":"it is 4711 mango"}}"#;
    let session = home.join(".claude/projects/-w/s.jsonl");
    let draft = suite.state().join("workspace/memory/draft.txt");
    let job = json!({
        "name": "gate", "schedule": {"kind": "every", "everyMs": 86_400_000}, "wakeMode": "now",
        "sessionTarget": "isolated",
        "payload": {"kind": "agentTurn", "message": "try 4711 mango at the gate"},
    });
    Socket::enter(&suite).await.call("cron.add", job).await;
    for (path, text) in [(&session, line), (&draft, "gate: 4711\nmango")] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let forget = ["memory", "forget", "4711 mango"];
    let shown = suite.ctl(&forget).await;
    shown
        .says(&["agent:main:main", "s.jsonl", "draft.txt", "job gate ("])
        .ok();
    assert!(session.exists());
    let forget = ["memory", "forget", "--everywhere", "--yes", "4711 mango"];
    let done = suite.ctl(&forget).await.says(&["1 session of agent CLIs"]);
    done.complains(&["draft.txt still has them", "the job gate ("])
        .ok();
    assert!(!session.exists() && draft.exists());
    assert_eq!(
        with(&suite.state().join("agents"), "mango"),
        Vec::<PathBuf>::new()
    );
}

/// The most memory that the gateway has had, in bytes.
fn peak(suite: &Suite) -> u64 {
    let pid = suite.daemon("openclaw-gateway");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().next().unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn forgetting_takes_no_more_memory_than_the_longest_line() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    let before = peak(&suite);
    let transcript = suite.state().join("agents/main/sessions/long.jsonl");
    let mut line = r#"{"type":"message","text":""#.to_owned();
    line.push_str(&"some mango, ".repeat(3_500_000));
    line.push_str("its code is 4711 mango\"}\n");
    fs::write(&transcript, &line).unwrap();
    let forget = ["memory", "forget", "--everywhere", "--yes", "4711 mango"];
    suite.ctl(&forget).await.says(&["covered 1 place"]).ok();
    let expected = line.replace("4711 mango", "**********");
    assert!(fs::read_to_string(&transcript).unwrap() == expected);
    let more = peak(&suite) - before;
    assert!(more < 128 << 20, "{more} bytes more for {}", line.len());
}

#[tokio::test]
async fn forgetting_names_links_that_lead_to_what_it_does_not_look_into() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    let elsewhere = suite.path("elsewhere.md");
    fs::write(&elsewhere, "the code is 4711 mango\n").unwrap();
    let link = suite.workspace().join("memory/code.md");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    std::os::unix::fs::symlink("code.md", suite.workspace().join("memory/same.md")).unwrap();
    std::os::unix::fs::symlink("nothing", suite.workspace().join("nowhere")).unwrap();
    let named = ["memory/code.md is a link", "memory/same.md is a link"];
    let shown = suite.ctl(&["memory", "forget", "4711 mango"]).await;
    let shown = shown.says(&named).says(&["nowhere that was looked into"]);
    assert!(!shown.stdout.contains("nowhere is a link"), "{shown}");
    shown.ended(1);
    let forget = ["memory", "forget", "--everywhere", "--yes", "4711 mango"];
    suite.ctl(&forget).await.complains(&named).ended(1);
    let text = fs::read_to_string(&elsewhere).unwrap();
    assert_eq!(text, "the code is 4711 mango\n");
}
