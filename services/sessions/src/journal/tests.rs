use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

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
fn what_only_the_journal_had_is_put_back_after_a_crash_of_the_machine() {
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
fn what_somebody_changed_while_the_gateway_was_down_stays() {
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
fn what_is_settled_does_not_come_back() {
    let mut machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(3);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    journal.settle().unwrap();
    assert!(!journal.has(&machine.path(0)) && journal.length == 0);
    fs::remove_file(machine.path(0)).unwrap();
    machine.boot = 2;
    machine.journal();
    assert!(!machine.path(0).exists());
}

#[test]
fn a_few_are_made_durable_by_themselves() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let mut transcripts = machine.transcripts(2);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    assert!(!journal.has(&machine.path(0)) && journal.length == 0);
}

#[test]
fn a_journal_that_cannot_be_written_costs_nothing_but_time() {
    let machine = Machine::new();
    let (mut journal, _) = machine.journal();
    let path = machine.folder.path().join("read-only");
    fs::write(&path, "").unwrap();
    journal.file = Some(File::open(&path).unwrap());
    let mut transcripts = machine.transcripts(3);
    transcripts.iter_mut().for_each(|one| say(one, "first"));
    commit(&mut journal, &mut transcripts);
    assert!(!journal.has(&machine.path(0)));
}

#[test]
fn rubbish_is_no_journal() {
    for bytes in [
        &b"rubbish"[..],
        b"openclaw transcripts 1 x\n\xff\xff\xff\xff\0\0\0\0",
        b"\0",
    ] {
        let written = Written::parse(bytes);
        assert!(written.extents.is_empty(), "{bytes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Nothing that was acknowledged is lost, wherever a crash of the machine
    /// cuts the files, and whatever was being written when it came.
    #[test]
    fn nothing_acknowledged_is_lost(
        batches in proptest::collection::vec((proptest::collection::btree_set(0usize..5, 1..5), any::<bool>()), 1..8),
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
            if *settles {
                journal.settle().unwrap();
            }
            for (n, one) in transcripts.iter().enumerate() {
                let is_behind = journal.has(one.path()) && !(chosen.len() < FEWEST && chosen.contains(&n));
                if !is_behind {
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
        let path = journal.path.clone();
        drop(journal);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(torn);
        fs::write(&path, bytes).unwrap();
        machine.boot = 2;
        machine.journal();
        for (n, whole) in whole.iter().enumerate() {
            prop_assert_eq!(&fs::read(machine.path(n)).ok(), whole);
        }
    }

    #[test]
    fn no_bytes_make_parsing_fail(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut journal = b"openclaw transcripts 1 x\n".to_vec();
        journal.extend(bytes);
        Written::parse(&journal);
    }
}
