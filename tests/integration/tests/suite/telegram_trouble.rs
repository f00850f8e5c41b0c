//! What is wrong with an account is told where its owner looks: status, doctor and
//! the log.

use std::time::{Duration, Instant};

use integration_tests::{until, within};
use telegram_double::Double;

use crate::telegram::Scene;

/// Within which it has to be told, and what a loaded machine may add.
const MINUTE: Duration = Duration::from_secs(60);
/// Between two questions to a command, which nobody announces.
const LOOK: Duration = Duration::from_secs(1);

/// Asks for `words` where the owner looks, until they are there; for how long.
async fn told(scene: &Scene, command: &[&str], words: &str) -> Duration {
    let begun = Instant::now();
    let is_told = async {
        loop {
            let said = scene.suite.ctl(command).await;
            if said.stdout.contains(words) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    integration_tests::before(2 * MINUTE, words, is_told).await;
    begun.elapsed()
}

#[tokio::test]
async fn telegram_token_that_was_revoked_is_told_within_a_minute() {
    let scene = Scene::start().await;
    within("the first poll", scene.double.wait(Double::is_polled)).await;
    scene.double.revoke(true);
    let words = "does not accept the token";
    let waited = told(&scene, &["channels", "status"], words).await;
    println!("told after {waited:.1?}");
    assert!(waited < MINUTE, "{waited:?}");
    told(&scene, &["doctor"], words).await;
    told(&scene, &["doctor"], "channels login telegram").await;
    until("the log has it", || {
        scene.suite.log.lines().iter().any(|it| it.contains(words))
    })
    .await;
    scene.double.revoke(false);
    told(&scene, &["channels", "status"], "connected").await;
    // Somebody else's webhook is not touched, and named.
    let url = "https://example.org/other";
    scene.double.set_webhook(url);
    told(&scene, &["channels", "status"], url).await;
    assert_eq!(scene.double.webhook()["url"], url);
}

/// With what nothing will be heard, when it is set.
#[tokio::test]
async fn telegram_token_file_that_is_not_there_is_told_when_it_is_set() {
    let scene = Scene::start().await;
    let set = ["config", "set", "channels.telegram.tokenFile", "/none"];
    let said = scene.suite.ctl(&set).await.ended(0);
    said.complains(&["channels.telegram.tokenFile", "there is no such file"]);
    let set = [
        "config",
        "set",
        "channels.telegram.webhookHost",
        "300.1.1.1",
    ];
    let said = scene.suite.ctl(&set).await.ended(0);
    said.complains(&["channels.telegram.webhookHost", "127.0.0.1 is used"]);
}
