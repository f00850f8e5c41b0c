//! Reading, forgetting, exporting and recalling.

use openclaw_proto::call::RefusalCode;
use openclaw_proto::memory::Lines;
use tokio_stream::StreamExt as _;

use crate::harness::{Running, WORDS, origin, state, write};

#[tokio::test]
async fn lines_are_read_and_other_files_are_not() {
    let running = Running::start_in(state("", &[("memory/a.md", "one\ntwo\nthree\n")]));
    write(&running.workspace().join("private.md"), "secret");
    let get = async |path: &str, from, count| {
        let lines = Lines { from, count };
        running.client.get(&origin(), "main", path, lines).await
    };
    let text = get("memory/a.md", 2, 1).await.unwrap().unwrap();
    assert_eq!((text.text.as_str(), text.from, text.lines), ("two\n", 2, 1));
    assert_eq!(text.total_lines, 3);
    let absolute = running.workspace().join("memory/a.md");
    let text = get(absolute.to_str().unwrap(), 0, 0)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(text.text, "one\ntwo\nthree\n");
    assert_eq!(get("memory/none.md", 0, 0).await.unwrap(), None);
    for path in [
        "private.md",
        "../openclaw.json",
        "/etc/passwd",
        "memory/../private.md",
    ] {
        let refused = get(path, 0, 0).await.unwrap_err();
        assert_eq!(refused.code(), Some(RefusalCode::InvalidArgument), "{path}");
        assert!(refused.to_string().contains("MEMORY.md"));
    }
    running.stop().await;
}

#[tokio::test]
async fn notes_what_is_forgotten_is_gone_from_the_file_and_from_searches() {
    let running = Running::start_in(state(WORDS, &[("memory/a.md", "# Day\n- fox\n- hen\n")]));
    // The line, and the one beside it.
    running.finds("fox", &["memory/a.md"; 2]).await;
    let forget = async |path: &str, lines| running.client.forget("", path, lines).await;
    let forgotten = forget("memory/a.md", (2, 2)).await.unwrap();
    assert_eq!((forgotten.lines, forgotten.removed), (1, false));
    let path = running.workspace().join("memory/a.md");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "# Day\n- hen\n");
    let hits = running.search("fox").await;
    assert!(
        hits.iter().all(|hit| !hit.snippet.contains("fox")),
        "{hits:?}"
    );

    let beyond = forget("memory/a.md", (2, 9)).await.unwrap_err();
    assert!(beyond.to_string().contains("lines 1 to 2"), "{beyond}");
    assert_eq!(
        forget("memory/b.md", (0, 0)).await.unwrap_err().code(),
        Some(RefusalCode::NotFound)
    );
    let theirs = forget("sessions/x.jsonl", (0, 0)).await.unwrap_err();
    assert_eq!(theirs.code(), Some(RefusalCode::FailedPrecondition));
    assert_eq!(
        forget("/etc/passwd", (0, 0)).await.unwrap_err().code(),
        Some(RefusalCode::InvalidArgument)
    );

    let forgotten = forget("memory/a.md", (0, 0)).await.unwrap();
    assert!(forgotten.removed && !path.exists());
    assert!(running.search("hen").await.is_empty());
    running.stop().await;
}

#[tokio::test]
async fn everything_is_exported() {
    let files = [
        ("MEMORY.md", "the fox"),
        ("memory/2026-03-04.md", "the hen"),
    ];
    let running = Running::start_in(state("", &files));
    running.index(false).await;
    let documents = running.client.export("").await.unwrap();
    let documents: Vec<_> = documents.map(Result::unwrap).collect().await;
    let told: Vec<_> = documents
        .iter()
        .map(|d| (d.path.as_str(), d.text.as_str(), d.source.as_str(), d.total))
        .collect();
    let expected = files.map(|(path, text)| (path, text, "memory", 2));
    assert_eq!(told, expected);
    running.stop().await;
}

#[tokio::test]
async fn message_recalls_what_is_about_it_and_nothing_else() {
    let files = [
        ("memory/cats.md", "# Cats\n\nThe cat is called Mourek.\n"),
        (
            "memory/boiler.md",
            "The boiler was serviced by Nováček in May.\n",
        ),
        ("memory/tax.md", "The tax return is due in April.\n"),
    ];
    let running = Running::start_in(state("", &files));
    running.index(false).await;
    let recall = async |text: &str| {
        let recall = running
            .client
            .recall(&origin(), "", (text, false), "")
            .await
            .unwrap();
        assert!(recall.limit == 3 && recall.tokens > 100);
        let given = recall.given(|_| false);
        given.into_iter().map(|hit| hit.path).collect::<Vec<_>>()
    };
    assert_eq!(recall("What is the cat called?").await, ["memory/cats.md"]);
    assert_eq!(
        recall("Who serviced the boiler?").await,
        ["memory/boiler.md"]
    );
    assert!(recall("Write a haiku about the sea.").await.is_empty());
    running.configure("{agents: {defaults: {memorySearch: {recall: {enabled: false}}}}}");
    let none = running
        .client
        .recall(&origin(), "", ("What is the cat called?", false), "")
        .await;
    assert!(none.unwrap().passages.is_empty());
    running.stop().await;
}
