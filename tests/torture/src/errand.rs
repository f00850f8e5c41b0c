//! A message, and what has to come of it.

use fastrand::Rng;
use serde_json::{Value, json};

/// Messages of one session; then another one is begun, so that what is read
/// for every turn stays small.
pub(crate) const PER_SESSION: usize = 30;
/// The file in the workspace that tools write to.
pub(crate) const EFFECTS: &str = "effects.txt";

/// What keys, sessions and effects of a torture begin with.
pub(crate) fn mark(seed: u64) -> String {
    format!("torture-{seed}-")
}

/// A message whose whole fate is known beforehand.
#[derive(Debug, Clone)]
pub(crate) struct Errand {
    /// Idempotency key, and a word of the text.
    pub(crate) key: String,
    pub(crate) session: String,
    pub(crate) text: String,
    /// The whole reply.
    pub(crate) answer: String,
    /// Lines that its tools write, each once.
    pub(crate) effects: Vec<String>,
}

impl Errand {
    /// The message `number` of a talker.
    pub(crate) fn draw(dice: &mut Rng, seed: u64, talker: usize, number: usize) -> Self {
        let mark = mark(seed);
        let key = format!("{mark}{talker}-{number}");
        let answer = answer(dice, &key);
        let calls = match dice.u8(0..10) {
            0..5 => 0,
            5..9 => 1,
            _ => 2,
        };
        let effects: Vec<String> = (0..calls).map(|call| format!("{key}:{call}")).collect();
        let scenario = scenario(dice, &answer, &effects);
        Self {
            session: format!("{mark}{talker}-{}", number / PER_SESSION),
            text: format!("[[scenario:{scenario}]] <{key}>"),
            key,
            answer,
            effects,
        }
    }
}

fn answer(dice: &mut Rng, key: &str) -> String {
    let words = (0..dice.usize(1..24)).map(|_| dice.lowercase().to_string().repeat(5));
    let words: Vec<String> = words.collect();
    format!("The answer to {key}: {}.", words.join(" "))
}

fn scenario(dice: &mut Rng, answer: &str, effects: &[String]) -> Value {
    let pace = json!({ "chunk": 8, "delay_ms": dice.u8(0..12) });
    let told = json!({ "text": answer, "pace": pace });
    if effects.is_empty() {
        return told;
    }
    let calls: Vec<Value> = effects
        .iter()
        .map(|effect| {
            let before = f64::from(dice.u8(0..3)) / 20.0;
            let after = f64::from(dice.u8(0..3)) / 20.0;
            let command = format!("sleep {before}; echo {effect} >> {EFFECTS}; sleep {after}");
            json!({ "name": "execute_shell", "arguments": { "command": command } })
        })
        .collect();
    json!({ "text": "", "calls": calls, "then": told })
}

#[cfg(test)]
mod tests {
    use scripted_model::Scenario;

    use super::*;

    #[test]
    fn seed_draws_the_same_errands_and_the_model_understands_them() {
        let draw = || {
            let mut dice = Rng::with_seed(7);
            (0..200)
                .map(|number| Errand::draw(&mut dice, 7, 1, number))
                .collect::<Vec<_>>()
        };
        let errands = draw();
        assert!(errands.iter().zip(draw()).all(|(a, b)| a.text == b.text));
        assert!(errands.iter().any(|errand| errand.effects.len() == 2));
        for errand in errands {
            let json = errand.text.strip_prefix("[[scenario:").unwrap();
            let json = json.strip_suffix(&format!("]] <{}>", errand.key)).unwrap();
            let scenario = Scenario::named(json).unwrap();
            assert_eq!(scenario.calls.len(), errand.effects.len());
        }
    }
}
