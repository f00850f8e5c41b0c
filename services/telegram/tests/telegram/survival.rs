//! SIGKILL of the daemon and of the gateway at any moment.

use std::collections::BTreeMap;
use std::time::Duration;

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
