//! The list held against the programs of this machine, as far as they are here.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::command::Word;
use super::options::Value;
use super::programs::PROGRAMS;
use super::*;

/// Seconds that a program may take: it has nothing to wait for.
const PATIENCE: &str = "10";

/// How many commands are made up for each program.
const COMMANDS: usize = 25;

/// A folder with some files.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a", "b\na\na\n"),
        ("b", "1 2\n"),
        ("-o", "x\n"),
        ("list", "a\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::create_dir(folder.path().join("sub")).unwrap();
    folder
}

/// What a program prints as its complaint, or `None` when it is not here.
#[expect(
    clippy::disallowed_methods,
    reason = "the real programs are what is tested"
)]
fn run(folder: &Path, words: &[&str]) -> Option<String> {
    // timeout(1) ends what waits for something.
    let child = Command::new("timeout")
        .arg(PATIENCE)
        .args(words)
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C")])
        .envs([("HOME", folder), ("TMPDIR", folder)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    (output.status.code() != Some(127))
        .then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The options of a program as one may write them, with how they take values.
fn options(program: &Program) -> Vec<(String, Value)> {
    let (Arguments::Reading(options) | Arguments::Guarded(options, _)) = &program.arguments else {
        return Vec::new();
    };
    let entries = options.entries().filter(|(name, _)| *name != "-#");
    let written = entries.flat_map(|(name, value)| match name.strip_prefix("--") {
        Some(_) => vec![(name.to_owned(), value)],
        None => name[1..]
            .chars()
            .map(|c| (format!("-{c}"), value))
            .collect(),
    });
    written.collect()
}

#[test]
fn options_are_named_once() {
    for program in PROGRAMS {
        let options = options(program);
        let names: BTreeMap<_, _> = options.iter().cloned().collect();
        assert_eq!(names.len(), options.len(), "{}", program.name);
    }
}

/// Which words are values decides which are options: an option that took none
/// would make an option of what is passed over as its value.
#[test]
fn options_take_values_as_the_programs_have_it() {
    let folder = folder();
    for program in PROGRAMS.iter().filter(|program| program.name != "cd") {
        for (option, value) in options(program) {
            // Without a pattern rg complains about that first.
            let mut words = vec![program.name];
            words.extend((program.name == "rg").then_some("a"));
            words.push(&option);
            let Some(complaint) = run(folder.path(), &words) else {
                break;
            };
            // Of an option that another release does not have nothing is known.
            if ["invalid option", "unrecognized option", "Found argument"]
                .iter()
                .any(|unknown| complaint.contains(unknown))
            {
                println!("{} has no {option}", program.name);
                continue;
            }
            let asks = ["requires an argument", "requires a value"]
                .iter()
                .any(|missing| complaint.contains(missing));
            assert_eq!(
                asks,
                value == Value::Required,
                "{} {option}: {complaint}",
                program.name
            );
        }
    }
}

#[test]
fn parts_of_a_find_expression_take_values_as_find_has_it() {
    let folder = folder();
    let has_value = |part: &str| {
        let complaint = run(folder.path(), &["find", ".", part, "-what"]).unwrap_or_default();
        (!complaint.contains("predicate `-what'"), complaint)
    };
    // These belong before the folders, or end it.
    let elsewhere = ["-H", "-L", "-P", "-help"];
    for part in find::ALONE.iter().filter(|part| !elsewhere.contains(part)) {
        let (has, complaint) = has_value(part);
        assert!(!has, "{part}: {complaint}");
    }
    for part in find::WITH_VALUE.iter().chain(&["-newermt", "-newerac"]) {
        let (has, complaint) = has_value(part);
        assert!(has, "{part}: {complaint}");
    }
}

/// All that is in the folder, and when it was changed.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            let text = fs::read(&path).unwrap_or_default();
            let state = (
                metadata.mode(),
                metadata.mtime(),
                metadata.mtime_nsec(),
                text,
            );
            found.insert(path, state);
        }
    }
    found
}

/// Words that have a meaning to one program or another.
const POOL: [&str; 34] = [
    "a",
    "b",
    "sub",
    "new",
    ".",
    "-",
    "--",
    "1",
    "+1",
    "-1",
    "+%s",
    "99999999",
    "-o",
    "-onew",
    "-uo",
    "--output",
    "--output=new",
    "--out=new",
    "-C",
    "-s",
    "-T",
    "-z",
    "-l",
    "-p",
    "-delete",
    "-fprint",
    "-fls",
    "-exec",
    "touch",
    ";",
    "-name",
    "--pre=touch",
    "--compress-program=touch",
    "-print",
];

/// Numbers that are the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    /// Some arguments: options of the program with and without values, and
    /// words of the pool.
    fn arguments(&mut self, options: &[(String, Value)]) -> Vec<String> {
        let mut words = Vec::new();
        for _ in 0..self.below(6) {
            let word = POOL[self.below(POOL.len())].to_owned();
            if options.is_empty() || self.below(2) == 0 {
                words.push(word);
            } else {
                let (option, value) = &options[self.below(options.len())];
                match (value, self.below(2)) {
                    (Value::Required, 0) => words.extend([option.clone(), word]),
                    (Value::Required | Value::Optional, _) if option.starts_with("--") => {
                        words.push(format!("{option}={word}"));
                    }
                    (Value::Required, _) => words.push(format!("{option}{word}")),
                    _ => words.push(option.clone()),
                }
            }
        }
        words
    }
}

#[test]
fn real_what_is_judged_as_reading_changes_nothing() {
    let folder = folder();
    let before = snapshot(folder.path());
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for program in PROGRAMS {
        let mut options = options(program);
        if matches!(program.arguments, Arguments::Find) {
            let parts = find::ALONE.iter().map(|part| (*part, Value::Absent));
            let values = find::WITH_VALUE.iter().map(|part| (*part, Value::Absent));
            options.extend(
                parts
                    .chain(values)
                    .map(|(part, value)| (part.to_owned(), value)),
            );
        }
        let mut left = COMMANDS;
        while left > 0 {
            let arguments = dice.arguments(&options);
            let mut words = vec![program.name];
            words.extend(arguments.iter().map(String::as_str));
            let judged: Vec<Word> = words.iter().map(|word| Word::plain(word)).collect();
            if refuses(&judged).is_some() {
                continue;
            }
            left -= 1;
            if run(folder.path(), &words).is_none() {
                break;
            }
            assert_eq!(snapshot(folder.path()), before, "{words:?}");
        }
    }
}
