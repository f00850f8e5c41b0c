use crate::{NOW, open};
use openclaw_sessions::history;
use openclaw_sessions::transcript::*;
use std::collections::HashSet;
use std::time::Instant;
#[test]
#[ignore]
fn bench_load() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut t = open(&path).transcript;
    for i in 0..300 {
        let mut a = Message::Assistant(AssistantMessage {
            content: Content::Blocks(vec![Block::text("hello there")]),
            api: "anthropic-messages".into(),
            provider: "anthropic".into(),
            model: "m".into(),
            ..Default::default()
        });
        a.set_run_id(&format!("run-{i}"));
        t.append(
            vec![
                Message::User(UserMessage::of_run(&format!("run-{i}"), "hi", NOW)),
                a,
            ],
            NOW,
        )
        .unwrap();
    }
    for _ in 0..5 {
        let s = Instant::now();
        let h = history::load(&path, 100_000, &HashSet::new()).unwrap();
        println!(
            "{} messages {:?} bytes {}",
            h.messages.len(),
            s.elapsed(),
            std::fs::metadata(&path).unwrap().len()
        );
    }
}
