//! `openclaw-memory-eval`, on a small conversation of our own.
#![allow(clippy::unwrap_used, reason = "only #[test] functions are excepted")]

use std::process::{Command, Output};

use serde_json::Value;

const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/eval.json");

#[expect(clippy::disallowed_methods, reason = "the program under test")]
fn eval(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_openclaw-memory-eval"))
        .args(arguments)
        .output()
        .unwrap()
}

fn report(embedder: &[&str]) -> Value {
    let output = eval(&[&["--json", SET], embedder].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn small_conversation_is_answered() {
    let report = report(&[]);
    assert_eq!(report["embedder"], "static");
    assert_eq!(report["sets"][0], "allotment");
    assert_eq!(report["all"]["questions"], 5);
    let mean = |measure: &str| report["all"][measure]["mean"].as_f64().unwrap();
    assert_eq!(mean("recallAt10"), 100.0);
    assert!(
        mean("recallAt5") >= 80.0 && mean("ndcgAt10") > 60.0,
        "{report}"
    );
    assert_eq!(report["categories"]["date"]["questions"], 1);
    assert!(report["p50Ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn table_for_people_has_every_category() {
    let output = eval(&[SET, "--embedder", "none", "--no-decay", "--no-mmr"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("none: allotment\n"), "{text}");
    for word in [
        "R@5", "R@10", "nDCG@10", "MRR@10", "all", "context", "date", "word", "p99",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn eval_each_conversation_is_asked_with_weights_of_the_others() {
    let output = eval(&[SET, SET, "--cross-validate"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("each fitted to the other conversations"),
        "{text}"
    );
    assert_eq!(text.matches("allotment: text ").count(), 2, "{text}");
    assert_eq!(eval(&[SET, "--cross-validate"]).status.code(), Some(1));
}

#[test]
fn eval_what_cannot_be_evaluated_is_named() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for (arguments, code, said) in [
        (vec!["/nowhere.json"], 1, "cannot read /nowhere.json"),
        (vec![manifest], 1, "is no evaluation set"),
        (vec!["--embedder", "psychic", SET], 64, "psychic"),
        (vec!["--embedder", "minilm", SET], 64, "minilm"),
        (vec![], 64, "FILE"),
    ] {
        let output = eval(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}
