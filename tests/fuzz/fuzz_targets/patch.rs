//! Patches that a model writes: what is judged to stay in the workspace changes
//! nothing outside it, and what fails changes nothing at all.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use libfuzzer_sys::{Corpus, fuzz_target};
use openclaw_tools::approval::effect::TurnPaths;
use openclaw_tools::{Builtin, Registry, ToolCall, ToolResult, Workspace};
use serde_json::{Value, json};

/// Folders between the root and what a patch may reach. Patches are carried out
/// on the machine that fuzzes, so paths that lead further up are not tried.
const DEPTH: usize = 6;

/// The tool.
const TOOL: &str = "apply_patch";

fuzz_target!(|text: &str| -> Corpus {
    if !stays_below(text) {
        return Corpus::Reject;
    }
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let root = root.expect("a temporary folder");
    let place = (0..DEPTH).fold(root.path().to_owned(), |folder, n| {
        folder.join(n.to_string())
    });
    let workspace = place.join("workspace");
    lay_out(&place, &workspace);
    let arguments = json!({"input": text});
    let ground = TurnPaths {
        workspace: workspace.clone(),
        ..TurnPaths::default()
    };
    match ground.outside(TOOL, &arguments) {
        Ok(outside) if outside.is_empty() => {}
        // Somebody is asked.
        _ => return Corpus::Keep,
    }
    let before = files(root.path());
    let result = run(&workspace, arguments);
    let mut after = files(root.path());
    if result.success {
        after.retain(|path, _| !path.starts_with(&workspace));
        assert!(
            after
                .iter()
                .all(|(path, text)| before.get(path) == Some(text))
        );
        assert!(
            before
                .keys()
                .all(|path| path.starts_with(&workspace) || after.contains_key(path))
        );
    } else {
        assert_eq!(after, before);
    }
    Corpus::Keep
});

/// Whether no path in the text can lead above the root: a slash comes after a
/// name, and `..` is there less often than there are folders.
fn stays_below(text: &str) -> bool {
    let bytes = text.as_bytes();
    let named =
        |at: usize| at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'.');
    let mut slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.all(|(at, _)| named(at)) && text.matches("..").count() < DEPTH && !text.contains('~')
}

fn lay_out(place: &Path, workspace: &Path) {
    let outside = place.join("outside");
    fs::create_dir_all(workspace.join("folder")).expect("a folder");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("b"), "one\ntwo\n").expect("a file");
    fs::write(workspace.join("a"), "one\ntwo\nthree\n").expect("a file");
    fs::write(workspace.join("folder/c"), "one").expect("a file");
    symlink("../outside", workspace.join("out")).expect("a link");
    symlink("../outside/b", workspace.join("b")).expect("a link");
    symlink("folder", workspace.join("in")).expect("a link");
}

/// The files below `folder` with their text, folders and links with none of it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a kind");
        let text = kind
            .is_file()
            .then(|| fs::read(entry.path()).expect("a file"));
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        }
        found.insert(entry.path(), text);
    }
    found
}

fn run(workspace: &Path, arguments: Value) -> ToolResult {
    let mut registry = Registry::new();
    Builtin::ApplyPatch
        .register(&mut registry, &Workspace::new(workspace))
        .expect("its name is free");
    let call = ToolCall {
        id: "1".to_owned(),
        name: TOOL.to_owned(),
        arguments,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(registry.execute(call))
}
