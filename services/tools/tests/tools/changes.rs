//! `edit` and `apply_patch` with real files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use openclaw_tools::ToolResult;
use serde_json::{Value, json};

use crate::Tools;

async fn run(folder: &Path, name: &str, arguments: Value) -> ToolResult {
    Tools::of(folder).run(name, arguments).await
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// All that is below `folder`.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .flat_map(|path| [vec![path.clone()], walk(&path)].concat())
        .collect()
}

#[tokio::test]
async fn edit_changes_what_it_names_and_keeps_the_mode() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("run.sh");
    fs::write(&script, "#!/bin/sh\necho one\necho two\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    let edits = json!([{"oldText": "two", "newText": "2"}, {"oldText": "one", "newText": "1"}]);
    let result = run(
        folder.path(),
        "edit",
        json!({"path": "run.sh", "edits": edits}),
    )
    .await;
    assert!(result.success, "{result:?}");
    assert_eq!(read(folder.path(), "run.sh"), "#!/bin/sh\necho 1\necho 2\n");
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[tokio::test]
async fn edit_that_does_not_fit_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "x\ny\n").unwrap();
    let edits = json!([{"oldText": "x", "newText": "1"}, {"oldText": "z", "newText": "2"}]);
    let result = run(folder.path(), "edit", json!({"path": "a", "edits": edits})).await;
    let error = result.error.unwrap();
    assert_eq!(error.kind.as_str(), "no_match");
    assert!(error.message.contains("edit 2"), "{error}");
    assert_eq!(read(folder.path(), "a"), "x\ny\n");
    let missing = run(
        folder.path(),
        "edit",
        json!({"path": "b", "edits": [{"oldText": "x", "newText": "y"}]}),
    );
    assert_eq!(missing.await.error.unwrap().kind.as_str(), "not_found");
}

#[tokio::test]
async fn patch_adds_changes_moves_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.txt"), "gone\n").unwrap();
    fs::write(folder.path().join("code.rs"), "fn a() {\n    1\n}\n").unwrap();
    let input = "*** Begin Patch\n*** Add File: docs/new.md\n+# New\n*** Delete File: old.txt\n\
                 *** Update File: code.rs\n*** Move to: src/code.rs\n@@ fn a() {\n-    1\n+    2\n\
                 *** End Patch";
    let result = run(folder.path(), "apply_patch", json!({"input": input})).await;
    assert!(result.success, "{result:?}");
    assert_eq!(read(folder.path(), "docs/new.md"), "# New\n");
    assert_eq!(read(folder.path(), "src/code.rs"), "fn a() {\n    2\n}\n");
    assert!(!folder.path().join("old.txt").exists());
    assert!(!folder.path().join("code.rs").exists());
}

#[tokio::test]
async fn patch_with_a_file_below_a_file_changes_nothing() {
    for (sections, named) in [
        ("*** Add File: d/new\n+1\n*** Add File: d\n+2\n", "d"),
        (
            "*** Add File: other\n+1\n*** Add File: old/new\n+2\n",
            "old",
        ),
        ("*** Delete File: old\n*** Add File: old/new\n+2\n", "old"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "kept\n").unwrap();
        let input = format!("*** Begin Patch\n{sections}*** End Patch");
        let result = run(folder.path(), "apply_patch", json!({"input": input})).await;
        let message = result.error.unwrap().message;
        assert!(
            message.ends_with(&format!("/{named} is a file")),
            "{message}"
        );
        assert_eq!(read(folder.path(), "old"), "kept\n");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "{sections}"
        );
    }
}

#[tokio::test]
async fn patch_that_cannot_be_written_whole_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "one\n").unwrap();
    // The name of its temporary file would be too long, which nothing sees before.
    let long = "x".repeat(250);
    let input = format!(
        "*** Begin Patch\n*** Update File: a\n-one\n+two\n*** Add File: new\n+1\n\
         *** Add File: {long}{long}\n+2\n*** End Patch"
    );
    let result = run(folder.path(), "apply_patch", json!({"input": input})).await;
    assert!(!result.success, "{result:?}");
    assert_eq!(read(folder.path(), "a"), "one\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn patch_that_fails_leaves_no_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("there")).unwrap();
    let long = "n".repeat(300);
    for last in ["new/deep/", &format!("new/deep/{long}")] {
        let input = format!(
            "*** Begin Patch\n*** Add File: first/one\n+1\n*** Add File: there/two/a\n+1\n\
             *** Add File: {last}\n+2\n*** End Patch\n"
        );
        let result = run(folder.path(), "apply_patch", json!({"input": input})).await;
        assert!(!result.success, "{result:?}");
        let left: Vec<_> = walk(folder.path());
        assert_eq!(left, [folder.path().join("there")], "{last}");
    }
    // Nor does a file that is written alone.
    let arguments = json!({"path": "new/deep/", "content": "1"});
    let result = run(folder.path(), "write", arguments).await;
    assert!(!result.success && !folder.path().join("new").exists());
}

#[tokio::test]
async fn patch_may_have_eight_mebibytes() {
    let folder = tempfile::tempdir().unwrap();
    let patch = |length: usize| {
        let frame = "*** Begin Patch\n*** Add File: a\n+\n*** End Patch";
        let line = "x".repeat(length - frame.len());
        let input = frame.replace("+\n", &format!("+{line}\n"));
        assert_eq!(input.len(), length);
        json!({ "input": input })
    };
    let most = 8 * 1024 * 1024;
    let result = run(folder.path(), "apply_patch", patch(most)).await;
    assert!(result.success, "{:?}", result.error);
    let result = run(folder.path(), "apply_patch", patch(most + 1)).await;
    assert_eq!(result.error.unwrap().kind.as_str(), "too_large");
}

#[tokio::test]
async fn patch_that_does_not_fit_in_one_place_changes_nothing_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "a\n").unwrap();
    let input =
        "*** Begin Patch\n*** Add File: b\n+b\n*** Update File: a\n@@\n-x\n+y\n*** End Patch";
    let result = run(folder.path(), "apply_patch", json!({"input": input})).await;
    assert_eq!(result.error.unwrap().kind.as_str(), "no_match");
    assert!(!folder.path().join("b").exists());
    let input = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch";
    let result = run(folder.path(), "apply_patch", json!({"input": input})).await;
    assert!(!result.success);
    assert_eq!(read(folder.path(), "a"), "a\n");
}

#[tokio::test]
async fn openclaws_names_are_the_same_tools() {
    let folder = tempfile::tempdir().unwrap();
    let written = run(
        folder.path(),
        "write",
        json!({"file_path": "a.txt", "content": "hi\n"}),
    );
    assert!(written.await.success);
    let read = run(folder.path(), "read", json!({"path": "a.txt"})).await;
    assert_eq!(read.output, "hi\n");
    let listed = run(folder.path(), "ls", json!({"limit": 1})).await;
    assert_eq!(listed.output, "file 3 a.txt\n");
    let command = json!({"command": ["cat", "a.txt"], "timeoutSeconds": 5, "cwd": "."});
    let shown = run(folder.path(), "exec", command).await;
    assert!(
        shown.output.contains("stdout (3 bytes):\nhi\n"),
        "{shown:?}"
    );
    let wrong = run(folder.path(), "exec", json!({"command": "id", "colour": 1})).await;
    let error = wrong.error.unwrap();
    assert_eq!(
        (error.tool.as_str(), error.kind.as_str()),
        ("exec", "invalid_arguments")
    );
}
