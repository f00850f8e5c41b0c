//! The files that every conversation begins with.
//!
//! In this order: SOUL.md, IDENTITY.md, USER.md, AGENTS.md, MEMORY.md, today's
//! notes and yesterday's notes under memory/: of each day 2026-03-04.md first,
//! then those with a topic, such as 2026-03-04-garden.md, by name. Those that
//! are not there are left out; the first four are made from templates once
//! ([`template`]). MEMORY.md is for the user alone: it is left out where others
//! hear what is said, as OpenClaw has it.

use jiff::civil::Date;
use openclaw_proto::memory::{BootstrapFile, is_private_note};
use openclaw_settings::Bootstrap;

use crate::source::{FOLDER, dated};
use crate::workspace::{Error, Workspace};

mod budget;
pub(crate) mod template;

use budget::KeptPart;

/// Notes of one day; more of them would not fit anyway.
const NOTES: usize = 8;

const NAMED: [&str; 5] = [
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "AGENTS.md",
    "MEMORY.md",
];

/// The bootstrap files as of `today`, cut to their budgets, and why a file
/// that is there could not be given; those for others than the user where the
/// session is shared.
pub(crate) fn load(
    workspace: &Workspace,
    (today, is_shared): (Date, bool),
    budget: Bootstrap,
) -> (Vec<BootstrapFile>, Vec<Error>) {
    let named = NAMED.iter();
    let named = named.filter(|name| !is_shared || !is_private_note(name));
    let named = named.map(|name| ((*name).to_owned(), KeptPart::Start));
    // Notes grow at their end, so that is what matters of a long one.
    let mut problems = Vec::new();
    let notes = notes(workspace, today).unwrap_or_else(|error| {
        problems.push(error);
        Vec::new()
    });
    let notes = notes.into_iter().map(|name| (name, KeptPart::End));
    let mut found = Vec::new();
    for (name, keep) in named.chain(notes) {
        match workspace.read(&name) {
            Ok(Some((text, _))) if !text.trim().is_empty() => found.push((name, text, keep)),
            Ok(_) => {}
            Err(error) => problems.push(error),
        }
    }
    (within_budget(found, budget), problems)
}

/// The notes of today and of yesterday, as far as there are any.
fn notes(workspace: &Workspace, today: Date) -> Result<Vec<String>, Error> {
    let days = [Some(today), today.yesterday().ok()];
    let mut of_days = [Vec::new(), Vec::new()];
    if let Some(folder) = workspace.folder(FOLDER)? {
        for (name, _) in folder.entries()? {
            let path = format!("{FOLDER}/{name}");
            let date = dated::note(&path);
            if let Some(day) = days.iter().position(|day| day.is_some() && *day == date) {
                of_days[day].push(path);
            }
        }
    }
    // Without the ending: the plain date comes before those with more.
    let key = |path: &String| path.trim_end_matches(dated::ENDING).to_owned();
    for notes in &mut of_days {
        notes.sort_by_cached_key(key);
        notes.truncate(NOTES);
    }
    Ok(of_days.concat())
}

fn within_budget(
    found: Vec<(String, String, KeptPart)>,
    Bootstrap { file, total, .. }: Bootstrap,
) -> Vec<BootstrapFile> {
    let mut left = total;
    let mut after = found.len();
    let cut = found.into_iter().map(|(name, text, keep)| {
        after -= 1;
        // Each file that follows keeps room to say that it is there.
        let budget = file.min(left.saturating_sub(after * budget::MARK));
        let (content, truncated) = budget::cut(&name, text, keep, budget);
        left = left.saturating_sub(content.chars().count());
        BootstrapFile {
            name,
            content,
            truncated,
        }
    });
    cut.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const TODAY: Date = jiff::civil::date(2026, 3, 1);

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        let workspace = Workspace::open(&folder.path().into()).unwrap().unwrap();
        (folder, workspace)
    }

    fn names(files: &[BootstrapFile]) -> Vec<&str> {
        files.iter().map(|file| file.name.as_str()).collect()
    }

    #[test]
    fn files_come_in_their_order_and_missing_ones_not_at_all() {
        let (folder, workspace) = workspace();
        for name in [
            "memory/2026-02-28.md",
            "memory/2026-02-27.md",
            "memory/2026-03-01-garden.md",
            "memory/2026-03-01.md",
            "memory/2026-03-01.txt",
            "MEMORY.md",
            "AGENTS.md",
            "USER.md",
            "SOUL.md",
        ] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::write(folder.path().join("IDENTITY.md"), " \n").unwrap();
        let (files, problems) = load(&workspace, (TODAY, false), Bootstrap::default());
        assert!(problems.is_empty());
        assert_eq!(
            names(&files),
            [
                "SOUL.md",
                "USER.md",
                "AGENTS.md",
                "MEMORY.md",
                "memory/2026-03-01.md",
                "memory/2026-03-01-garden.md",
                "memory/2026-02-28.md"
            ]
        );
        assert!(files.iter().all(|file| !file.truncated));
    }

    #[test]
    fn budgets_hold_for_each_and_for_all() {
        let (folder, workspace) = workspace();
        for name in NAMED.iter().copied().chain(["memory/2026-03-01.md"]) {
            let text = format!("begin{}end", "ä".repeat(30_000));
            fs::write(folder.path().join(name), text).unwrap();
        }
        let (files, _) = load(&workspace, (TODAY, false), Bootstrap::default());
        let size = |file: &BootstrapFile| file.content.chars().count();
        assert_eq!(files.len(), 6);
        for file in &files {
            assert!(
                file.truncated && size(file) <= Bootstrap::default().file,
                "{}",
                file.name
            );
            assert!(file.content.contains(&format!("{} is cut here", file.name)));
        }
        assert!(files.iter().map(size).sum::<usize>() <= Bootstrap::default().total);
        assert!(size(&files[0]) > Bootstrap::default().file - budget::MARK);
        assert!(files[0].content.starts_with("begin"));
    }

    #[test]
    fn bootstrap_of_a_long_note_the_newest_stays() {
        let (folder, workspace) = workspace();
        let text = format!("{}the newest", "old\n".repeat(10_000));
        fs::write(folder.path().join("memory/2026-03-01.md"), text).unwrap();
        let (files, _) = load(&workspace, (TODAY, false), Bootstrap::default());
        assert!(files[0].content.ends_with("the newest"));
        assert!(files[0].content.starts_with("[…"));
    }

    #[test]
    fn file_that_cannot_be_given_does_not_take_the_others_with_it() {
        let (folder, workspace) = workspace();
        fs::write(folder.path().join("SOUL.md"), "soul").unwrap();
        let large = fs::File::create(folder.path().join("USER.md")).unwrap();
        large.set_len(crate::workspace::FILE_LIMIT + 1).unwrap();
        let (files, problems) = load(&workspace, (TODAY, false), Bootstrap::default());
        assert_eq!(names(&files), ["SOUL.md"]);
        assert_eq!(problems.len(), 1);
    }

    /// Given here, so that no variable of the environment lowers it.
    const CASES: u32 = 256;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(CASES))]

        /// Feature: openclaw-mvp, Property 10: For any session start, the prompt
        /// context SHALL include the contents of SOUL.md and USER.md bootstrap
        /// files. Here: what memory gives; the suite's test has the prompt.
        #[test]
        fn property_10_soul_and_user_are_included(
            soul in "[^\u{feff}\0]{0,400}",
            user in "[^\u{feff}\0]{0,400}",
            others in proptest::collection::vec(0usize..30_000, 5),
        ) {
            let (folder, workspace) = workspace();
            let more = ["IDENTITY.md", "AGENTS.md", "MEMORY.md", "memory/2026-03-01.md", "memory/2026-02-28.md"];
            for (name, length) in more.iter().zip(others) {
                fs::write(folder.path().join(name), "x".repeat(length)).unwrap();
            }
            fs::write(folder.path().join("SOUL.md"), &soul).unwrap();
            fs::write(folder.path().join("USER.md"), &user).unwrap();
            let (files, _) = load(&workspace, (TODAY, false), Bootstrap::default());
            for (name, text) in [("SOUL.md", &soul), ("USER.md", &user)] {
                let file = files.iter().find(|file| file.name == name);
                let content = file.map_or("", |file| file.content.as_str());
                let wanted = if text.trim().is_empty() { "" } else { text };
                proptest::prop_assert_eq!(content, wanted);
            }
        }
    }
}
