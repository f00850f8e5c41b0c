//! SIGKILL of the daemon and of the gateway at any moment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_proto::wire::gateway as g;
use telegram_double::{Double, Fault};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::daemon::Site;

const CHATS: i64 = 20;
const MESSAGES: i64 = 120;

/// Every message is answered, and once but for those whose answer the provider had
/// and the daemon had not recorded when it was killed: its log names each.
#[tokio::test]
async fn survival_every_message_is_answered_once() {
    let mut site = Site::start().await;
    let runtime = site.runtime().to_owned();
    let mut kills = 0;
    for number in 0..MESSAGES {
        // A command is no part of a burst.
        site.double
            .say(1 + number % CHATS, &format!("/say {number}"));
        if number % 4 == 3 {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(0..120))).await;
            if number % 16 == 15 {
                site.gateway.start_again(&runtime);
            } else {
                site.kill();
                site.start_daemon();
                kills += 1;
            }
        }
    }
    let count = usize::try_from(MESSAGES).unwrap();
    let all = site.gateway.wait(|state| state.over.len() == count);
    site.within("all were delivered", all).await;
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for sent in site.double.sent() {
        *answers.entry(sent.text).or_default() += 1;
    }
    assert_eq!(answers.len(), count);
    let doubled = answers.values().filter(|times| **times > 1).count();
    let told = site.log().matches("may be there twice").count();
    assert!(
        doubled <= told,
        "{doubled} doubled, {told} told: {answers:?}"
    );
    assert_eq!(site.gateway.texts().len(), count);
    println!("{kills} kills, {doubled} answers doubled, {told} in doubt");
}

/// The one window: Telegram has the message, and the daemon is killed before it
/// hears so. What stands in a private chat is found there, whatever was said in others.
#[tokio::test]
async fn survival_kill_before_the_answer_is_heard_finds_it_in_a_private_chat() {
    let mut site = Site::start().await;
    site.double.say(7, "/say before");
    site.until_sent(1).await;
    let over = site.gateway.wait(|state| state.over.len() == 1);
    site.within("it is over", over).await;
    site.double.inject("sendMessage", Fault::Hold);
    site.double.say(8, "/say **once**");
    site.until_sent(2).await;
    site.double.say(7, "/say beside it");
    site.until_sent(3).await;
    site.kill();
    site.start_daemon();
    let over = site.gateway.wait(|state| state.over.len() == 3);
    site.within("all is over", over).await;
    let first = &site.double.sent_to(8);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(
        (first[0].text.as_str(), first[0].edits),
        ("echo /say once", 0)
    );
    assert_eq!(site.double.sent_to(7).len(), 2);
    assert!(site.double.sent().iter().all(|it| it.edits == 0));
    let state = site.gateway.shared.state.lock().unwrap();
    let reported = format!("{:?}", state.over);
    assert!(reported.contains(&first[0].id.to_string()), "{reported}");
}

/// One that Telegram does not have is sent, and what else the bot said stays.
#[tokio::test]
async fn survival_kill_before_a_message_is_taken_sends_it_and_changes_no_other() {
    let mut site = Site::start().await;
    site.double.say(7, "/say before");
    site.until_sent(1).await;
    let over = site.gateway.wait(|state| state.over.len() == 1);
    site.within("it is over", over).await;
    site.double.inject("sendMessage", Fault::HoldBefore);
    site.double.say(7, "/say it");
    let is_held = |it: &Double| it.calls_of("sendMessage").len() == 2;
    site.within("it is held", site.double.wait(is_held)).await;
    site.kill();
    site.start_daemon();
    site.until_sent(2).await;
    let said: Vec<String> = site
        .double
        .sent_to(7)
        .into_iter()
        .map(|it| it.text)
        .collect();
    assert_eq!(said, ["echo /say before", "echo /say it"]);
    assert!(site.double.sent().iter().all(|it| it.edits == 0));
}

/// In groups others' numbers say nothing: it is there twice then, and the log says it.
#[tokio::test]
async fn survival_kill_before_the_answer_is_heard_doubles_in_a_group_and_is_told() {
    let mut site = Site::start().await;
    site.double.open_chat("-7");
    site.double.inject("sendMessage", Fault::Hold);
    let reply = g::RunReply {
        text: "once".into(),
        state: "done".into(),
        ..Default::default()
    };
    let reply = g::Delivery {
        kind: Some(g::delivery::Kind::Reply(reply)),
        ..Default::default()
    };
    site.gateway.say(-7, reply);
    site.until_sent(1).await;
    site.kill();
    site.start_daemon();
    site.until_sent(2).await;
    let over = site.gateway.wait(|state| state.over.len() == 1);
    site.within("it is over", over).await;
    assert_eq!(site.double.sent_to(-7).len(), 2);
    assert_eq!(site.log().matches("may be there twice").count(), 1);
}

/// What of the kernel a message goes through, in and out.
const CALLS: [&str; 10] = [
    "openat",
    "write",
    "fdatasync",
    "fsync",
    "rename",
    "unlink",
    "sendto",
    "writev",
    "recvfrom",
    "connect",
];
/// Daemons at once, and the calls of one kind up to which each one is tried: a
/// start and two messages make fewer.
const AT_ONCE: usize = 4;
const MOST: usize = 200;

/// SIGKILL at each call of the kernel that the daemon makes from its start until it
/// has delivered two answers: each is there, and once unless that was told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn survival_kill_at_every_call_of_the_kernel() {
    if let Err(why) = crate::daemon::can_trace() {
        return test_skip::skipped(&format!("kills at every call of the kernel: {why}"));
    }
    let mut tasks = JoinSet::new();
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    for call in CALLS {
        let permits = Arc::clone(&permits);
        tasks.spawn(async move {
            let mut doubled = 0;
            for number in 1..MOST {
                let _permit = permits.acquire().await.unwrap();
                match killed_at(call, number).await {
                    Some(told) => doubled += usize::from(told),
                    None => return (call, number - 1, doubled),
                }
            }
            panic!("{call}: it is made more than {MOST} times");
        });
    }
    while let Some(done) = tasks.join_next().await {
        let (call, kills, doubled) = done.unwrap();
        println!("{call}: {kills} kills, {doubled} answers doubled and told");
        assert!(kills > 0, "{call} is never made");
    }
}

/// Whether an answer is there twice; None: the daemon was not killed.
async fn killed_at(call: &str, number: usize) -> Option<bool> {
    let mut site = Site::without_daemon().await;
    site.double.say(7, "/say one");
    site.start_traced(call, number);
    let both = |site: &Site| {
        let said = |chat, text| {
            let said = site.double.sent_to(chat);
            said.iter().any(|it| it.text == text)
        };
        said(7, "echo /say one") && said(8, "echo /say two")
    };
    let mut was_killed = false;
    let mut is_second_said = false;
    let begun = Instant::now();
    loop {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{call} {number}\n{}",
            site.log()
        );
        // The end of a process is told to nobody here but to who looks.
        tokio::time::sleep(Duration::from_millis(20)).await;
        if !is_second_said && !site.double.sent_to(7).is_empty() {
            is_second_said = true;
            site.double.say(8, "/say two");
        }
        if site.has_ended() {
            was_killed = true;
            site.start_daemon();
        }
        let is_over = site.gateway.shared.state.lock().unwrap().over.len() == 2;
        if is_over && both(&site) && site.spool_is_empty() {
            break;
        }
    }
    let told = site.log().matches("may be there twice").count();
    let extra = site.double.sent().len() - 2;
    assert!(extra <= told, "{call} {number}: {:?}", site.double.sent());
    assert_eq!(site.gateway.texts().len(), 2, "{call} {number}");
    was_killed.then_some(extra > 0)
}
