//! Property 4 of seed 002 at the gateway's door.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use openclaw_proto::gateway::Message;
use openclaw_proto::sessions::{Archived, Change, Named, Query};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::suite::{Suite, done, rest, soon, text, text_of};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

/// Something after which a session is listed otherwise.
#[derive(Debug, Clone, Copy)]
enum Does {
    Create,
    Say,
    Archive(bool),
    Reset,
    Compact,
    Delete { purge: bool },
    Restart,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        2 => Just(Does::Create),
        5 => Just(Does::Say),
        2 => any::<bool>().prop_map(Does::Archive),
        1 => Just(Does::Reset),
        1 => Just(Does::Compact),
        2 => any::<bool>().prop_map(|purge| Does::Delete { purge }),
        1 => Just(Does::Restart),
    ]
}

/// What has to be listed of a session.
#[derive(Debug, Clone)]
struct Known {
    id: String,
    /// It was begun, or begun anew, between these; in Unix milliseconds.
    begun_ms: (i64, i64),
    messages: u64,
    is_archived: bool,
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// Whether it has the form of a UUID.
fn is_uuid(id: &str) -> bool {
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && id.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

struct Scene {
    suite: Option<Suite>,
    known: BTreeMap<String, Known>,
    ids: Vec<String>,
}

impl Scene {
    async fn act(&mut self, does: Does, key: &str) {
        let named = Named {
            session: key,
            agent_id: "",
        };
        let suite = self.suite.as_mut().unwrap();
        let begin = now_ms();
        let known = self.known.get_mut(key);
        match (does, known) {
            (Does::Create, None) => {
                let made = soon(suite.sessions.create(named, vec![], ""))
                    .await
                    .unwrap();
                self.begun(key, made.id, begin, 0);
            }
            (Does::Say, known) if known.as_ref().is_none_or(|known| !known.is_archived) => {
                let message = Message {
                    session_key: key.to_owned(),
                    ..text_of("hello")
                };
                let (accepted, replies) = suite.send(message).await.unwrap();
                suite.runner.started().await;
                suite.runner.say(&accepted.run_id, text("hi"));
                suite.runner.say(&accepted.run_id, done());
                rest(replies).await;
                match known {
                    Some(known) => known.messages += 2,
                    None => self.begun(key, accepted.session_id, begin, 2),
                }
            }
            (Does::Archive(archived), Some(known)) => {
                let change = Change {
                    name: "archived".to_owned(),
                    value: archived.to_string(),
                };
                soon(suite.sessions.patch(named, vec![change]))
                    .await
                    .unwrap();
                known.is_archived = archived;
            }
            (Does::Reset, Some(known)) => {
                soon(suite.sessions.reset(named, "")).await.unwrap();
                known.begun_ms = (begin, now_ms());
            }
            (Does::Compact, Some(known)) if known.messages > 2 => {
                soon(suite.sessions.compact(named, "They said hello.", 2))
                    .await
                    .unwrap();
            }
            (Does::Delete { purge }, Some(_)) => {
                soon(suite.sessions.delete(named, purge)).await.unwrap();
                self.known.remove(key);
            }
            (Does::Restart, _) => {
                let mut suite = self.suite.take().unwrap();
                suite.stop().await;
                self.suite = Some(suite.again().await);
            }
            _ => {}
        }
    }

    fn begun(&mut self, key: &str, id: String, begin: i64, messages: u64) {
        assert!(!self.ids.contains(&id), "{id} was another session's");
        self.ids.push(id.clone());
        let known = Known {
            id,
            begun_ms: (begin, now_ms()),
            messages,
            is_archived: false,
        };
        self.known.insert(key.to_owned(), known);
    }

    async fn check(&self) -> Result<(), TestCaseError> {
        let suite = self.suite.as_ref().unwrap();
        for archived in [Archived::No, Archived::Only, Archived::Also] {
            let query = Query {
                archived,
                ..Query::default()
            };
            let page = soon(suite.sessions.list(query)).await.unwrap();
            let wanted = self.known.iter().filter(|(_, known)| match archived {
                Archived::No => !known.is_archived,
                Archived::Only => known.is_archived,
                Archived::Also => true,
            });
            let wanted: BTreeMap<String, &Known> = wanted
                .map(|(key, known)| (format!("agent:main:{key}"), known))
                .collect();
            prop_assert_eq!(page.total as usize, wanted.len());
            prop_assert_eq!(page.sessions.len(), wanted.len());
            for session in page.sessions {
                let Some(known) = wanted.get(&session.key) else {
                    return Err(TestCaseError::fail(format!("{} is listed", session.key)));
                };
                prop_assert_eq!(&session.id, &known.id);
                prop_assert!(is_uuid(&session.id));
                prop_assert_eq!(session.message_count, known.messages, "{:?}", session);
                let (from, to) = known.begun_ms;
                prop_assert!(
                    (from..=to).contains(&session.created_at_ms),
                    "{:?}",
                    session
                );
            }
        }
        Ok(())
    }
}

/// Feature: openclaw-mvp, Property 4: For any session returned by the list
/// operation, the metadata SHALL include a valid ID, creation timestamp, and
/// accurate message count: whatever was said, archived, begun anew, compacted or
/// deleted before, and over restarts; and no other session is returned.
#[test]
fn property_4_listed_sessions_are_those_there_are() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let scene = RefCell::new(Scene {
        suite: Some(runtime.block_on(Suite::start())),
        known: BTreeMap::new(),
        ids: Vec::new(),
    });
    let config = Config {
        max_shrink_iters: 0,
        failure_persistence: None,
        ..Config::with_cases(CASES)
    };
    TestRunner::new(config)
        .run(&(does(), "[a-c]{1}[x-z]"), |(does, key)| {
            let mut scene = scene.borrow_mut();
            runtime.block_on(async {
                scene.act(does, &key).await;
                scene.check().await
            })
        })
        .unwrap();
    assert!(scene.borrow().ids.len() > 10, "sessions came and went");
}
