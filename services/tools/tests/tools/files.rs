//! The file tools on a real file system.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use openclaw_tools::ToolResult;
use serde_json::{Value, json};

use crate::Tools;

async fn run(workspace: &Path, name: &str, arguments: Value) -> ToolResult {
    Tools::of(workspace).run(name, arguments).await
}

fn kind(result: &ToolResult) -> &str {
    result.error.as_ref().unwrap().kind.as_str()
}

#[tokio::test]
async fn files_long_file_comes_in_parts_that_fit_together() {
    let folder = tempfile::tempdir().unwrap();
    let whole: String = (1..=4500).map(|n| format!("line {n}\n")).collect();
    fs::write(folder.path().join("long"), &whole).unwrap();
    let first = run(folder.path(), "read_file", json!({"path": "long"})).await;
    let (part, mark) = first
        .output
        .split_once("[truncated, 2500 more lines; use offset 2001]")
        .unwrap();
    assert_eq!(mark, "\n");
    let rest = run(
        folder.path(),
        "read_file",
        json!({"path": "long", "offset": 2001}),
    )
    .await;
    assert!(rest.output.starts_with("line 2001\n"));
    assert!(
        rest.output
            .contains("[truncated, 500 more lines; use offset 4001]")
    );
    assert!(whole.starts_with(part) && part.ends_with("line 2000\n"));
}

#[tokio::test]
async fn limit_and_offset_choose_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "a\nb\nc\nd").unwrap();
    let arguments = json!({"path": "f", "offset": 2, "limit": 2});
    let result = run(folder.path(), "read_file", arguments).await;
    assert_eq!(
        result.output,
        "b\nc\n[truncated, 1 more lines; use offset 4]\n"
    );
    let behind = run(
        folder.path(),
        "read_file",
        json!({"path": "f", "offset": 9}),
    )
    .await;
    assert_eq!(kind(&behind), "invalid_arguments");
    assert!(behind.error.unwrap().message.contains("has 4 lines"));
}

#[tokio::test]
async fn files_one_endless_line_is_cut_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "é".repeat(100_000)).unwrap();
    let result = run(folder.path(), "read_file", json!({"path": "f"})).await;
    assert!(result.output.len() < 70_000);
    assert!(
        result
            .output
            .contains("[line 1 cut, 134464 more bytes in it")
    );
    assert!(!result.output.contains('\u{FFFD}'));
    // The limit falls between the two bytes of a letter.
    fs::write(folder.path().join("f"), format!("x{}", "é".repeat(100_000))).unwrap();
    let result = run(folder.path(), "read_file", json!({"path": "f"})).await;
    let mark = "[line 1 cut, 134466 more bytes in it";
    let (text, _) = result.output.split_once(mark).unwrap();
    assert_eq!(text.trim_end().len(), 65_535);
    assert!(!text.contains('\u{FFFD}'));
}

#[tokio::test]
async fn files_what_is_not_a_text_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("binary"), b"\x7fELF\0\0").unwrap();
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (path, expected) in [
        ("binary", "binary_file"),
        (".", "wrong_file_type"),
        ("pipe", "wrong_file_type"),
        ("missing", "not_found"),
        ("binary/under", "wrong_file_type"),
    ] {
        let result = run(folder.path(), "read_file", json!({"path": path})).await;
        assert_eq!(kind(&result), expected, "{path}");
    }
    let outside = run(folder.path(), "read_file", json!({"path": "/nowhere/x"})).await;
    assert!(
        outside
            .error
            .unwrap()
            .message
            .contains("outside the workspace")
    );
}

#[tokio::test]
async fn writing_makes_folders_keeps_the_mode_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/er/script");
    let first = run(
        folder.path(),
        "write_file",
        json!({"path": "deep/er/script", "content": "one"}),
    )
    .await;
    assert!(first.output.starts_with("wrote 3 bytes to "), "{first:?}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    run(
        folder.path(),
        "write_file",
        json!({"path": "deep/er/script", "content": "two"}),
    )
    .await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "two");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert_eq!(
        fs::read_dir(folder.path().join("deep/er")).unwrap().count(),
        1
    );
}

#[tokio::test]
async fn appending_adds_to_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    for part in ["a", "b"] {
        let arguments = json!({"path": "log", "content": part, "append": true});
        let result = run(folder.path(), "write_file", arguments).await;
        assert!(result.output.starts_with("appended 1 bytes"), "{result:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "ab");
}

#[tokio::test]
async fn symlink_is_written_through_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    fs::write(folder.path().join("real/file"), "old").unwrap();
    symlink("real/file", folder.path().join("link")).unwrap();
    run(
        folder.path(),
        "write_file",
        json!({"path": "link", "content": "new"}),
    )
    .await;
    assert!(folder.path().join("link").is_symlink());
    assert_eq!(
        fs::read_to_string(folder.path().join("real/file")).unwrap(),
        "new"
    );
}

#[tokio::test]
async fn folder_or_pipe_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for path in [".", "pipe"] {
        let result = run(
            folder.path(),
            "write_file",
            json!({"path": path, "content": ""}),
        )
        .await;
        assert_eq!(kind(&result), "wrong_file_type", "{path}");
    }
}

#[tokio::test]
async fn listing_is_sorted_with_type_and_size() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("b"), "1234").unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    symlink("b", folder.path().join("c")).unwrap();
    let result = run(folder.path(), "list_directory", json!({})).await;
    assert_eq!(result.output, "dir - a/\nfile 4 b\nlink - c -> b\n");
    let empty = run(folder.path(), "list_directory", json!({"path": "a"})).await;
    assert_eq!(empty.output, "(empty folder)\n");
    let file = run(folder.path(), "list_directory", json!({"path": "b"})).await;
    assert_eq!(kind(&file), "wrong_file_type");
}

#[tokio::test]
async fn huge_listing_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..510 {
        fs::write(folder.path().join(format!("{n:03}")), "").unwrap();
    }
    let result = run(folder.path(), "list_directory", json!({"path": "."})).await;
    assert!(result.output.contains("file 0 499\n"));
    assert!(result.output.contains("[truncated, 10 more entries"));
}
