//! `status`, `doctor`, `sessions` and `cancel`.

use openclaw_proto::wire::{gateway, memory, runner};
use serde_json::Value;

use crate::gateway::{RUN, ScriptedGateway};
use crate::scene::{Scene, text};

fn status() -> gateway::StatusResponse {
    let confinement = |name: &str, state: &str| runner::Confinement {
        name: name.to_owned(),
        state: state.to_owned(),
        detail: String::new(),
    };
    gateway::StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sessions: 1,
        runner: Some(runner::StatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend: "offline".to_owned(),
            reason: "no model is configured".to_owned(),
            agents: vec![runner::AgentModel {
                agent_id: "main".to_owned(),
                backend: "offline".to_owned(),
                ..runner::AgentModel::default()
            }],
            confinements: vec![
                confinement("seccomp", "enforced"),
                confinement("landlock", "failed"),
            ],
            ..runner::StatusResponse::default()
        }),
        memory: Some(memory::StatusResponse {
            version: "0.0.1".to_owned(),
            chunks: 5,
            ..memory::StatusResponse::default()
        }),
        ..gateway::StatusResponse::default()
    }
}

#[test]
fn suite_that_answers_is_shown() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start_with(&scene, Vec::new(), status());
    let shown = scene.run(&["status"]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let shown = text(&shown.stdout);
    assert!(shown.contains("offline: no model is configured"), "{shown}");
    assert!(shown.contains("1 of 2 confinements enforced"), "{shown}");
    assert!(shown.contains("landlock failed"), "{shown}");

    let document = scene.run(&["status", "--json", "--wait", "10"]).stdout;
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["memory"]["passages"], 5);
}

#[test]
fn daemons_that_do_not_answer_are_named() {
    let scene = Scene::new();
    let absent = scene.run(&["status", "--wait", "0.1"]);
    assert_eq!(absent.status.code(), Some(1));
    let shown = text(&absent.stdout);
    for daemon in ["gateway", "runner", "memory"] {
        let line = shown.lines().find(|line| line.starts_with(daemon));
        assert!(line.unwrap().contains("does not answer"), "{shown}");
    }

    let mut answer = status();
    answer.memory = None;
    answer.memory_problem = "it is asleep".to_owned();
    let _gateway = ScriptedGateway::start_with(&scene, Vec::new(), answer);
    let partly = scene.run(&["status"]);
    assert_eq!(partly.status.code(), Some(1));
    assert!(text(&partly.stdout).contains("does not answer: it is asleep"));
}

#[test]
fn doctor_finds_what_fails_and_says_what_to_do() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start_with(&scene, Vec::new(), status());
    let output = scene.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let state = |name: &str| {
        let checks = document["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {document:#}"))["state"].clone()
    };
    assert_eq!(state("sandbox seccomp"), "ok");
    assert_eq!(state("sandbox landlock"), "fail");
    assert_eq!(state("model"), "warn");
    assert_eq!(state("gateway"), "ok");
    assert_eq!(state("memory"), "warn", "another version");
    assert_eq!(state("agent-runner socket"), "fail");
    assert_eq!(state("programs"), "fail");
    let shown = text(&scene.run(&["doctor"]).stdout);
    assert!(shown.contains("FAIL  sandbox landlock"), "{shown}");
    assert!(shown.contains("fix: "), "{shown}");
}

#[test]
fn runs_are_cancelled_by_their_id() {
    let scene = Scene::new();
    let gateway = ScriptedGateway::start(&scene, Vec::new());
    assert_eq!(text(&scene.run(&["cancel", RUN]).stdout), "cancelled\n");
    assert_eq!(gateway.asked().cancelled.len(), 1);
    let unknown = scene.run(&["cancel", "other"]);
    assert_eq!(unknown.status.code(), Some(1));
    let complaint = text(&unknown.stderr);
    assert!(
        complaint.starts_with("error: there is no run other\n"),
        "{complaint}"
    );
}
