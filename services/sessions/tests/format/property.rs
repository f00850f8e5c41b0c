//! Properties of seed 002, by their numbers.

use std::collections::HashSet;

use openclaw_sessions::history::{self, HistoryMessage};
use openclaw_sessions::store::Store;
use openclaw_sessions::transcript::{self, Count, Line, Transcript};
use openclaw_sessions::{AgentId, Chat, DmScope, E164_DIGITS, IdentityLinks, Route, SessionKey};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::generated::{message, text};
use crate::{NOW, open};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

/// What of a route tells it from others.
fn normal(route: &Route) -> (String, String, String, Option<String>) {
    let (Chat::Direct(id) | Chat::Group(id) | Chat::Channel(id) | Chat::Room(id)) = &route.chat;
    let is_number = |text: &str| {
        text.starts_with('+')
            && E164_DIGITS.contains(&(text.len() - 1))
            && text[1..].bytes().all(|c| c.is_ascii_digit())
    };
    let id = id.trim().to_owned();
    let bare = id.replace(' ', "");
    let id = if id.starts_with('+') && is_number(&bare) {
        bare
    } else {
        id
    };
    let account = match (&route.chat, route.account.as_str()) {
        // Groups are of a channel, whichever account is in them.
        (Chat::Direct(_), "") => "default".to_owned(),
        (Chat::Direct(_), account) => account.to_owned(),
        _ => String::new(),
    };
    (route.channel.clone(), account, id, route.thread.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 2: For any set of created sessions, all
    /// session IDs SHALL be unique (no two sessions share the same ID).
    #[test]
    fn property_2_session_ids_are_unique(names in proptest::collection::hash_set("[a-z]{1,8}", 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), AgentId::main(), NOW).unwrap();
        let keys: HashSet<_> = names
            .iter()
            .map(|name| SessionKey::parse(name, &AgentId::main()).unwrap())
            .collect();
        let ids: HashSet<_> = keys
            .iter()
            .map(|key| store.resolve_or_create(key, NOW).0.session_id().to_owned())
            .collect();
        prop_assert_eq!(ids.len(), keys.len());
    }

    /// Feature: openclaw-mvp, Property 4: For any session returned by the list
    /// operation, the metadata SHALL include a valid ID, creation timestamp, and
    /// accurate message count, whatever was appended and however often the index
    /// was opened in between.
    #[test]
    fn property_4_listed_metadata_is_complete(
        sessions in proptest::collection::btree_map("[a-z]{1,6}", vec(vec(message(), 1..3), 1..4), 1..6),
    ) {
        let dir = tempfile::tempdir().unwrap();
        for (name, batches) in &sessions {
            let key = SessionKey::parse(name, &AgentId::main()).unwrap();
            for batch in batches {
                let (mut store, _) = Store::open(dir.path(), AgentId::main(), NOW).unwrap();
                let (entry, _) = store.resolve_or_create(&key, NOW);
                let path = store.transcript_path(&entry);
                let mut transcript = Transcript::open(&path, store.origin(&key, &entry, dir.path())).unwrap().transcript;
                let before = transcript.length();
                transcript.append(batch.clone(), NOW).unwrap();
                store.count_appended(&key, before, transcript.length(), batch.len() as u64);
                store.flush().unwrap();
            }
        }
        let (store, notices) = Store::open(dir.path(), AgentId::main(), NOW).unwrap();
        prop_assert!(notices.is_empty());
        prop_assert_eq!(store.len(), sessions.len());
        for (key, entry) in store.sessions() {
            let name = key.rsplit(':').next().unwrap();
            prop_assert!(uuid::Uuid::parse_str(entry.session_id()).is_ok());
            prop_assert_eq!(entry.started_at(), Some(NOW));
            let path = store.transcript_path(entry);
            let told = entry.counted().messages;
            let counted = transcript::count(&path, Count::default()).unwrap().messages;
            prop_assert_eq!(told, sessions[name].concat().len() as u64);
            prop_assert_eq!(told, counted);
        }
    }

    /// Feature: openclaw-mvp, Property 5: For any file created by the system,
    /// the file path SHALL be under the configured workspace directory. Here:
    /// whatever an index of sessions says of its files.
    #[test]
    fn property_5_files_are_in_their_folder(id in text(), file in text(), key in "[a-z:/.]{1,20}") {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("sessions");
        std::fs::create_dir(&dir).unwrap();
        let entry = json!({ "sessionId": id, "updatedAt": 1, "sessionFile": file });
        let index = json!({ "agent:main:main": entry.clone(), &key: entry });
        std::fs::write(dir.join("sessions.json"), index.to_string()).unwrap();
        let (mut store, _) = Store::open(&dir, AgentId::main(), NOW).unwrap();
        let main = SessionKey::main(&AgentId::main());
        let (entry, _) = store.resolve_or_create(&main, NOW);
        let path = store.transcript_path(&entry);
        prop_assert_eq!(path.parent(), Some(dir.as_path()));
        let mut transcript = Transcript::open(&path, store.origin(&main, &entry, &dir)).unwrap().transcript;
        transcript.append(vec![crate::user("x")], NOW).unwrap();
        store.flush().unwrap();
        let beside = std::fs::read_dir(outer.path()).unwrap().count();
        prop_assert_eq!(beside, 1, "something was written elsewhere");
    }

    /// Two people never share a conversation that the scope keeps apart, and
    /// one person written in two ways always does.
    #[test]
    fn routes_are_injective_where_they_must_be(
        a in ("[a-z]{1,4}", "[a-z]{0,3}", "[a-z0-9:%+ ]{1,10}", proptest::option::of("[0-9a-z]{1,3}")),
        b in ("[a-z]{1,4}", "[a-z]{0,3}", "[a-z0-9:%+ ]{1,10}", proptest::option::of("[0-9a-z]{1,3}")),
        group in any::<bool>(),
    ) {
        let route = |(channel, account, peer, thread): (String, String, String, Option<String>)| Route {
            channel,
            account,
            chat: if group { Chat::Group(peer) } else { Chat::Direct(peer) },
            thread,
        };
        let scope = DmScope::PerAccountChannelPeer;
        let key = |route: &Route| route.key(&AgentId::main(), scope, &IdentityLinks::new());
        let (a, b) = (route(a), route(b));
        if let (Ok(first), Ok(second)) = (key(&a), key(&b)) {
            let same = normal(&a) == normal(&b);
            prop_assert_eq!(first == second, same, "{} and {}", first, second);
            let again = SessionKey::parse(first.as_str(), &AgentId::main()).unwrap();
            prop_assert_eq!(again, first);
        }
    }

    /// A number is one person, however it is written.
    #[test]
    fn phone_numbers_have_one_key(digits in "[1-9][0-9]{6,12}", at in 1usize..6, mark in "[ .-]") {
        let mut written = digits.clone();
        written.insert_str(at, &mark);
        let key = |peer: String| SessionKey::parse(&format!("signal:{peer}"), &AgentId::main()).unwrap();
        prop_assert_eq!(key(format!("+{written}")), key(format!("+{digits}")));
    }

    #[test]
    fn keys_are_canonical_after_one_pass(raw in prop_oneof!["\\PC{0,40}", "[a-z:+A-Z0-9 .()-]{0,40}"]) {
        if let Ok(once) = SessionKey::parse(&raw, &AgentId::main()) {
            let twice = SessionKey::parse(once.as_str(), &"other".parse().unwrap()).unwrap();
            prop_assert_eq!(&once, &twice);
            let bare = ["global", "unknown"].contains(&once.as_str());
            prop_assert!(bare || once.as_str().starts_with("agent:"));
        }
    }

    #[test]
    fn history_fits_and_is_well_formed(messages in vec(message(), 0..20), tokens in 0usize..200) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        open(&path).transcript.append(messages, NOW).unwrap();
        let history = history::load(&path, tokens, &HashSet::new()).unwrap();
        let cost: usize = history.messages.iter().map(|past| past.said.characters()).sum();
        prop_assert!(cost <= tokens * 4);
        if let Some(first) = history.messages.first() {
            let begins_with_user = matches!(first.said, HistoryMessage::User { .. });
            prop_assert!(begins_with_user);
        }
    }

    #[test]
    fn property_no_bytes_make_reading_fail(bytes in vec(any::<u8>(), 0..400)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        transcript::read(&path).unwrap();
        history::load(&path, 100, &HashSet::new()).unwrap();
        let mut transcript = open(&path).transcript;
        let ids = transcript.append(vec![crate::user("x")], NOW).unwrap();
        let reading = transcript::read(&path).unwrap();
        prop_assert_eq!(reading.lines.last().and_then(Line::id), Some(ids[0].as_str()));
    }
}
