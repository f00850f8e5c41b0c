use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use proptest::prelude::*;

use super::record::Written;
use super::*;
use crate::agent::AgentId;
use crate::key::SessionKey;
use crate::transcript::{Message, Origin, UserMessage};

/// A folder with transcripts and a journal, and boots that can be counted.
struct Machine {
    folder: tempfile::TempDir,
    boot: u32,
}

impl Machine {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            boot: 1,
        }
    }

    fn journal(&self) -> (Journal, Recovered) {
        let path = self.folder.path().join("state/transcripts.journal");
        Journal::open_at(&path, self.folder.path(), format!("boot-{}", self.boot)).unwrap()
    }

    fn path(&self, n: usize) -> PathBuf {
        self.folder.path().join(format!("agents/{n}.jsonl"))
    }

    fn transcripts(&self, count: usize) -> Vec<Transcript> {
        let open = |n| {
            let origin = Origin {
                session_id: format!("id-{n}"),
                key: SessionKey::parse(&format!("s{n}"), &AgentId::main()).unwrap(),
                cwd: PathBuf::from("/w"),
            };
            Transcript::open(&self.path(n), origin).unwrap().transcript
        };
        (0..count).map(open).collect()
    }
}

fn say(transcript: &mut Transcript, text: &str) {
    let user = UserMessage::of_run("run-1", text.to_owned(), 1);
    transcript.append([Message::User(user)], 1).unwrap();
}

fn commit(journal: &mut Journal, transcripts: &mut [Transcript]) {
    let results = journal.commit(transcripts.iter_mut().collect());
    results.into_iter().for_each(|result| result.unwrap());
    assert!(
        transcripts
            .iter()
            .all(|transcript| !transcript.is_unsynced())
    );
}

#[test]
fn journal_what_only_the_journal_had_is_put_back_after_a_crash_of_the_machine() {
    let mut machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(4);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    transcripts.iter_mut().for_each(|one| say(one, "second"));
    commit(&mut journal, &mut transcripts);
    let whole: Vec<Vec<u8>> = (0..4).map(|n| fs::read(machine.path(n)).unwrap()).collect();
    assert!(journal.has(&machine.path(0)));

    // The page cache is gone: one file never got its name, others their end.
    fs::remove_file(machine.path(0)).unwrap();
    for (n, length) in [(1, 0), (2, 100)] {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(machine.path(n))
            .unwrap();
        file.set_len(length).unwrap();
    }
    machine.boot = 2;
    let (journal, recovered) = machine.journal();
    assert_eq!(recovered.transcripts.len(), 3);
    for (n, whole) in whole.iter().enumerate() {
        assert_eq!(&fs::read(machine.path(n)).unwrap(), whole, "{n}");
    }
    assert!(!journal.has(&machine.path(0)));
    assert_eq!(machine.journal().1, Recovered::default());
}

#[test]
fn journal_what_somebody_changed_while_the_gateway_was_down_stays() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(3);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    fs::write(machine.path(0), "mine\n").unwrap();
    fs::remove_file(machine.path(1)).unwrap();
    let (_, recovered) = machine.journal();
    assert_eq!(recovered, Recovered::default());
    assert_eq!(fs::read_to_string(machine.path(0)).unwrap(), "mine\n");
    assert!(!machine.path(1).exists());
}

#[test]
fn journal_what_is_settled_does_not_come_back() {
    let mut machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(3);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    journal.settle().unwrap();
    assert!(!journal.has(&machine.path(0)) && journal.is_empty());
    fs::remove_file(machine.path(0)).unwrap();
    machine.boot = 2;
    machine.journal();
    assert!(!machine.path(0).exists());
}

#[test]
fn journal_what_is_settled_in_the_background_does_not_come_back_either() {
    let mut machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(3);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    journal.follow().unwrap();
    // Meanwhile entries go to the other file.
    say(&mut transcripts[0], "second");
    commit(&mut journal, &mut transcripts[..1]);
    // Not by following again, which would go on with the other file at once.
    journal.join().unwrap();
    assert!(!journal.has(&machine.path(1)) && journal.has(&machine.path(0)));
    let whole = fs::read(machine.path(0)).unwrap();
    let second = whole.len() as u64 - 10;
    let file = fs::OpenOptions::new().write(true).open(machine.path(0));
    file.unwrap().set_len(second).unwrap();
    fs::remove_file(machine.path(1)).unwrap();
    drop(journal);
    machine.boot = 2;
    machine.journal();
    assert_eq!(fs::read(machine.path(0)).unwrap(), whole);
    assert!(!machine.path(1).exists());
}

#[test]
fn records_that_were_there_before_are_not_taken_for_new_ones() {
    let mut machine = Machine::new();
    let mut transcripts = machine.transcripts(2);
    for _ in 0..3 {
        let (mut journal, _) = machine.journal();
        // Lines of the same length, so that an old record begins where the new one ends.
        for _ in 0..3 {
            say(&mut transcripts[0], "aaaa");
            commit(&mut journal, &mut transcripts[..1]);
        }
        journal.settle().unwrap();
        say(&mut transcripts[1], "bbbb");
        commit(&mut journal, &mut transcripts[1..]);
        drop(journal);
        machine.boot += 1;
        let before = fs::read(machine.path(0)).unwrap();
        fs::remove_file(machine.path(0)).unwrap();
        assert_eq!(machine.journal().1, Recovered::default());
        assert!(!machine.path(0).exists());
        fs::write(machine.path(0), before).unwrap();
        transcripts = machine.transcripts(2);
    }
}

#[test]
fn journal_what_somebody_wrote_after_the_crash_stays_and_what_was_acknowledged_joins_it() {
    let mut machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    say(&mut transcripts[0], "first");
    commit(&mut journal, &mut transcripts);
    journal.settle().unwrap();
    let first = fs::read_to_string(machine.path(0)).unwrap();
    say(&mut transcripts[0], "second");
    commit(&mut journal, &mut transcripts);
    let both = fs::read_to_string(machine.path(0)).unwrap();
    let theirs = "{\"type\":\"custom\",\"id\":\"theirs\",\"more than\":\"the second has\"}\n";
    fs::write(machine.path(0), format!("{first}{theirs}")).unwrap();
    drop(journal);
    machine.boot = 2;
    machine.journal();
    let now = fs::read_to_string(machine.path(0)).unwrap();
    assert_eq!(now, format!("{first}{theirs}{}", &both[first.len()..]));
}

#[test]
fn blocks_that_were_never_written_are_filled() {
    let mut machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    say(&mut transcripts[0], "first");
    commit(&mut journal, &mut transcripts);
    let whole = fs::read(machine.path(0)).unwrap();
    let mut zeros = whole.clone();
    zeros[50..].fill(0);
    fs::write(machine.path(0), zeros).unwrap();
    drop(journal);
    machine.boot = 2;
    machine.journal();
    assert_eq!(fs::read(machine.path(0)).unwrap(), whole);
}

#[test]
fn journal_what_a_disk_lost_in_the_same_boot_is_put_back_too() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    for text in ["first", "second", "third"] {
        say(&mut transcripts[0], text);
        commit(&mut journal, &mut transcripts);
    }
    let whole = fs::read(machine.path(0)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(machine.path(0));
    file.unwrap().set_len(whole.len() as u64 - 100).unwrap();
    drop(journal);
    assert_eq!(machine.journal().1.transcripts.len(), 1);
    assert_eq!(fs::read(machine.path(0)).unwrap(), whole);
}

#[test]
fn journal_one_entry_is_in_the_journal_too_and_a_closed_one_leaves_no_file() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    say(&mut transcripts[0], "first");
    assert!(journal.is_empty() && !journal.is_full());
    commit(&mut journal, &mut transcripts);
    assert!(journal.has(&machine.path(0)) && !journal.is_empty());
    journal.follow().unwrap();
    assert!(!journal.is_empty(), "not before it is known to be over");
    let files = || fs::read_dir(machine.folder.path().join("state")).unwrap();
    assert_eq!(files().count(), 1);
    journal.close().unwrap();
    assert_eq!(files().count(), 0);
    say(&mut transcripts[0], "second");
    commit(&mut journal, &mut transcripts);
    assert_eq!(files().count(), 1);
}

#[test]
fn journal_that_cannot_be_written_costs_nothing_but_time() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let path = machine.folder.path().join("read-only");
    fs::write(&path, "").unwrap();
    journal.active.break_file(File::open(&path).unwrap());
    let mut transcripts = machine.transcripts(3);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    assert!(!journal.has(&machine.path(0)));
}

#[test]
fn transcript_that_cannot_be_written_is_kept_here() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    say(&mut transcripts[0], "first");
    commit(&mut journal, &mut transcripts);
    let whole = fs::read(machine.path(0)).unwrap();
    // A link to itself cannot be opened, not even by root.
    let aside = machine.folder.path().join("aside");
    fs::rename(machine.path(0), &aside).unwrap();
    std::os::unix::fs::symlink("0.jsonl", machine.path(0)).unwrap();
    assert!(journal.settle().is_err());
    assert!(journal.follow().is_ok(), "the failure of settle was told");
    while let Ok(()) = journal.follow() {}
    assert!(journal.has(&machine.path(0)));
    fs::remove_file(machine.path(0)).unwrap();
    fs::rename(&aside, machine.path(0)).unwrap();
    journal.settle().unwrap();
    assert_eq!(fs::read(machine.path(0)).unwrap(), whole);
}

#[test]
fn full_journal_is_not_written_any_more() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    let text = "x".repeat(900_000);
    while journal.active.length() < LIMIT {
        say(&mut transcripts[0], &text);
        commit(&mut journal, &mut transcripts);
        assert_eq!(journal.is_full(), journal.active.length() >= FULL);
    }
    let before = journal.active.length();
    say(&mut transcripts[0], &text);
    commit(&mut journal, &mut transcripts);
    assert_eq!(journal.active.length(), before);
}

#[test]
fn rubbish_is_no_journal() {
    let mut head = Vec::new();
    record::begin(&mut head, "x", 1);
    head.extend(b"\xff\xff\xff\xff\0\0\0\0");
    assert_eq!(Written::parse(&head).unwrap().end, 0);
    head[30] ^= 1;
    assert_eq!(Written::parse(&head), None);
    assert_eq!(Written::parse(b"rubbish"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Nothing that was acknowledged is lost, wherever a crash of the machine
    /// cuts the files, and whatever was being written when it came.
    #[test]
    fn journal_nothing_acknowledged_is_lost(
        batches in proptest::collection::vec((proptest::collection::btree_set(0usize..5, 0..5), 0u8..4), 1..8),
        cuts in proptest::collection::vec(0u64..600, 5),
        torn in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut machine = Machine::new();
        let (mut journal, _) = machine.journal();
        let mut transcripts = machine.transcripts(5);
        // How much of each file is on the disk for certain.
        let mut certain = BTreeMap::new();
        for (chosen, settles) in &batches {
            for n in chosen {
                say(&mut transcripts[*n], "a message");
            }
            let all = transcripts.iter_mut().enumerate();
            let touched = all.filter(|(n, _)| chosen.contains(n)).map(|(_, one)| one);
            journal.commit(touched.collect()).into_iter().for_each(|result| result.unwrap());
            match settles {
                0 => journal.settle().unwrap(),
                1 => {
                    journal.follow().unwrap();
                    journal.join().unwrap();
                }
                _ => {}
            }
            for (n, one) in transcripts.iter().enumerate() {
                if !journal.has(one.path()) {
                    certain.insert(n, one.length());
                }
            }
        }
        let whole: Vec<_> = (0..5).map(|n| fs::read(machine.path(n)).ok()).collect();
        for (n, cut) in cuts.iter().enumerate() {
            if let Some(bytes) = &whole[n] {
                let kept = (bytes.len() as u64).saturating_sub(*cut).max(certain.get(&n).copied().unwrap_or(0));
                fs::OpenOptions::new().write(true).open(machine.path(n)).unwrap().set_len(kept).unwrap();
            }
        }
        // What was being written when the machine went down.
        let (path, end) = (journal.active.path().to_owned(), journal.active.length());
        drop(journal);
        if end > 0 {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.write_all_at(&torn, end).unwrap();
        }
        machine.boot = 2;
        machine.journal();
        for (n, whole) in whole.iter().enumerate() {
            prop_assert_eq!(&fs::read(machine.path(n)).ok(), whole);
        }
    }

    #[test]
    fn journal_no_bytes_make_parsing_fail(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut journal = Vec::new();
        record::begin(&mut journal, "x", 1);
        journal.extend(bytes);
        Written::parse(&journal);
    }
}

#[test]
fn journal_what_is_short_is_durable_here_and_what_is_long_by_itself() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(1);
    commit(&mut journal, &mut transcripts);
    assert!(journal.is_empty(), "there was nothing");
    say(&mut transcripts[0], &"x".repeat(BATCH_LIMIT as usize));
    commit(&mut journal, &mut transcripts);
    assert!(journal.is_empty(), "the transcript has it");
    // A thousandth of a batch and most of one.
    for length in [1000, 1_000_000] {
        say(&mut transcripts[0], &"y".repeat(length));
        let (_, unsynced) = transcripts[0].unsynced().unwrap();
        assert_eq!(unsynced.len() as u64, transcripts[0].unsynced_length());
        assert!(unsynced.len() >= length);
        commit(&mut journal, &mut transcripts);
        assert!(journal.has(&machine.path(0)), "{length}");
        journal.settle().unwrap();
    }
}
