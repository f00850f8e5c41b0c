//! Limits of the built-in tools: what is exactly at one passes, one more does not.

use std::fs::{self, File};

use serde_json::json;

use crate::Tools;

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn write_takes_eight_mebibytes_and_not_a_byte_more() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let write = |bytes: usize| json!({"path": "f", "content": "x".repeat(bytes)});
    tools.ok("write_file", write(8 * MIB)).await;
    let file = folder.path().join("f");
    assert_eq!(fs::metadata(&file).unwrap().len(), 8 * MIB as u64);
    let (kind, message) = tools.failed("write_file", write(8 * MIB + 1)).await;
    assert_eq!(kind, "too_large");
    assert!(message.contains("8388609 bytes, the limit of one write is 8388608"));
    assert_eq!(fs::metadata(&file).unwrap().len(), 8 * MIB as u64);
}

#[tokio::test]
async fn edit_takes_files_of_sixteen_mebibytes_and_not_a_byte_more() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let path = folder.path().join("f");
    let edit = json!({"path": "f", "edits": [{"oldText": "begin", "newText": "Begin"}]});
    let text = |bytes: usize| format!("begin{}", "x".repeat(bytes - 5));
    fs::write(&path, text(16 * MIB)).unwrap();
    tools.ok("edit", edit.clone()).await;
    assert!(fs::read(&path).unwrap().starts_with(b"Beginx"));
    fs::write(&path, text(16 * MIB + 1)).unwrap();
    let (kind, message) = tools.failed("edit", edit).await;
    assert_eq!(kind, "too_large");
    assert!(message.contains("it has 16777217 bytes, the limit is 16777216"));
}

#[tokio::test]
async fn edit_counts_its_changes_and_takes_two_hundred() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let edits = |count: usize| {
        let lines: String = (0..count).map(|n| format!("<{n}>\n")).collect();
        fs::write(folder.path().join("f"), lines).unwrap();
        let edit = |n| json!({"oldText": format!("<{n}>"), "newText": format!("[{n}]")});
        json!({"path": "f", "edits": (0..count).map(edit).collect::<Vec<_>>()})
    };
    let said = tools.ok("edit", edits(1)).await;
    assert!(said.starts_with("made 1 change in "), "{said}");
    let said = tools.ok("edit", edits(200)).await;
    assert!(said.starts_with("made 200 changes in "), "{said}");
    let (kind, _) = tools.failed("edit", edits(201)).await;
    assert_eq!(kind, "invalid_arguments");
}

#[tokio::test]
async fn failed_edit_says_which_and_quotes_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    fs::write(folder.path().join("f"), "one one\ntwo\n").unwrap();
    let edit = |old: &str| {
        let edits = json!([{"oldText": "two", "newText": "2"}, {"oldText": old, "newText": "1"}]);
        json!({"path": "f", "edits": edits})
    };
    let (kind, message) = tools.failed("edit", edit(&"y".repeat(81))).await;
    assert_eq!(kind, "no_match");
    let quoted = format!("\"{}…\"", "y".repeat(80));
    assert!(
        message.starts_with("edit 2: ") && message.contains(&quoted),
        "{message}"
    );
    assert!(message.contains("read the file again"), "{message}");
    let (_, message) = tools.failed("edit", edit(&"y".repeat(80))).await;
    assert!(
        message.contains(&format!("\"{}\"", "y".repeat(80))),
        "{message}"
    );
    let (_, message) = tools.failed("edit", edit("one")).await;
    assert!(message.contains("2 times"), "{message}");
    let (_, message) = tools.failed("edit", edit(" two ")).await;
    assert!(message.contains("other space around it"), "{message}");
    assert_eq!(
        fs::read_to_string(folder.path().join("f")).unwrap(),
        "one one\ntwo\n"
    );
}

#[tokio::test]
async fn read_gives_two_thousand_lines_and_marks_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let lines = |count: usize| {
        fs::write(folder.path().join("f"), "l\n".repeat(count)).unwrap();
        json!({"path": "f"})
    };
    assert_eq!(tools.ok("read_file", lines(2000)).await, "l\n".repeat(2000));
    let more = tools.ok("read_file", lines(2001)).await;
    let mark = "[truncated, 1 more lines; use offset 2001]\n";
    assert_eq!(more, "l\n".repeat(2000) + mark);
    // A limit above that of all answers is that of all answers.
    let arguments = json!({"path": "f", "limit": 5000});
    assert_eq!(tools.ok("read_file", arguments).await, more);
}

#[tokio::test]
async fn read_gives_64_kibibytes_and_marks_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let bytes = |count: usize, end: &str| {
        fs::write(folder.path().join("f"), "x".repeat(count) + end).unwrap();
        json!({"path": "f"})
    };
    let whole = tools.ok("read_file", bytes(64 * 1024, "")).await;
    assert_eq!(whole, "x".repeat(64 * 1024));
    let cut = tools.ok("read_file", bytes(64 * 1024 + 1, "\nmore")).await;
    let marks = "\n[line 1 cut, 2 more bytes in it; use execute_shell for the rest]\n\
                 [truncated, 1 more lines; use offset 2]\n";
    assert_eq!(cut, "x".repeat(64 * 1024) + marks);
}

#[tokio::test]
async fn read_counts_lines_up_to_64_mebibytes() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let path = folder.path().join("f");
    let lines = |count: usize| fs::write(&path, ("x".repeat(1023) + "\n").repeat(count)).unwrap();
    let one = json!({"path": "f", "limit": 1});
    lines(64 * 1024);
    let exact = tools.ok("read_file", one.clone()).await;
    assert!(exact.ends_with("\n[truncated, 65535 more lines; use offset 2]\n"));
    lines(64 * 1024 + 1);
    let more = tools.ok("read_file", one).await;
    assert!(more.ends_with("\n[truncated, at least 65535 more lines; use offset 2]\n"));
}

#[tokio::test]
async fn read_looks_for_a_nul_in_the_first_8000_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let nul_at = |place: usize| {
        fs::write(folder.path().join("f"), "x".repeat(place) + "\0").unwrap();
        json!({"path": "f"})
    };
    let (kind, _) = tools.failed("read_file", nul_at(7999)).await;
    assert_eq!(kind, "binary_file");
    tools.ok("read_file", nul_at(8000)).await;
}

#[tokio::test]
async fn list_gives_five_hundred_entries_and_goes_on_after_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    for n in 0..500 {
        File::create(folder.path().join(format!("{n:03}"))).unwrap();
    }
    let all = tools.ok("list_directory", json!({})).await;
    assert_eq!(all.lines().count(), 500);
    assert!(!all.contains("truncated"));
    File::create(folder.path().join("500")).unwrap();
    let part = tools.ok("list_directory", json!({"limit": 900})).await;
    let mark = "[truncated, 1 more entries; list a folder inside, or use after]\n";
    assert_eq!(part, all + mark);
    let rest = tools.ok("list_directory", json!({"after": "498"})).await;
    assert_eq!(rest, "file 0 499\nfile 0 500\n");
    let end = tools.ok("list_directory", json!({"after": "500"})).await;
    assert_eq!(end, "(no more entries)\n");
}

#[tokio::test]
async fn process_write_takes_a_mebibyte_and_not_a_byte_more() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let reader = json!({"command": "exec cat > got", "background": true});
    tools.ok("exec", reader).await;
    let write = |bytes: usize| {
        let data = "x".repeat(bytes);
        json!({"action": "write", "sessionId": "p1", "data": data})
    };
    let (kind, message) = tools.failed("process", write(MIB + 1)).await;
    assert_eq!(kind, "too_large");
    assert!(message.contains("at most 1048576 bytes"), "{message}");
    let said = tools.ok("process", write(MIB)).await;
    assert_eq!(said, "wrote 1048576 bytes\n");
    let eof = json!({"action": "write", "sessionId": "p1", "eof": true});
    tools.ok("process", eof).await;
    let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 20_000});
    let ended = tools.ok("process", poll).await;
    assert!(ended.contains("ended with exit code 0"), "{ended}");
    let got = fs::metadata(folder.path().join("got")).unwrap();
    assert_eq!(got.len(), MIB as u64);
}

#[tokio::test]
async fn process_tells_the_last_24_kibibytes_and_logs_two_thousand_lines() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    // What is said at once is in the answer to the call. 10 bytes a line.
    let command = "while [ ! -e begin ]; do sleep 0.01; done; seq 100000001 100002002; \
                   while [ ! -e go ]; do sleep 0.01; done; echo end";
    tools
        .ok("exec", json!({"command": command, "background": true}))
        .await;
    fs::write(folder.path().join("begin"), "").unwrap();
    let log = json!({"action": "log", "sessionId": "p1"});
    let list = json!({"action": "list"});
    tools.until(list, " 20020 bytes of output").await;
    let logged = tools.ok("process", log).await;
    assert!(logged.ends_with("[2 more lines; use offset 2001]\n"));
    assert!(logged.starts_with("p1 running (pid "), "{logged}");
    assert!(logged.contains("\n100000001\n") && logged.contains("\n100002000\n"));
    let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 20_000});
    let told = tools.ok("process", poll.clone()).await;
    assert!(told.contains(" 20020 bytes of output so far\nnew output (20020 bytes):\n1"));
    assert!(!told.contains("elided"), "{told}");
    let quiet = json!({"action": "poll", "sessionId": "p1"});
    let quiet = tools.ok("process", quiet).await;
    assert!(quiet.ends_with("\nno new output\n"), "{quiet}");
    fs::write(folder.path().join("go"), "").unwrap();
    let end = tools.until(poll, "ended with exit code 0").await;
    assert!(end.contains("new output (4 bytes):\nend\n"), "{end}");
    let last = json!({"action": "log", "sessionId": "p1", "offset": 2002});
    let last = tools.ok("process", last).await;
    assert_eq!(last, "p1 ended with exit code 0\n100002002\nend\n");
}

#[tokio::test]
async fn process_says_how_much_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    for (id, bytes, elided) in [("p1", 24 * 1024, None), ("p2", 24 * 1024 + 1, Some(1))] {
        let command = format!(
            "while [ ! -e {id} ]; do sleep 0.01; done; head -c {bytes} /dev/zero | tr '\\0' x"
        );
        tools
            .ok("exec", json!({"command": command, "background": true}))
            .await;
        fs::write(folder.path().join(id), "").unwrap();
        let listed = format!("{id} ended with exit code 0 ");
        tools.until(json!({"action": "list"}), &listed).await;
        let poll = json!({"action": "poll", "sessionId": id});
        let told = tools.ok("process", poll).await;
        assert!(
            told.contains(&format!("new output ({bytes} bytes):\n")),
            "{told}"
        );
        assert!(told.ends_with(&("x".repeat(24 * 1024) + "\n")));
        match elided {
            Some(count) => assert!(told.contains(&format!("[… {count} bytes elided; "))),
            None => assert!(!told.contains("elided")),
        }
    }
}

#[tokio::test]
async fn sixteen_commands_run_in_the_background_and_32_ended_ones_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let start = |command: &str| json!({"command": command, "background": true});
    let none = json!({"action": "poll", "sessionId": "p1"});
    let (_, message) = tools.failed("process", none).await;
    assert!(message.ends_with("there is none"), "{message}");
    for _ in 0..16 {
        tools.ok("exec", start("exec sleep 300")).await;
    }
    let (kind, message) = tools.failed("exec", start("true")).await;
    assert_eq!(kind, "too_large");
    assert!(message.contains("16 commands run"), "{message}");
    let kill = json!({"action": "kill", "sessionId": "p16"});
    tools.ok("process", kill).await;
    for number in 17..=48 {
        tools.ok("exec", start("exec cat")).await;
        let id = format!("p{number}");
        let eof = json!({"action": "write", "sessionId": id, "eof": true});
        tools.ok("process", eof).await;
        let poll = json!({"action": "poll", "sessionId": id, "timeout": 20_000});
        let ended = tools.ok("process", poll).await;
        assert!(ended.contains("ended with exit code 0"), "{ended}");
        let listed = tools.ok("process", json!({"action": "list"})).await;
        // The oldest of the ended ones gives way, and no other.
        assert_eq!(listed.contains("\np16 "), number < 48, "{listed}");
        let kept = (number - 15).min(32);
        assert_eq!(listed.lines().count(), 15 + kept, "{listed}");
    }
}

#[tokio::test]
async fn process_list_shows_two_hundred_characters_of_a_command_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::of(folder.path());
    let command = format!("exec sleep 300 #\n{}", "ü".repeat(300));
    let started = json!({"command": command, "background": true});
    tools.ok("exec", started).await;
    let listed = tools.ok("process", json!({"action": "list"})).await;
    let (_, shown) = listed.split_once("bytes of output: ").unwrap();
    let shown = shown.strip_suffix('\n').unwrap();
    assert_eq!(shown.chars().count(), 200);
    assert!(shown.starts_with("exec sleep 300 # ü"), "{shown}");
    let remove = json!({"action": "remove", "sessionId": "p1"});
    assert_eq!(tools.ok("process", remove).await, "removed p1\n");
    let listed = tools.ok("process", json!({"action": "list"})).await;
    assert_eq!(listed, "no command runs in the background\n");
}
