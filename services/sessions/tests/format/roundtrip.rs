//! Property 3 of seed 002.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use openclaw_sessions::archive::{self, Why};
use openclaw_sessions::transcript::{self, Draft, Line, Marker, Message, Reading};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generated::{draft, text};
use crate::{NOW, open};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;
/// No archive here is so long.
const LONG: u64 = 1 << 30;

/// What happens between two batches.
#[derive(Debug, Clone)]
enum Between {
    /// The next batch is appended to what is open.
    Nothing,
    /// The daemon is stopped in order.
    Restart,
    /// It dies while it appends: so much of a line is there.
    Crash(String),
}

fn between() -> impl Strategy<Value = Between> {
    let torn = text().prop_map(|text| {
        let mut line = json!({ "type": "message", "id": "torn", "message": text }).to_string();
        line.pop();
        Between::Crash(line)
    });
    prop_oneof![Just(Between::Nothing), Just(Between::Restart), torn]
}

/// An entry as it has to come back: a message as it was, of others the kind and
/// the fields.
#[derive(Debug, PartialEq)]
enum Kept {
    Message(Box<Message>),
    Other(Value),
}

fn wanted(draft: &Draft) -> Kept {
    let fields = match draft {
        Draft::Message(message) => return Kept::Message(message.clone()),
        Draft::Marker(marker) => marker,
    };
    Kept::Other(match fields {
        Marker::Reset { reason } => json!({ "type": "reset", "reason": reason }),
        Marker::Compaction(compaction) => {
            let mut fields = json!({
                "type": "compaction",
                "summary": compaction.summary,
                "firstKeptEntryId": compaction.first_kept_entry_id,
                "tokensBefore": compaction.tokens_before,
            });
            if let Some(details) = &compaction.details {
                fields["details"] = details.clone();
            }
            fields
        }
        Marker::ModelChange { provider, model_id } => {
            json!({ "type": "model_change", "provider": provider, "modelId": model_id })
        }
        Marker::ThinkingLevelChange { thinking_level } => {
            json!({ "type": "thinking_level_change", "thinkingLevel": thinking_level })
        }
        Marker::SessionInfo { name } => json!({ "type": "session_info", "name": name }),
        Marker::Custom { custom_type, data } => {
            json!({ "type": "custom", "customType": custom_type, "data": data })
        }
    })
}

/// What was read behind the header and the key, with the time it was appended at.
/// Each names the one before as its parent.
fn kept(reading: &Reading) -> Vec<(String, Kept)> {
    let mut parent = reading.lines[1].id().map(str::to_owned);
    let lines = reading.lines[2..].iter().map(|line| match line {
        Line::Message(entry) => {
            assert_eq!(entry.parent_id, parent);
            parent = Some(entry.id.clone());
            let message = Box::new(entry.message.clone());
            (entry.timestamp.clone(), Kept::Message(message))
        }
        Line::Other(entry) => {
            let mut fields: Value = serde_json::from_str(&entry.raw).unwrap();
            let object = fields.as_object_mut().unwrap();
            let mut take = |name: &str| object.shift_remove(name).unwrap_or_default();
            assert_eq!(take("parentId"), json!(parent));
            parent = take("id").as_str().map(str::to_owned);
            let at = take("timestamp").as_str().unwrap().to_owned();
            (at, Kept::Other(fields))
        }
        Line::Header(header) => panic!("a second header: {header:?}"),
    });
    lines.collect()
}

/// Puts the transcript away, as a deleted or a reset session's is, and reads it there.
fn from_archive(path: &Path, why: Why) -> Reading {
    let archive = archive::put_away(path, why, NOW).unwrap().unwrap();
    let target = path.with_extension("back");
    archive::unpack(&archive, &target, LONG).unwrap();
    transcript::read(&target).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 3: For any sequence of transcript
    /// entries appended to a session, loading that session SHALL reconstruct the
    /// exact same sequence of entries (content, role, timestamps, tool calls
    /// preserved): messages with images and unknown blocks, compactions and the
    /// other marks, whatever the batches, over restarts and crashes, and from the
    /// archive.
    #[test]
    fn property_3_transcript_round_trip(
        batches in vec((vec(draft(), 1..4), 0i64..4_000_000_000_000, between()), 1..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut ids = HashSet::new();
        let mut expected = Vec::new();
        let mut transcript = open(&path).transcript;
        for (drafts, now, between) in &batches {
            let at = openclaw_sessions::iso_time(*now);
            expected.extend(drafts.iter().map(|draft| (at.clone(), wanted(draft))));
            ids.extend(transcript.append(drafts.clone(), *now).unwrap());
            match between {
                Between::Nothing => {}
                Between::Restart => {
                    transcript.sync().unwrap();
                    transcript = open(&path).transcript;
                }
                Between::Crash(torn) => {
                    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
                    file.write_all(torn.as_bytes()).unwrap();
                    transcript = open(&path).transcript;
                }
            }
        }
        let reading = transcript::read(&path).unwrap();
        prop_assert!(reading.corrupt.is_empty(), "{:?}", reading.corrupt);
        prop_assert_eq!(kept(&reading), expected);
        let unique: HashSet<_> = reading.lines.iter().filter_map(Line::id).collect();
        prop_assert_eq!(unique.len(), ids.len() + 1);

        // From its end, as clients are told the newest.
        let messages = reading.lines.iter().filter_map(|line| match line {
            Line::Message(entry) => Some(entry.as_ref().clone()),
            _ => None,
        });
        prop_assert_eq!(transcript::since(&path, i64::MIN).unwrap(), messages.collect::<Vec<_>>());

        let why = if batches.len() % 2 == 0 { Why::Deleted } else { Why::Reset };
        prop_assert_eq!(from_archive(&path, why).lines, reading.lines);
    }
}
