//! What is printed, word for word: help, and what is said of wrong words. In
//! `tests/texts`, a file for each subject: a line `$ openclawctl …`, what it
//! prints, and its exit code. `UPDATE_TEXTS=1` writes them as they are now.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scene::{Scene, text};

/// How a command begins in such a file.
const PROMPT: &str = "$ openclawctl";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts");
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The same commands with what they print now.
fn printed(wanted: &str, scene: &Scene) -> String {
    let mut all = String::new();
    for line in wanted.lines().filter(|line| line.starts_with(PROMPT)) {
        let words: Vec<&str> = line[PROMPT.len()..].split_whitespace().collect();
        let output = scene.run(&words);
        let said = text(&output.stdout) + &text(&output.stderr);
        let place = scene.state().display().to_string();
        let code = output.status.code().unwrap();
        all.push_str(&format!(
            "{line}\n{}[{code}]\n\n",
            said.replace(&place, "PLACE")
        ));
    }
    all
}

#[test]
fn texts_are_as_they_were_approved() {
    let files = files();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let wanted = fs::read_to_string(&file).unwrap();
        let printed = printed(&wanted, &Scene::new());
        if std::env::var_os("UPDATE_TEXTS").is_some() {
            fs::write(&file, printed).unwrap();
            continue;
        }
        assert_eq!(printed, wanted, "{}", file.display());
    }
}
