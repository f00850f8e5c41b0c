//! Who is given what, and what a report makes of it.

use openclaw_proto::outbox::{Kind, Outcome, Place, Report, State};
use rusqlite::Connection;

use super::*;
use crate::schema;

const NOW: i64 = 1_000_000_000;
const UNTIL: i64 = NOW + 60_000;

fn tables() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::bring_up_to_date(&mut connection).unwrap();
    connection
}

fn new(name: &str, to: &str) -> NewDelivery {
    NewDelivery {
        name: name.to_owned(),
        place: Place {
            channel: "telegram".to_owned(),
            to: to.to_owned(),
            ..Place::default()
        },
        session_key: "agent:main:main".to_owned(),
        agent_id: "main".to_owned(),
        run_id: "r".to_owned(),
        kind: Kind::Announcement {
            text: name.to_owned(),
        },
        extras: Extras::default(),
        paths: Vec::new(),
    }
}

#[test]
fn outbox_keeps_what_goes_with_a_delivery() {
    let tables = tables();
    let extras = Extras {
        reaction: "👍".to_owned(),
        ..Extras::default()
    };
    let with = NewDelivery {
        extras: extras.clone(),
        paths: vec!["out/a.png".to_owned()],
        ..new("with", "1")
    };
    add(&tables, &with, NOW).unwrap();
    let path = |id, index| file(&tables, "telegram", "", id, index).unwrap();
    assert_eq!(path(1, 0), None, "nobody has it yet");
    let delivery = taken(&tables, NOW).unwrap();
    assert_eq!(delivery.extras, extras);
    let found = Some(("main".to_owned(), "out/a.png".to_owned()));
    assert_eq!(path(delivery.id, 0), found);
    assert_eq!(path(delivery.id, 1), None);
    let of_another = file(&tables, "telegram", "work", delivery.id, 0).unwrap();
    assert_eq!(of_another, None);
}

fn taken(connection: &Connection, now_ms: i64) -> Option<Delivery> {
    lease(connection, "telegram", "", now_ms, now_ms + 60_000).unwrap()
}

fn said(connection: &Connection, delivery: &Delivery, outcome: Outcome) -> State {
    let told = Report {
        id: delivery.id,
        attempt: delivery.attempt,
        outcome,
    };
    report(connection, &told, NOW).unwrap().unwrap()
}

fn delivered(ids: &[&str]) -> Outcome {
    Outcome::Delivered(ids.iter().map(|id| (*id).to_owned()).collect())
}

#[test]
fn outbox_gives_a_delivery_to_one_until_its_lease_is_over() {
    let connection = tables();
    assert!(add(&connection, &new("a", "1"), NOW).unwrap());
    assert!(!add(&connection, &new("a", "1"), NOW).unwrap());
    let first = taken(&connection, NOW).unwrap();
    assert_eq!((first.attempt, first.lease_until_ms), (1, UNTIL));
    assert_eq!(taken(&connection, UNTIL - 1), None);
    assert_eq!(
        next_ms(&connection, "telegram", "", NOW).unwrap(),
        Some(UNTIL)
    );
    let again = taken(&connection, UNTIL).unwrap();
    assert_eq!((again.id, again.attempt), (first.id, 2));
    // Whoever had it before delivered it after all, and nothing undoes that.
    assert_eq!(
        said(&connection, &first, Outcome::Undeliverable("no".to_owned())),
        State::Leased
    );
    assert_eq!(
        said(&connection, &first, delivered(&["m1"])),
        State::Delivered
    );
    assert_eq!(
        said(&connection, &again, Outcome::Undeliverable("no".to_owned())),
        State::Delivered
    );
    assert_eq!(
        said(&connection, &again, delivered(&["m2"])),
        State::Delivered
    );
    assert_eq!(provider_ids(&connection, first.id).unwrap(), ["m1"]);
    assert_eq!(taken(&connection, UNTIL * 2), None);
    let unknown = Report {
        id: 99,
        attempt: 1,
        outcome: delivered(&[]),
    };
    assert_eq!(report(&connection, &unknown, NOW).unwrap(), None);
}

#[test]
fn outbox_keeps_the_order_of_a_chat_and_no_other() {
    let connection = tables();
    for (name, to) in [("a", "1"), ("b", "1"), ("c", "2")] {
        add(&connection, &new(name, to), NOW).unwrap();
    }
    let text = |delivery: Option<Delivery>| match delivery.map(|it| it.kind) {
        Some(Kind::Announcement { text }) => text,
        other => panic!("{other:?}"),
    };
    let first = taken(&connection, NOW).unwrap();
    assert_eq!(text(taken(&connection, NOW)), "c");
    assert_eq!(taken(&connection, NOW), None);
    let later = Outcome::TryAgain {
        at_ms: NOW + 500,
        reason: "slow down".to_owned(),
    };
    assert_eq!(said(&connection, &first, later), State::Pending);
    assert_eq!(taken(&connection, NOW + 499), None);
    let again = taken(&connection, NOW + 500).unwrap();
    assert_eq!((again.id, again.attempt), (first.id, 2));
    said(
        &connection,
        &again,
        Outcome::Undeliverable("gone".to_owned()),
    );
    assert_eq!(text(taken(&connection, NOW + 500)), "b");
}

#[test]
fn outbox_gives_a_client_only_so_many_at_once() {
    let connection = tables();
    for number in 0..=WITH_CLIENT {
        let name = number.to_string();
        add(&connection, &new(&name, &name), NOW).unwrap();
    }
    let given: Vec<_> = std::iter::from_fn(|| taken(&connection, NOW)).collect();
    assert_eq!(given.len() as i64, WITH_CLIENT);
    said(&connection, &given[0], delivered(&[]));
    assert!(taken(&connection, NOW).is_some());
}

#[test]
fn outbox_edits_a_question_that_was_asked_and_drops_one_that_was_not() {
    let connection = tables();
    add(&connection, &new("question q", "1"), NOW).unwrap();
    let asked = taken(&connection, NOW).unwrap();
    assert!(decided(&connection, "question q", ("yes", "allowed"), NOW).unwrap());
    assert!(!decided(&connection, "question q", ("yes", "allowed"), NOW).unwrap());
    // The edit waits until it is known what to edit.
    assert_eq!(taken(&connection, NOW), None);
    said(&connection, &asked, delivered(&["7"]));
    let edit = taken(&connection, NOW).unwrap();
    assert_eq!(
        edit.kind,
        Kind::Edit {
            delivery_id: asked.id,
            provider_ids: vec!["7".to_owned()],
            text: "allowed".to_owned()
        }
    );
    add(&connection, &new("question p", "2"), NOW).unwrap();
    assert!(!decided(&connection, "question p", ("denied", "told"), NOW).unwrap());
    assert_eq!(taken(&connection, NOW), None);
}

#[test]
fn outbox_gives_up_and_forgets_after_its_time() {
    const DAY: i64 = 24 * 3600 * 1000;
    let connection = tables();
    add(&connection, &new("a", "1"), NOW).unwrap();
    add(&connection, &new("question q", "2"), NOW).unwrap();
    let asked = lease(&connection, "telegram", "", NOW, NOW).unwrap();
    let question = lease(&connection, "telegram", "", NOW, UNTIL * 2).unwrap();
    assert_eq!(asked.unwrap().id, 1);
    assert_eq!(question.unwrap().id, 1);
    assert_eq!(tidy(&connection, NOW + 2 * DAY).unwrap(), 0);
    assert_eq!(tidy(&connection, UNTIL * 2 + 4 * DAY).unwrap(), 2);
    assert_eq!(taken(&connection, UNTIL * 2 + 4 * DAY), None);
    tidy(&connection, UNTIL * 2 + 12 * DAY).unwrap();
    let rows: i64 = connection
        .query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}
