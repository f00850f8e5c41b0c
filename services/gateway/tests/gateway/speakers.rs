//! Which account a channel daemon may speak for, by its process. This one is the daemon of the
//! account "home" and tries everything as that of "work".

use std::fs;
use std::path::PathBuf;

use futures_util::StreamExt as _;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::channel::{AccountName, Attend, Client, FileHead, HandIn, Health, PutError};
use openclaw_proto::gateway;
use openclaw_proto::outbox::{self, Outcome, Report, State, Wanted};

use crate::channels::{Deliveries, client, direct, hand_in, message, next, run_of};
use crate::suite::{Suite, done, soon, text};

const TWO: &str = r#"{"channels": {"telegram": {"defaultAccount": "work", "allowFrom": [42],
    "accounts": {"home": {"tokenFile": "/h"}, "work": {"tokenFile": "/w"}}}}}"#;

fn named(account: &str) -> AccountName {
    AccountName {
        channel: "telegram".to_owned(),
        account: account.to_owned(),
    }
}

fn wanted(account: &str) -> Wanted {
    Wanted {
        channel: "telegram".to_owned(),
        account: account.to_owned(),
        lease_ms: 60_000,
    }
}

fn socket(suite: &Suite) -> PathBuf {
    suite.paths().channel_socket()
}

/// Writes who holds the folder of `account`, as its daemon does.
fn hold(suite: &Suite, account: &str, process: u32) {
    let folder = suite.paths().state.join("state/channels/telegram");
    fs::create_dir_all(folder.join(account)).unwrap();
    fs::write(folder.join(account).join("lock"), process.to_string()).unwrap();
}

fn is_foreign<T>(tried: Result<T, CallError>) {
    let error = tried.err().unwrap();
    assert_eq!(error.code(), Some(RefusalCode::PermissionDenied), "{error}");
    assert!(
        error
            .to_string()
            .contains("another process speaks for telegram"),
        "{error}"
    );
}

/// Everything that a daemon says with an account's name.
async fn try_all(suite: &Suite, account: &str, judge: impl Fn(Result<(), CallError>)) {
    let client = Client::new(socket(suite));
    let own = || named(account);
    let attend = Attend {
        account: own(),
        ..Attend::default()
    };
    judge(soon(client.attend(attend)).await.map(drop));
    let said = HandIn {
        account: own(),
        ..direct(&format!("key of {account}"), "7", message("hello"))
    };
    judge(soon(client.hand_in(said)).await.map(drop));
    let head = FileHead {
        account: own(),
        name: "a".to_owned(),
        ..FileHead::default()
    };
    let parts = futures_util::stream::iter([Ok::<_, std::io::Error>(vec![7])]);
    let put = soon(client.put_file(head, parts)).await.map(drop);
    judge(put.map_err(|error| match error {
        PutError::Call(error) => error,
        PutError::Content(error) => panic!("{error}"),
    }));
    judge(soon(client.report_health(own(), Health::default())).await);
    let outbox = outbox::Client::new(socket(suite));
    judge(soon(outbox.take(wanted(account))).await.map(drop));
}

#[tokio::test]
async fn daemon_speaks_for_its_own_account_alone() {
    let suite = Suite::configured(TWO).await;
    hold(&suite, "home", std::process::id());
    hold(&suite, "default", 1);
    try_all(&suite, "home", |own| own.unwrap()).await;
    for others in ["work", ""] {
        try_all(&suite, others, is_foreign).await;
        let client = Client::new(socket(&suite));
        is_foreign(soon(client.fetch_file(named(others), 1, 0)).await.map(drop));
    }
    // The owner does as before, at its own socket.
    let attend = Attend {
        account: named("work"),
        ..Attend::default()
    };
    drop(soon(client(&suite).attend(attend)).await.unwrap());
}

#[tokio::test]
async fn daemon_neither_follows_nor_ends_what_is_anothers() {
    let suite = Suite::configured(TWO).await;
    hold(&suite, "home", std::process::id());
    hold(&suite, "default", 1);
    let handed_in = hand_in(&suite, direct("1", "42", message("hello"))).await;
    let run = run_of(&handed_in);
    suite.runner.started().await;
    let runs = gateway::Client::new(socket(&suite));
    is_foreign(soon(runs.attach(&run, 0)).await.map(drop));
    suite.runner.say(&run, text("hello"));
    suite.runner.say(&run, done());
    let owner = outbox::Client::new(suite.paths().gateway_socket());
    let mut told: Deliveries = Box::pin(soon(owner.take(wanted("work"))).await.unwrap());
    let reply = next(&mut told).await;
    let report = Report {
        id: reply.id,
        attempt: reply.attempt,
        outcome: Outcome::Delivered(vec!["m2".to_owned()]),
    };
    let outbox = outbox::Client::new(socket(&suite));
    is_foreign(soon(outbox.report(report.clone())).await);
    // Also when it is over.
    let over = soon(runs.attach(&run, 0)).await.err().unwrap();
    let codes = [RefusalCode::PermissionDenied, RefusalCode::NotFound];
    assert!(
        over.code().is_some_and(|code| codes.contains(&code)),
        "{over}"
    );
    let unknown = soon(runs.attach("none", 0)).await.err().unwrap();
    assert_eq!(unknown.code(), Some(RefusalCode::NotFound), "{unknown}");
    // Its own daemon does all of it.
    hold(&suite, "default", std::process::id());
    let mut events = Box::pin(soon(runs.attach(&run, 0)).await.unwrap());
    soon(events.next()).await.unwrap().unwrap();
    assert_eq!(soon(outbox.report(report)).await.unwrap(), State::Delivered);
}

/// Where a daemon is a user of its own, nothing but the attending says whose an account is.
#[tokio::test]
async fn daemon_without_a_folder_here_speaks_for_one_account() {
    let suite = Suite::configured(TWO).await;
    let client = Client::new(socket(&suite));
    let attend = |account: &str| {
        let account = named(account);
        client.attend(Attend {
            account,
            ..Attend::default()
        })
    };
    let attended = soon(attend("home")).await.unwrap();
    is_foreign(soon(attend("work")).await.map(drop));
    // It comes again, as after a break.
    let again = soon(attend("home")).await.unwrap();
    drop((attended, again));
}
