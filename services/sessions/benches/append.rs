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
use openclaw_sessions::transcript::{Message, Origin, Transcript, UserMessage};
use openclaw_sessions::{AgentId, SessionKey};

const SESSIONS: usize = 64;
const ROUNDS: usize = 400;
/// Entries a second that were asked for.
const WANTED: f64 = 20_000.0;

fn main() {
    // One entry of each session under way is the least favourable; a turn with
    // tools has several.
    for entries in [1, 4, 8] {
        let rate = measure(entries);
        let held = if rate >= WANTED { "holds" } else { "missed" };
        println!(
            "{SESSIONS} sessions, {entries} entries each a sync: {rate:.0} durable entries/s (20000 wanted: {held})"
        );
    }
}

fn measure(entries: usize) -> f64 {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut transcripts: Vec<Transcript> = (0..SESSIONS)
        .map(|n| {
            let origin = Origin {
                session_id: format!("session-{n}"),
                key: SessionKey::parse(&format!("s{n}"), &AgentId::main()).unwrap(),
                cwd: PathBuf::from("/home/user"),
            };
            let path = dir.path().join(format!("{n}.jsonl"));
            Transcript::open(&path, origin).unwrap().transcript
        })
        .collect();
    let path = dir.path().join("transcripts.journal");
    let (mut journal, _) = Journal::open(&path, dir.path()).unwrap();
    round(&mut transcripts, &mut journal, 1);
    journal.settle().unwrap();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        round(&mut transcripts, &mut journal, entries);
        if journal.is_full() {
            journal.follow().unwrap();
        }
    }
    journal.settle().unwrap();
    (SESSIONS * ROUNDS * entries) as f64 / started.elapsed().as_secs_f64()
}

fn round(transcripts: &mut [Transcript], journal: &mut Journal, entries: usize) {
    for transcript in transcripts.iter_mut() {
        for n in 0..entries {
            let text = format!("a message of ordinary length, the {n}th of this round");
            let user = UserMessage::of_run("0a1b2c3d-run", text, 1);
            transcript.append([Message::User(user)], 1).unwrap();
        }
    }
    let results = journal.commit(transcripts.iter_mut().collect());
    results.into_iter().for_each(|result| result.unwrap());
}
