//! Wrong usage, wrong configuration, and readers that go away.

use std::fs;

use crate::gateway::{ScriptedGateway, delta, done};
use crate::scene::{Scene, text};

#[test]
fn wrong_usage_exits_64_and_help_0() {
    let scene = Scene::new();
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["message", "--help"], 0),
        (&[], 64),
        (&["massage"], 64),
        (&["message", "hi", "--timeout", "soon"], 64),
        (&["message"], 64),
        (&["message", " "], 64),
    ] {
        let output = scene.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert_eq!(output.stderr.is_empty(), code == 0, "{arguments:?}");
    }
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    let scene = Scene::new();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help"],
        &["turns", "--help"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = scene.command(arguments);
        let output = command.stdout(full.unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains("cannot write to standard output"), "{said}");
    }
}

#[test]
fn a_broken_configuration_stops_no_message() {
    let scene = Scene::new();
    fs::write(scene.state().join("openclaw.json"), "{\n  agents: ]\n}").unwrap();
    let script = vec![delta(1, "a"), done(2)];
    let _gateway = ScriptedGateway::start(&scene, vec![script]);
    let output = scene.run(&["message", "hi"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_wrong_override_of_a_run_is_named() {
    let scene = Scene::new();
    for (setting, code, word) in [
        ("gateway.port=often", 78, "gateway.port"),
        ("gateway.prot=1", 78, "\"port\""),
        ("gateway.port", 64, "KEY=VALUE"),
    ] {
        let output = scene.run(&["run", "--set", setting]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(word), "{stderr}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let scene = Scene::new();
    let script = vec![delta(1, "a\n"), done(2)];
    let _gateway = ScriptedGateway::start(&scene, vec![script]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = scene.command(&["message", "hi"]).stdout(writer).output();
    let output = output.unwrap();
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
