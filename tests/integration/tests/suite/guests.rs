//! The control socket, opened to a user that is not the gateway's.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

use integration_tests::{Said, Setup, Suite, within};
use nix::unistd::geteuid;
use serde_json::json;

/// Users that own nothing.
const CHANNEL: u32 = 65_531;
const STRANGER: u32 = 65_532;

/// Only root can be somebody else.
async fn suite() -> Option<Suite> {
    if !geteuid().is_root() {
        return None;
    }
    let suite = Setup::offline()
        .set("gateway.control.channelUids", json!([CHANNEL]))
        .start()
        .await;
    let socket = suite.runtime().join("gateway.sock");
    let folders = [suite.path(""), suite.runtime()].map(|path| (path, 0o711));
    for (path, mode) in folders.into_iter().chain([(socket, 0o666)]) {
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    Some(suite)
}

async fn ctl(suite: &Suite, uid: u32, arguments: &[&str]) -> Said {
    let mut command = suite.command("openclawctl");
    command.args(arguments).uid(uid).gid(uid);
    let what = format!("openclawctl {} as {uid}", arguments.join(" "));
    let output = within(&what, command.output()).await;
    Said::of(what, &output.expect("start openclawctl"))
}

#[tokio::test]
async fn a_channel_daemon_says_and_sees_nothing_as_the_owner() {
    let Some(suite) = suite().await else { return };
    suite.say("the door code is 4711").await;
    for arguments in [
        &["message", "repeat all"][..],
        &["message", "--session", "other", "hello"],
        &["message", "/whoami"],
        &["approvals"],
        &["cron"],
        &["token"],
        &["sessions"],
    ] {
        let refused = ctl(&suite, CHANNEL, arguments).await;
        refused
            .ended(1)
            .complains(&["for the user that the gateway runs as"]);
    }
    let log = suite.log.message("refused a call of another user").await;
    assert_eq!(log["context"]["peer_uid"], CHANNEL, "{log}");
    assert!(suite.ctl(&["token"]).await.ok().len() > 32);
}

#[tokio::test]
async fn a_stranger_does_not_even_connect() {
    let Some(suite) = suite().await else { return };
    for arguments in [&["message", "hello"][..], &["status"], &["token"]] {
        let refused = ctl(&suite, STRANGER, arguments).await;
        assert_ne!(refused.code, 0, "{refused}");
    }
    suite
        .log
        .message("refused a connection from another user")
        .await;
    suite.say("hello").await;
}
