//! The floors of the gateway: doors stand on runs, runs on conversations, and
//! nothing looks up.

use std::fs;
use std::path::{Path, PathBuf};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Each floor with what is above it.
const FLOORS: [(&str, &[&str]); 3] = [
    ("conversations", &["runs", "doors"]),
    ("runs", &["doors"]),
    ("doors", &[]),
];

/// What only a door may know: how clients are spoken to.
const OF_DOORS: [&str; 4] = [
    "openclaw_proto::wire",
    "openclaw_protocol::",
    "axum::",
    "hyper",
];

fn files(floor: &str) -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let root = Path::new(SOURCE);
    let mut found = vec![root.join(floor).with_extension("rs")];
    below(&root.join(floor), &mut found);
    found
}

#[test]
fn layers_nothing_names_what_is_above_it() {
    let mut wrong = Vec::new();
    for (floor, above) in FLOORS {
        let forbidden: Vec<String> = above.iter().map(|it| format!("crate::{it}")).collect();
        let of_doors = OF_DOORS.iter().filter(|_| floor != "doors");
        let mut looked_at = 0;
        for file in files(floor) {
            let text = fs::read_to_string(&file).unwrap();
            looked_at += 1;
            for name in forbidden
                .iter()
                .map(String::as_str)
                .chain(of_doors.clone().copied())
            {
                if text.contains(name) {
                    wrong.push(format!("{}: {name}", file.display()));
                }
            }
        }
        assert!(looked_at > 10, "{floor}: {looked_at} files");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn layers_there_is_nothing_beside_the_floors_but_the_wiring() {
    let mut names: Vec<String> = fs::read_dir(SOURCE)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "conversations",
        "conversations.rs",
        "doors",
        "doors.rs",
        "fuzz.rs",
        "lib.rs",
        "main.rs",
        "runs",
        "runs.rs",
        "settings.rs",
    ];
    assert_eq!(names, expected);
}
