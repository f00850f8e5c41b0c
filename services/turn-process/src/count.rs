//! The work of a CLI's turn so far, against its limits.

use openclaw_handoff::limits::Limits;
use openclaw_model_api::bill;
use openclaw_proto::event::{Code, GO_ON, ToolResult};
use openclaw_tools::Repeats;
use serde_json::Value;

/// The work of a turn so far.
#[derive(Debug)]
pub(crate) struct Count {
    /// The answer that is being told: its lines all name it.
    message: String,
    steps: u32,
    repeats: Repeats,
    /// Tokens of the answers before,
    written: u64,
    /// and of the one that is being written.
    writing: u64,
}

impl Count {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            message: String::new(),
            steps: 0,
            repeats: Repeats::new(limits.identical_calls),
            written: 0,
            writing: 0,
        }
    }

    /// Counts a call of the answer `message`; with the limit that was passed,
    /// and what to do about it.
    pub(crate) fn call(
        &mut self,
        message: &str,
        (id, name, arguments): (&str, &str, &Value),
        limits: &Limits,
    ) -> Option<(Code, String)> {
        if self.message != message || message.is_empty() {
            message.clone_into(&mut self.message);
            self.steps += 1;
        }
        let repeated = self.repeats.call(id, name, arguments).err();
        if self.steps > limits.steps {
            return Some((
                Code::StepLimit,
                format!(
                    "the turn was stopped after {} steps; {GO_ON}, or raise \
                     agents.defaults.limits.steps",
                    limits.steps
                ),
            ));
        }
        repeated.map(|times| {
            (
                Code::LoopDetected,
                format!(
                    "the turn was stopped: the agent went in a circle, and called {name} {times} \
                     times with the same arguments and the same result. Ask in other words, or \
                     raise agents.defaults.limits.identicalCalls"
                ),
            )
        })
    }

    /// Notes the result of a call.
    pub(crate) fn result(&mut self, result: &ToolResult) {
        self.repeats
            .result(&result.call_id, result.success, &result.output);
    }

    /// Counts the tokens of an answer that is over.
    pub(crate) fn add(&mut self, tokens: u64) {
        self.written = self.written.saturating_add(tokens);
    }

    /// The answer that is being written is one of those before.
    fn add_written(&mut self) {
        let writing = std::mem::take(&mut self.writing);
        self.add(writing);
    }

    /// The limit that the answers so far have passed, for one that goes on.
    pub(crate) fn written(&self, limits: &Limits) -> Option<(Code, String)> {
        (self.written >= limits.output_tokens).then(|| too_long(self.written, limits))
    }

    /// Counts what a line of Anthropic's stream says of its tokens.
    pub(crate) fn tokens(&mut self, event: &Value, limits: &Limits) -> Option<(Code, String)> {
        if event["type"] == "message_start" {
            self.add_written();
        }
        let tokens = event["usage"]["output_tokens"].as_u64()?;
        self.writing = tokens.min(bill::MOST_TOKENS);
        let written = self.written.saturating_add(self.writing);
        // The answer that passes it is told to its end unless it calls tools.
        (written >= limits.output_tokens && event["delta"]["stop_reason"] == "tool_use")
            .then(|| too_long(written, limits))
    }
}

fn too_long(written: u64, limits: &Limits) -> (Code, String) {
    (
        Code::ResourceLimit,
        bill::tokens(written, limits.output_tokens),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIMITS: Limits = Limits {
        steps: 3,
        identical_calls: 2,
        output_tokens: 100,
        cost_per_turn: 5.0,
        cost_per_day: 25.0,
        spent_today: 0.0,
    };

    #[test]
    fn steps_are_answers_and_not_calls() {
        let mut count = Count::new(&LIMITS);
        for (message, call) in [("a", "1"), ("a", "2"), ("b", "3"), ("c", "4")] {
            let call = (call, "Bash", &json!(call));
            assert_eq!(count.call(message, call, &LIMITS), None);
        }
        let passed = count.call("d", ("5", "Bash", &json!("5")), &LIMITS);
        assert_eq!(passed.unwrap().0, Code::StepLimit);
    }

    #[test]
    fn same_call_with_the_same_result_is_a_loop() {
        let mut count = Count::new(&LIMITS);
        let same = json!({"command": "ls"});
        let call = |count: &mut Count, id: &str, output: &str| {
            let passed = count.call("a", (id, "Bash", &same), &LIMITS);
            count.result(&ToolResult {
                call_id: id.to_owned(),
                success: true,
                output: output.to_owned(),
                error: None,
            });
            passed
        };
        for (id, output) in [("1", "one"), ("2", "two"), ("3", "one"), ("4", "three")] {
            assert_eq!(call(&mut count, id, output), None, "{id}");
        }
        let mut count = Count::new(&Limits {
            identical_calls: 3,
            ..LIMITS
        });
        assert_eq!(call(&mut count, "1", "one"), None);
        assert_eq!(call(&mut count, "2", "one"), None);
        let (code, words) = call(&mut count, "3", "one").unwrap();
        assert_eq!(code, Code::LoopDetected);
        assert!(words.contains("identicalCalls"), "{words}");
    }

    #[test]
    fn tokens_of_all_answers_count() {
        let mut count = Count::new(&LIMITS);
        let delta = |tokens: u64, reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": tokens}});
        let start = json!({"type": "message_start"});
        assert_eq!(count.tokens(&start, &LIMITS), None);
        assert_eq!(count.tokens(&delta(60, "tool_use"), &LIMITS), None);
        assert_eq!(count.tokens(&start, &LIMITS), None);
        assert_eq!(count.tokens(&delta(60, "end_turn"), &LIMITS), None);
        let passed = count.tokens(&delta(60, "tool_use"), &LIMITS);
        assert_eq!(passed.unwrap().0, Code::ResourceLimit);
    }
}
