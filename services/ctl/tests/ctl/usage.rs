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
fn broken_configuration_stops_no_message() {
    let scene = Scene::new();
    fs::write(scene.state().join("openclaw.json"), "{\n  agents: ]\n}").unwrap();
    let script = vec![delta(1, "a"), done(2)];
    let _gateway = ScriptedGateway::start(&scene, vec![script]);
    let output = scene.run(&["message", "hi"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn wrong_override_of_a_run_is_named() {
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
fn reader_that_has_seen_enough_is_no_failure() {
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

#[test]
fn aliases_are_meant_and_lines_that_are_none_are_said() {
    let scene = Scene::new();
    let folder = scene.state().join(".config/openclaw");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("aliases"), "last = version\nst status\n").unwrap();
    let mistaken = scene.run(&["lsat"]);
    let said = text(&mistaken.stderr);
    assert_eq!(mistaken.status.code(), Some(64), "{said}");
    assert!(
        said.contains("a similar subcommand exists: 'last'"),
        "{said}"
    );
    let warning = "aliases: line 2 is no alias: there is no = behind its name";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    let used = scene.run(&["last", "--json"]);
    assert!(
        text(&used.stdout).contains("\"openclawctl\""),
        "{}",
        text(&used.stdout)
    );
    let doctor = scene.run(&["doctor"]);
    assert!(
        text(&doctor.stdout).contains(warning),
        "{}",
        text(&doctor.stdout)
    );
    // What needs no alias reads none.
    assert!(!text(&scene.run(&["version"]).stderr).contains(warning));
}

#[test]
fn import_without_a_home_names_it() {
    let scene = Scene::new();
    let mut command = scene.command(&["import"]);
    let output = command.env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("HOME is not set"), "{said}");
    assert!(said.contains("--from DIR"), "{said}");
}

#[test]
fn manual_has_nothing_that_its_checker_warns_of() {
    let scene = Scene::new();
    let place = scene.state().join("man");
    let made = scene
        .command(&["manual", place.to_str().unwrap()])
        .env("SOURCE_DATE_EPOCH", "1764115200")
        .output()
        .unwrap();
    let pages = text(&made.stdout);
    assert!(pages.lines().count() > 80, "{pages}");
    for page in pages.lines() {
        let first = fs::read_to_string(page).unwrap();
        assert!(first.contains("\"2025-11-26\""), "{page}: {first}");
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the checker of manuals: no agent"
    )]
    let mut checker = std::process::Command::new("mandoc");
    let checked = checker
        .args(["-Tlint", "-W", "warning"])
        .args(pages.lines())
        .output();
    let Ok(checked) = checked else {
        return test_skip::skipped("the manual's pages: mandoc is not installed");
    };
    assert_eq!(text(&checked.stdout) + &text(&checked.stderr), "");
}
