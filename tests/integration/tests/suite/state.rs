//! One state directory, one suite; and a state directory that takes nothing.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use integration_tests::manager::{DAEMONS, Managed};
use integration_tests::{Said, Setup, Suite, within};
use scripted_model::Server;

use crate::mounts::Mount;

/// How long somebody may wait to hear what is wrong. Far below the attempts
/// that a gateway that is started again is worth.
const AT_ONCE: Duration = Duration::from_secs(5);

/// `openclawctl` with its sockets in another folder than the suite has.
async fn elsewhere(suite: &Suite, arguments: &[&str]) -> Said {
    let mut command = suite.command("openclawctl");
    command.env("OPENCLAW_RUNTIME_DIR", suite.path("elsewhere"));
    let what = format!("openclawctl {} elsewhere", arguments.join(" "));
    let output = within(&what, command.args(arguments).output()).await;
    Said::of(what, &output.unwrap())
}

#[tokio::test]
async fn state_has_one_suite_and_the_second_is_told_how_to_end_it() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;

    let refused = elsewhere(&suite, &["run"]).await.ended(3);
    refused.complains(&["is in use by openclaw-gateway (process ", "; end it with: "]);
    let began = Instant::now();
    let refused = elsewhere(&suite, &["message", "is anybody there?"]).await;
    refused
        .ended(3)
        .complains(&["is in use by openclaw-gateway"]);
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    let doctor = elsewhere(&suite, &["doctor"]).await.ended(1);
    doctor.says(&["state in use", "is in use by openclaw-"]);
    suite.say("still there?").await;
}

#[tokio::test]
async fn state_lock_is_taken_by_a_daemon_that_is_started_past_the_command_line() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let state = suite.state().display().to_string();
    for (daemon, socket, _) in DAEMONS {
        let beside = Setup::empty().variable("OPENCLAW_STATE_DIR", &state).site();
        let mut managed = Managed::start(&beside, daemon, socket, None);
        assert_eq!(managed.ended().await, Some(3), "{daemon}");
        let words = format!("is in use by {daemon} (process ");
        beside.log.times(&words, 1).await;
    }
    suite.say("hello").await;
}

/// Where a file of SQLite has its `user_version`, big-endian (fileformat2.html, 1.3).
const USER_VERSION: u64 = 60;

fn set_version(ledger: &Path, version: u32) -> u32 {
    let file = File::options().read(true).write(true).open(ledger).unwrap();
    let mut before = [0; 4];
    file.read_exact_at(&mut before, USER_VERSION).unwrap();
    let after = version.to_be_bytes();
    file.write_all_at(&after, USER_VERSION).unwrap();
    u32::from_be_bytes(before)
}

#[tokio::test]
async fn state_of_a_newer_version_is_told_at_once_and_left_alone() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    suite.terminate();
    suite.ended().await;
    let ledger = suite.state().join("state/ledger.sqlite");
    let version = set_version(&ledger, 99);
    let newer = std::fs::read(&ledger).unwrap();
    let words = ["openclaw-gateway cannot start: ", "version 99, newer than "];

    let began = Instant::now();
    suite
        .ctl(&["run", "--detach"])
        .await
        .ended(78)
        .complains(&words);
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(78).complains(&words);
    suite.ctl(&["status"]).await.ended(1).says(&words);
    let doctor = suite.ctl(&["doctor"]).await.ended(1);
    doctor.says(&words);
    assert!(began.elapsed() < 2 * AT_ONCE, "{:?}", began.elapsed());
    assert!(std::fs::read(&ledger).unwrap() == newer, "nobody wrote");

    set_version(&ledger, version);
    suite.ctl(&["run", "--detach"]).await.ok();
    suite.say("hello again").await;
    suite.ctl(&["run", "--stop"]).await.ok();
}

#[tokio::test]
async fn state_that_is_read_only_is_told_at_once() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    let state = suite.state();
    let Some(_mounted) = Mount::read_only(&state) else {
        return;
    };
    suite
        .ctl(&["status"])
        .await
        .ended(1)
        .says(&["is read-only"]);
    let doctor = suite.ctl(&["doctor"]).await.ended(1);
    doctor.says(&["state writable", "is read-only"]);

    suite.ctl(&["run", "--stop"]).await.ended(0);
    let began = Instant::now();
    let job = ["cron", "add", "--every", "1h", "tea"];
    for arguments in [["message", "hello"].as_slice(), &["run"], &job] {
        let said = suite.ctl(arguments).await.ended(1);
        said.complains(&["is read-only", &state.display().to_string()]);
    }
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
}
