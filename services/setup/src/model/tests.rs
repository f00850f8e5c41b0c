use std::cell::{Cell, RefCell};

use super::*;
use crate::State;

/// A suite that says what it is told to, and has what it was told to read anew.
struct Recorded {
    answering: RefCell<Option<Answering>>,
    after: Answering,
    reloads: Cell<u32>,
}

impl Recorded {
    fn offline(reason: &str) -> Self {
        let offline = Answering {
            backend: OFFLINE.to_owned(),
            reason: reason.to_owned(),
            problem: "it needs a key".to_owned(),
            ..Answering::default()
        };
        Self {
            answering: RefCell::new(Some(offline)),
            after: Answering {
                backend: "native".to_owned(),
                reason: "found".to_owned(),
                model: "anthropic/m".to_owned(),
                profiles: vec!["anthropic:default".to_owned()],
                ..Answering::default()
            },
            reloads: Cell::new(0),
        }
    }
}

impl Suite for Recorded {
    fn answering(&self) -> Option<Answering> {
        let now = self.answering.borrow().clone();
        // What it was told is seen by the look after the next.
        if self.reloads.get() > 0 {
            *self.answering.borrow_mut() = Some(self.after.clone());
        }
        now
    }

    fn reload(&self) {
        self.reloads.set(self.reloads.get() + 1);
    }

    fn adopt(&self, _login: Login) -> Result<(), Failure> {
        Err(Failure::new("nobody was asked"))
    }
}

/// What is wished for where Ollama does not run.
fn wish(given: Option<&str>, model: Option<&str>) -> Wish {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Wish {
        unasked: true,
        given: given.map(|key| (Secret::new(key), Provider::Anthropic)),
        ollama: listener.local_addr().unwrap(),
        model: model.map(str::to_owned),
    }
}

fn made(wish: &Wish, suite: &Recorded, file: &str) -> Step {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("openclaw.json"), file).unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = openclaw_settings::load(&environment).unwrap();
    let connection = Connection::new(wish, &settings, &environment, suite).unwrap();
    connection.make().unwrap()
}

#[test]
fn model_that_answers_already_is_left_and_a_key_is_taken_up() {
    let suite = Recorded::offline("found");
    let step = made(&wish(Some("sk-ant-made-up"), None), &suite, "{}");
    assert_eq!(
        (step.state, suite.reloads.get()),
        (State::Done, 1),
        "{step:?}"
    );
    assert!(!step.detail.contains("made-up"), "{step:?}");
    let step = made(&wish(None, None), &suite, "{}");
    assert_eq!(
        (step.state, suite.reloads.get()),
        (State::Ok, 1),
        "{step:?}"
    );
    assert!(step.detail.contains("anthropic/m answers"), "{step:?}");
    let step = made(&wish(Some("short"), None), &suite, "{}");
    assert_eq!(step.state, State::Failed, "{step:?}");
}

#[test]
fn model_that_is_not_found_is_said_with_the_ways_to_one() {
    let suite = Recorded::offline("found");
    let step = made(&wish(None, None), &suite, "{}");
    assert_eq!(step.state, State::Skipped, "{step:?}");
    assert!(step.fix.unwrap().contains("codex login"));
    let step = made(&wish(None, Some("qwen3")), &suite, "{}");
    assert_eq!(step.state, State::Failed, "{step:?}");
    let step = made(&wish(None, None), &suite, "{models: {default: 'a/b'}}");
    assert_eq!(step.state, State::Failed);
    assert_eq!(step.detail, "a/b is configured: it needs a key");
    let configured = Recorded::offline("configured");
    let step = made(&wish(None, None), &configured, "{}");
    assert_eq!(step.state, State::Skipped);
    assert!(
        step.fix
            .unwrap()
            .contains("config unset agents.defaults.backend")
    );
    *suite.answering.borrow_mut() = None;
    let step = made(&wish(None, None), &suite, "{}");
    assert_eq!(step.state, State::Failed, "{step:?}");
}
