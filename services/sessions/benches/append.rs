//! How many durable entries a second 64 busy sessions get: what the gateway's
//! storage thread does, one write for each session and one wait for the disk for
//! all, with what it costs to make the transcripts follow.
//!
//! `cargo bench -p openclaw-sessions --bench append`; the files are in
//! `/var/tmp`, which is a disk.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark is a program that prints and may fail"
)]

use std::path::PathBuf;
use std::time::Instant;

use openclaw_sessions::journal::Journal;
use openclaw_sessions::transcript::{Message, Origin, Transcript, UserMessage, sync_all};
use openclaw_sessions::{AgentId, SessionKey};

const SESSIONS: usize = 64;
const ROUNDS: usize = 400;
/// Entries a second that were asked for.
const WANTED: f64 = 20_000.0;

/// How entries become durable.
#[derive(Clone, Copy)]
enum Way {
    Journal,
    /// Each transcript by itself, as many at a time as there are threads.
    Files,
}

fn main() {
    println!("{SESSIONS} sessions; 20000 durable entries/s wanted of the journal");
    // One entry of each session under way is the least favourable; a turn with
    // tools has several.
    for entries in [1, 4, 8] {
        let rate = measure(entries, Way::Journal);
        let held = if rate >= WANTED { "holds" } else { "missed" };
        let files = measure(entries, Way::Files);
        println!(
            "  {entries} entries each a wait: {rate:.0} ({held}); each file by itself {files:.0}"
        );
    }
    let (journal, files) = (alone(Way::Journal), alone(Way::Files));
    println!("one session, one entry: {journal:.2} ms; by itself {files:.2} ms (median)");
}

fn measure(entries: usize, way: Way) -> f64 {
    let mut disk = Disk::new(SESSIONS);
    disk.round(1, way);
    disk.journal.settle().unwrap();
    let rounds = match way {
        Way::Journal => ROUNDS,
        Way::Files => ROUNDS / 4,
    };
    let started = Instant::now();
    for _ in 0..rounds {
        disk.round(entries, way);
    }
    disk.journal.settle().unwrap();
    (SESSIONS * rounds * entries) as f64 / started.elapsed().as_secs_f64()
}

/// Milliseconds that one entry waits.
fn alone(way: Way) -> f64 {
    let mut disk = Disk::new(1);
    disk.round(1, way);
    let mut took: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            disk.round(1, way);
            started.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    took.sort_by(f64::total_cmp);
    took[ROUNDS / 2]
}

struct Disk {
    transcripts: Vec<Transcript>,
    journal: Journal,
    _dir: tempfile::TempDir,
}

impl Disk {
    fn new(sessions: usize) -> Self {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let open = |n| {
            let origin = Origin {
                session_id: format!("session-{n}"),
                key: SessionKey::parse(&format!("s{n}"), &AgentId::main()).unwrap(),
                cwd: PathBuf::from("/home/user"),
            };
            let path = dir.path().join(format!("{n}.jsonl"));
            Transcript::open(&path, origin).unwrap().transcript
        };
        let transcripts = (0..sessions).map(open).collect();
        let path = dir.path().join("transcripts");
        let (journal, _) = Journal::open(&path, dir.path()).unwrap();
        Self {
            transcripts,
            journal,
            _dir: dir,
        }
    }

    fn round(&mut self, entries: usize, way: Way) {
        for transcript in &mut self.transcripts {
            for n in 0..entries {
                let text = format!("a message of ordinary length, the {n}th of this round");
                let user = UserMessage::of_run("0a1b2c3d-run", text, 1);
                transcript.append([Message::User(user)], 1).unwrap();
            }
        }
        let transcripts = self.transcripts.iter_mut().collect();
        let results = match way {
            Way::Journal => self.journal.commit(transcripts),
            Way::Files => sync_all(transcripts),
        };
        results.into_iter().for_each(|result| result.unwrap());
        if self.journal.is_full() {
            self.journal.follow().unwrap();
        }
    }
}
