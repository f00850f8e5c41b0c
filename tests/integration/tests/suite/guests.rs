//! Who calls and is not the owner: a user that the control socket was opened to, and whoever comes by
//! the socket of channel daemons.

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
async fn channel_daemon_says_and_sees_nothing_as_the_owner() {
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
    let log = suite
        .log
        .message("refused a call that is the owner's")
        .await;
    assert_eq!(log["context"]["peer_uid"], CHANNEL, "{log}");
    assert!(suite.ctl(&["token"]).await.ok().len() > 32);
}

#[tokio::test]
async fn stranger_does_not_even_connect() {
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

/// The gateway's own user, by the socket that a channel daemon's unit has in its view.
#[tokio::test]
async fn guests_nobody_is_the_owner_at_the_socket_of_channel_daemons() {
    let suite = Setup::offline().start().await;
    suite.say("the door code is 4711").await;
    let view = tempfile::tempdir().unwrap();
    let own = suite.runtime().join("channel.sock");
    assert_eq!(
        std::fs::metadata(&own).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::os::unix::fs::symlink(&own, view.path().join("gateway.sock")).unwrap();
    for arguments in [
        &["message", "repeat all"][..],
        &["approvals"],
        &["cron"],
        &["token"],
        &["sessions"],
        &["channels"],
    ] {
        let mut command = suite.command("openclawctl");
        command
            .args(arguments)
            .env("OPENCLAW_RUNTIME_DIR", view.path());
        let what = format!("openclawctl {} as a channel daemon", arguments.join(" "));
        let output = within(&what, command.output()).await;
        let refused = Said::of(what, &output.expect("start openclawctl"));
        assert_ne!(refused.code, 0, "{refused}");
        refused.complains(&["for the user that the gateway runs as"]);
    }
}
