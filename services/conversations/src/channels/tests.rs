use openclaw_proto::channel::Taken;
use openclaw_proto::channel_admin::PairingRequest;

use super::*;
use crate::schema;

const HOUR: i64 = 3_600_000;

fn ledger() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::bring_up_to_date(&mut connection).unwrap();
    connection
}

fn account(name: &str) -> AccountName {
    AccountName {
        channel: "telegram".to_owned(),
        account: name.to_owned(),
    }
}

fn request(account_name: &str, peer: &str, code: &str) -> PairingRequest {
    PairingRequest {
        account: account(account_name),
        peer: peer.to_owned(),
        code: code.to_owned(),
        name: "Ada".to_owned(),
        created_ms: 0,
    }
}

#[test]
fn hand_in_has_one_outcome_for_thirty_days() {
    let ledger = ledger();
    let taken = |run: &str| {
        Outcome::Taken(Taken {
            run_id: run.to_owned(),
            ..Taken::default()
        })
    };
    let of = |key: &str| outcome(&ledger, &account("a"), key).unwrap();
    keep(&ledger, &account("a"), "1", &taken("r"), 5).unwrap();
    keep(&ledger, &account("a"), "1", &taken("other"), 6).unwrap();
    assert_eq!(of("1"), Some(taken("r")));
    assert_eq!(of("2"), None);
    assert_eq!(outcome(&ledger, &account("b"), "1").unwrap(), None);
    assert_eq!(tidy(&ledger, 30 * 24 * HOUR).unwrap(), 0);
    assert_eq!(tidy(&ledger, 30 * 24 * HOUR + 10).unwrap(), 1);
    assert_eq!(of("1"), None);
}

#[test]
fn pairing_gives_three_codes_for_an_hour_each_once() {
    let ledger = ledger();
    let ask = |name: &str, peer: &str, code: &str, at| {
        super::ask(&ledger, request(name, peer, code), at).unwrap()
    };
    assert!(matches!(ask("a", "1", "C1", 0), PairingAnswer::New(_)));
    let may = |peer: &str, now_ms| may_ask(&ledger, &account("a"), peer, now_ms).unwrap();
    assert!(!may("1", 1) && may("2", 1));
    assert_eq!(ask("a", "1", "C2", 1), PairingAnswer::Waits);
    assert!(matches!(ask("a", "2", "C3", 2), PairingAnswer::New(_)));
    assert!(matches!(ask("a", "3", "C4", 3), PairingAnswer::New(_)));
    assert!(!may("4", 4) && may("4", 4 + HOUR));
    assert_eq!(ask("a", "4", "C5", 4), PairingAnswer::Full);
    assert!(matches!(ask("b", "4", "C6", 5), PairingAnswer::New(_)));
    assert_eq!(requests(&ledger, 6).unwrap().len(), 4);
    // The first one's hour is over.
    assert!(matches!(ask("a", "4", "C7", HOUR), PairingAnswer::New(_)));
    assert_eq!(approve(&ledger, "C1", HOUR).unwrap(), Decided::Unknown);
}

#[test]
fn pairing_lets_in_whoever_is_approved_and_the_first_one_owns() {
    let ledger = ledger();
    for (peer, code) in [("1", "AAAA"), ("2", "BBBB"), ("3", "CCCC")] {
        super::ask(&ledger, request("a", peer, code), 0).unwrap();
    }
    let of = |name: &str, peer: &str| {
        let found = of_peer(&ledger, &account(name), peer).unwrap();
        (found.is_paired, found.is_owner, found.has_owner)
    };
    assert_eq!(of("a", "1"), (false, false, false));
    assert!(matches!(
        deny(&ledger, "CCCC", 1).unwrap(),
        Decided::Done(_, false)
    ));
    assert!(matches!(
        approve(&ledger, " aaaa ", 1).unwrap(),
        Decided::Done(_, true)
    ));
    assert_eq!(approve(&ledger, "AAAA", 1).unwrap(), Decided::Unknown);
    assert!(matches!(
        approve(&ledger, "BBBB", 1).unwrap(),
        Decided::Done(_, false)
    ));
    assert_eq!(of("a", "1"), (true, true, true));
    assert_eq!(of("a", "2"), (true, false, true));
    assert_eq!(of("a", "3"), (false, false, true));
    // The owner is known, and not let in, at another account.
    assert_eq!(of("b", "1"), (false, true, true));
    assert_eq!(peers(&ledger).unwrap().len(), 2);
}

#[test]
fn pairing_that_is_revoked_lets_in_nobody_and_leaves_the_others() {
    let ledger = ledger();
    for (peer, code) in [("1", "AAAA"), ("2", "BBBB")] {
        super::ask(&ledger, request("a", peer, code), 0).unwrap();
        approve(&ledger, code, 1).unwrap();
    }
    assert_eq!(revoke(&ledger, &account("b"), "1").unwrap(), None);
    assert_eq!(revoke(&ledger, &account("a"), "3").unwrap(), None);
    let gone = revoke(&ledger, &account("a"), "1").unwrap().unwrap();
    assert_eq!((gone.peer.as_str(), gone.is_owner), ("1", true));
    assert_eq!(revoke(&ledger, &account("a"), "1").unwrap(), None);
    let left = peers(&ledger).unwrap();
    assert_eq!((left.len(), left[0].peer.as_str()), (1, "2"));
    assert!(!of_peer(&ledger, &account("a"), "2").unwrap().has_owner);
    // They may ask again, and own it again.
    super::ask(&ledger, request("a", "1", "CCCC"), 2).unwrap();
    let again = approve(&ledger, "CCCC", 3).unwrap();
    assert!(matches!(again, Decided::Done(_, true)));
}
