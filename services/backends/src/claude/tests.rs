use std::fs;
use std::path::Path;

use openclaw_config::Environment;
use openclaw_handoff::limits::Limits;
use openclaw_proto::history::Message;
use openclaw_proto::runner::BackendSession;
use openclaw_settings::Origin;
use openclaw_tools::approval::{Ask, Rules};
use openclaw_tools::{Layer, Policy};
use serde_json::Value;

use super::*;
use crate::cli::InputFolder;

fn turn(sessions: Vec<BackendSession>) -> Turn {
    let said = |text: &str| Message::User {
        text: text.to_owned(),
    };
    Turn {
        run_id: "r".to_owned(),
        session_key: "agent:main:main".to_owned(),
        session_id: "s".to_owned(),
        agent_id: "main".to_owned(),
        channel: "cli".to_owned(),
        text: "now".to_owned(),
        bootstrap: Vec::new(),
        passages: Vec::new(),
        history: vec![said("first"), said("second")],
        backend_sessions: sessions,
        received_ms: 0,
        notes: Vec::new(),
        granted_commands: Vec::new(),
        command_terms: None,
        model: None,
        thinking_level: None,
        purpose: openclaw_proto::runner::Purpose::Message,
        auth_profile: None,
        limits: String::new(),
    }
}

fn places(folder: &Path) -> Places {
    let places = Places {
        workspace: folder.join("workspace").into(),
        home: folder.join("home"),
        temporary: folder.join("tmp"),
        identity: None,
    };
    for path in [&*places.workspace, &places.home, &places.temporary] {
        fs::create_dir_all(path).unwrap();
    }
    places
}

#[test]
fn session_is_resumed_only_when_its_transcript_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let id = Uuid::new_v4().to_string();
    let turn = turn(vec![BackendSession {
        backend: CLI.backend.to_owned(),
        id: id.clone(),
        unseen: 1,
    }]);
    let kept = folder.path().join("cli/session-one");
    let fresh = session(&turn, &places, &kept);
    assert!(!fresh.resumed && fresh.id != id && fresh.unseen == 2);

    let workspace = places.workspace.to_str().unwrap();
    let name = workspace.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let project = kept.join("projects").join(name);
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join(format!("{id}.jsonl")), "").unwrap();
    let transcript = project.join(format!("{id}.jsonl"));
    fs::rename(&transcript, folder.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("moved"), &transcript).unwrap();
    assert!(
        !session(&turn, &places, &kept).resumed,
        "a link to a transcript"
    );
    fs::rename(folder.path().join("moved"), &transcript).unwrap();
    let resumed = session(&turn, &places, &kept);
    assert_eq!(
        resumed,
        Session {
            id,
            resumed: true,
            unseen: 1
        }
    );

    let line: Value = serde_json::from_str(&input(&turn, &resumed)).unwrap();
    let text = line["message"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("second") && !text.contains("first") && text.ends_with("now"),
        "{text}"
    );
}

#[test]
fn arguments_name_files_of_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let turn = turn(Vec::new());
    let session = session(&turn, &places, folder.path());
    let state = folder.path().to_str().unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = crate::settings::load(&environment, Origin::File).unwrap();
    let layer = Layer {
        deny: vec!["exec".to_owned()],
        ..Layer::default()
    };
    let given = InputFolder::make(&folder.path().join("given"), &places).unwrap();
    let start = Start {
        settings: &settings,
        agent: settings.agent("main").unwrap(),
        turn: &turn,
        places: &places,
        model: Some("m"),
        policy: &Policy::new(vec![layer]),
        rules: &Rules {
            ask: Ask::Off,
            allowlist: Vec::new(),
            granted: Vec::new(),
            safe_bins: openclaw_tools::approval::safe::SafeBins::default(),
            only_listed: false,
            refuses: false,
            open_network: false,
        },
        agent_program: Path::new("/opt/openclaw-agent"),
        given: &given,
        level: Level::Strict,
        limits: &Limits {
            steps: 1,
            identical_calls: 1,
            output_tokens: 1,
            cost_per_turn: 5.0,
            cost_per_day: 25.0,
            spent_today: 20.5,
        },
    };
    let arguments = arguments(&start, &session).unwrap();
    let after = |name: &str| {
        let position = arguments.iter().position(|argument| argument == name);
        arguments[position.unwrap() + 1].to_str().unwrap()
    };
    assert_eq!(after("--max-budget-usd"), "4.5");
    assert!(after("--allowedTools").contains(",Read,"));
    assert!(after("--allowedTools").ends_with(",mcp__openclaw"));
    let there: Vec<&str> = after("--tools").split(',').collect();
    assert!(there.contains(&"Edit") && !there.contains(&"Bash"));
    let position = arguments.iter().position(|a| a == "--session-id").unwrap();
    assert_eq!(arguments[position + 1], session.id.as_str());
    assert!(arguments.iter().any(|a| a == "--setting-sources="));
    let path = folder.path().join("given/mcp.json");
    assert_eq!(after("--mcp-config"), path.to_str().unwrap());
    let mcp: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(
        mcp["mcpServers"]["openclaw"]["command"],
        "/opt/openclaw-agent"
    );
    assert!(folder.path().join("given/system-prompt.md").is_file());
    let left = fs::read_dir(&places.temporary).unwrap().count();
    assert_eq!(left, 0, "nothing where the agent writes");
}

/// Whether the CLI would read something that is named there.
fn names_something(part: &str) -> bool {
    let after = part.split('@').skip(1);
    after.into_iter().any(|it| {
        let word = it.split(char::is_whitespace).next().unwrap_or_default();
        word.contains(char::is_alphanumeric) || it.starts_with('"')
    })
}

#[test]
fn words_are_given_in_parts_of_which_the_last_names_nothing() {
    for words in [
        "@a",
        "@a/b.md",
        "in @drawer/note.md?",
        "see @\"a b\" ",
        "@/ @a/ /",
        "is it @é\n\n",
        "。@名",
        "@ @@ /",
        " /clear @x",
        "mail to a@b.c",
        "@",
        "x @",
    ] {
        let parts = unread(words);
        assert_eq!(parts.concat(), words);
        assert!(parts.iter().all(|it| !it.trim().is_empty()), "{parts:?}");
        assert!(!names_something(parts[parts.len() - 1]), "{parts:?}");
    }
    for words in ["hello", "", "a / b"] {
        assert_eq!(unread(words), [words]);
    }
}
