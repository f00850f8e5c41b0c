//! Transcripts: files of the gateway, which memory reads.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use openclaw_proto::call::RefusalCode;
use openclaw_proto::memory::{Conversation, Lines, Question, Recalled};
use openclaw_proto::origin::{Origin, is_shared};
use openclaw_sessions::{AgentId, SessionKey};
use serde_json::json;

use crate::harness::{Running, WORDS, asked, origin, state};

fn line(id: &str, role: &str, text: &str, timestamp: i64) -> String {
    let message = json!({"role": role, "content": text, "timestamp": timestamp});
    let entry = json!({"type": "message", "id": id, "parentId": null, "message": message});
    format!("{entry}\n")
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn transcript(running: &Running) -> std::path::PathBuf {
    let folder = running.transcripts();
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("s1.jsonl");
    append(
        &path,
        "{\"type\":\"session\",\"version\":3,\"id\":\"s1\"}\n",
    );
    path
}

#[tokio::test]
async fn sessions_what_was_said_is_found_by_message_while_the_file_is_open() {
    let running = Running::start_in(state(WORDS, &[]));
    let path = transcript(&running);
    append(
        &path,
        &line("m1", "user", "My dentist is Doctor Kowalski.", 1_000_000),
    );
    let hits = running.finds("dentist", &["sessions/s1.jsonl"]).await;
    let hit = &hits[0];
    assert_eq!(
        (hit.source.as_str(), hit.message_id.as_str()),
        ("sessions", "m1")
    );
    assert_eq!((hit.speaker.as_str(), hit.start_line), ("user", 2));
    assert_eq!(hit.timestamp_ms, 1_000_000);
    // Half a line is an append that is under way.
    let whole = line(
        "m2",
        "assistant",
        "The plumber is called Okonkwo.",
        2_000_000,
    );
    let (half, rest) = whole.split_at(60);
    append(&path, half);
    append(&path, rest);
    let hits = running
        .finds("plumber Okonkwo", &["sessions/s1.jsonl"; 2])
        .await;
    assert_eq!(hits[0].message_id, "m2");

    let question = Question {
        corpus: "memory".to_owned(),
        ..asked("main", "dentist", 0)
    };
    let found = running.client.search(&origin(), question).await.unwrap();
    assert!(found.hits.is_empty(), "of the notes alone");
    let question = Question {
        session_id: "s1".to_owned(),
        since_ms: 2_000_000,
        ..asked("main", "plumber", 0)
    };
    let found = running.client.search(&origin(), question).await.unwrap();
    let ids: Vec<&str> = found
        .hits
        .iter()
        .map(|hit| hit.message_id.as_str())
        .collect();
    assert!(!ids.contains(&"m2"), "what is being answered: {ids:?}");

    // The other session asked about her, and was answered.
    for (session_id, speakers) in [("s1", &[][..]), ("other", &["user"])] {
        let question = Question {
            session_id: session_id.to_owned(),
            isolated: true,
            ..asked("main", "plumber Okonkwo", 0)
        };
        let found = running.client.search(&origin(), question).await.unwrap();
        let said = found.hits.iter().map(|hit| hit.speaker.as_str());
        assert_eq!(said.collect::<Vec<_>>(), speakers, "{session_id}");
    }

    let whole = Lines { from: 1, count: 0 };
    let name = "sessions/s1.jsonl";
    for (session, expected) in [
        (("", false), Some(true)),
        (("other", true), Some(false)),
        (("s1", true), None),
    ] {
        let asker = origin();
        let text = running.client.get_for(&asker, "", name, whole, session);
        let text = text.await.unwrap().map(|text| text.text);
        let has_answers = text.as_ref().map(|text| text.contains("assistant: "));
        assert_eq!(has_answers, expected, "{session:?} {text:?}");
    }

    let (origin, lines) = (origin(), Lines { from: 3, count: 1 });
    let text = running.client.get(&origin, "", "sessions/s1.jsonl", lines);
    let text = text.await.unwrap().unwrap();
    assert!(
        text.text
            .ends_with("assistant: The plumber is called Okonkwo.\n"),
        "{text:?}"
    );

    fs::rename(&path, path.with_extension("jsonl.deleted.x")).unwrap();
    running.finds("dentist", &[]).await;
    running.stop().await;
}

/// Asks for a conversation that others hear.
fn in_group(key: &str) -> Origin {
    Origin {
        session_key: key.to_owned(),
        ..origin()
    }
}

#[tokio::test]
async fn group_is_told_nothing_of_private_conversations_nor_of_memory_md() {
    let running = Running::start_in(state(WORDS, &[]));
    running.write("MEMORY.md", "The alarm code is 4711.\n");
    running.write("memory/house.md", "The alarm is made by Abus.\n");
    append(
        &transcript(&running),
        &line("m1", "user", "The alarm code is 0815.", 1_000_000),
    );
    let own = running.transcripts().join("g1.jsonl");
    append(&own, "{\"type\":\"session\",\"version\":3,\"id\":\"g1\"}\n");
    append(
        &own,
        &line("g", "user", "Whose alarm rang at night?", 1_000_000),
    );
    let (note, own) = ("memory/house.md", "sessions/g1.jsonl");
    running.index(false).await;
    let client = &running.client;
    // The last is not ASCII, and cannot be told in the metadata of a call.
    for key in [
        "agent:main:telegram:group:-7",
        "agent:main:telegram:group:-7:topic:2",
        "agent:main:slack:channel:c1:thread:9",
        "agent:main:matrix:room:ключ",
    ] {
        let asker = in_group(key);
        for corpus in ["", "all", "memory", "sessions", "wiki"] {
            let question = Question {
                corpus: corpus.to_owned(),
                session_id: "g1".to_owned(),
                ..asked("main", "alarm code", 0)
            };
            let Ok(found) = client.search(&asker, question).await else {
                assert_eq!(corpus, "wiki");
                continue;
            };
            let mut paths: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
            paths.sort_unstable();
            let expected: &[&str] = match corpus {
                "memory" => &[note],
                "sessions" => &[own],
                _ => &[note, own],
            };
            assert_eq!(paths, expected, "{key} {corpus}");
        }
        let recall = client.recall(&asker, "", ("What is the alarm code?", false), "");
        let recall = recall.await;
        let given = recall.unwrap().passages;
        let path = |given: &Recalled| given.hit.path.clone();
        assert!(given.iter().map(path).all(|path| path == note), "{given:?}");

        let whole = Lines { from: 1, count: 0 };
        for hidden in ["MEMORY.md", "./MEMORY.md", "memory.md", "sessions/s1.jsonl"] {
            let text = client.get_for(&asker, "", hidden, whole, ("g1", false));
            // A name that is no memory's is refused.
            assert!(!matches!(text.await, Ok(Some(_))), "{key} {hidden}");
        }
        for (shown, words) in [(own, "rang"), (note, "Abus"), ("sessions", "rang")] {
            let text = client.get_for(&asker, "", shown, whole, ("g1", false));
            let text = text.await.unwrap().unwrap().text;
            assert!(text.contains(words) && !text.contains("0815"), "{text}");
        }
        let files = client.load_bootstrap(&asker, "main").await.unwrap().files;
        assert!(files.iter().all(|file| file.name != "MEMORY.md"));
        assert!(files.iter().any(|file| file.name == "SOUL.md"));
    }
    let files = client
        .load_bootstrap(&origin(), "main")
        .await
        .unwrap()
        .files;
    assert!(files.iter().any(|file| file.name == "MEMORY.md"));
    let recall = client
        .recall(&origin(), "", ("What is the alarm code?", false), "")
        .await;
    let given = recall.unwrap().passages;
    assert!(given.iter().any(|given| given.hit.snippet.contains("0815")));
    running.stop().await;
}

#[tokio::test]
async fn sessions_what_a_group_is_not_told_keeps_nothing_else_away() {
    let running = Running::start_in(state(WORDS, &[]));
    running.write("MEMORY.md", "The alarm code of the garage door is 4711.\n");
    running.write("memory/gate.md", "Alarm code of the garage: 15.\n");
    running.write(
        "memory/doors.md",
        "# Door\n- door mat\n- door bell\n- door handle\n",
    );
    running.index(false).await;
    let asker = in_group("agent:main:telegram:group:-7");
    let question = ("What is the alarm code of the garage door?", false);
    let recall = running
        .client
        .recall(&asker, "", question, "")
        .await
        .unwrap();
    let paths = recall.passages.iter().map(|given| given.hit.path.as_str());
    assert_eq!(paths.collect::<Vec<_>>(), ["memory/gate.md"]);
    let recall = running
        .client
        .recall(&origin(), "", question, "")
        .await
        .unwrap();
    assert_eq!(recall.passages[0].hit.path, "MEMORY.md");
    running.stop().await;
}

#[tokio::test]
async fn sessions_what_the_conversation_holds_keeps_nothing_else_away() {
    let running = Running::start_in(state(WORDS, &[]));
    running.write(
        "memory/house.md",
        "Spare key of the garden shed: the kitchen.\n",
    );
    running.write(
        "memory/doors.md",
        "# Door\n- door mat\n- door bell\n- door handle\n",
    );
    let told = "The spare key of the garden shed is under the blue flowerpot.";
    append(&transcript(&running), &line("m1", "user", told, 1_000_000));
    running.index(false).await;
    let question = ("Where is the spare key of the garden shed?", false);
    let (client, origin) = (&running.client, origin());
    let paths = async |session: &str| -> [Vec<String>; 2] {
        let recall = client.recall(&origin, "", question, session).await.unwrap();
        [recall.passages, recall.beside]
            .map(|all| all.into_iter().map(|given| given.hit.path).collect())
    };
    let own = "sessions/s1.jsonl";
    let [found, beside] = paths("s1").await;
    assert!(found.contains(&own.to_owned()), "{found:?}");
    assert_eq!(beside, ["memory/house.md"]);
    let [found, beside] = paths("s2").await;
    assert!(found.contains(&own.to_owned()), "{found:?}");
    assert!(beside.is_empty(), "{beside:?}");
    running.stop().await;
}

#[test]
fn shared_are_the_sessions_that_their_keys_call_groups() {
    for raw in [
        "main",
        "work",
        "telegram:7",
        "telegram:group:-7",
        "telegram:group:-7:topic:3",
        "telegram:direct:7:thread:3",
        "slack:channel:c",
        "matrix:room:!a:b.org",
        "12036@g.us",
        "cron:group",
        "global",
    ] {
        let key = SessionKey::parse(raw, &AgentId::main()).unwrap();
        let is_group = key.chat_type() == "group";
        assert_eq!(is_shared(key.as_str()), is_group, "{raw}");
    }
}

#[tokio::test]
async fn sessions_are_left_out_when_the_configuration_says_so() {
    let configuration = r#"{memory: {search: {provider: "none", sources: ["memory"]}}}"#;
    let running = Running::start_in(state(configuration, &[("memory/a.md", "dentist")]));
    let path = transcript(&running);
    append(
        &path,
        &line("m1", "user", "My dentist is Doctor Kowalski.", 1_000_000),
    );
    running.index(false).await;
    assert_eq!(running.paths("dentist").await, ["memory/a.md"]);
    running.stop().await;
}

#[tokio::test]
async fn compaction_is_planned_from_the_transcript() {
    let running = Running::start_in(state(WORDS, &[]));
    let path = transcript(&running);
    for number in 0..40 {
        let words = format!("message number {number} ").repeat(20);
        append(&path, &line(&format!("u{number}"), "user", &words, number));
        append(
            &path,
            &line(&format!("a{number}"), "assistant", &words, number),
        );
    }
    let conversation = Conversation {
        session_id: "s1".to_owned(),
        max_tokens: 2_000,
        reserved_tokens: 200,
        ..Conversation::default()
    };
    let origin = origin();
    let compact = |conversation| running.client.compact(&origin, conversation);
    let plan = compact(conversation.clone()).await.unwrap();
    assert!(
        !plan.fits && plan.tokens_before > 2_000 && plan.tokens_after <= 2_000,
        "{plan:?}"
    );
    assert_eq!(plan.summarise[0], "u0");
    assert!(plan.first_kept_entry_id.starts_with('u'), "{plan:?}");
    assert!(plan.material.starts_with("User: message number 0"));
    assert!(plan.summary_tokens > 0 && plan.shortened.is_empty());

    let enough = Conversation {
        max_tokens: 100_000,
        ..conversation.clone()
    };
    let plan = compact(enough).await.unwrap();
    assert!(plan.fits && plan.summarise.is_empty(), "{plan:?}");

    for (id, max_tokens, code) in [
        ("../s1", 2_000, RefusalCode::InvalidArgument),
        ("s2", 2_000, RefusalCode::NotFound),
        ("s1", 300, RefusalCode::InvalidArgument),
    ] {
        let wrong = Conversation {
            session_id: id.to_owned(),
            max_tokens,
            ..conversation.clone()
        };
        assert_eq!(
            compact(wrong).await.unwrap_err().code(),
            Some(code),
            "{id} {max_tokens}"
        );
    }
    running.stop().await;
}
