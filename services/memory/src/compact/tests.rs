use std::sync::LazyLock;

use openclaw_sessions::history::{Call, HistoryMessage, Past};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

static TOKENS: LazyLock<Tokens> = LazyLock::new(|| Tokens::load().unwrap());

/// One thing that happens in a conversation.
#[derive(Debug, Clone)]
enum Event {
    User(String),
    Answer(String),
    Tools(String, Vec<(String, String)>),
}

/// Texts of all kinds: words, one endless run, scripts without blanks.
fn text(longest: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec("[a-z]{1,9}", 0..longest).prop_map(|words| words.join(" ")),
        1 => (0..longest * 4).prop_map(|length| "x".repeat(length)),
        1 => (0..longest).prop_map(|length| "猫がすき。ñ🙂".repeat(length / 4)),
        1 => (0..longest).prop_map(|length| "{\"a\": [1, 2]}\n".repeat(length / 3)),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => text(120).prop_map(Event::User),
        2 => text(100).prop_map(Event::Answer),
        2 => (text(20), prop::collection::vec((text(60), text(200)), 1..4))
            .prop_map(|(words, calls)| Event::Tools(words, calls)),
    ]
}

fn conversation(events: Vec<Event>) -> Vec<Past> {
    let mut past = Vec::new();
    let mut add = |said| {
        let entry_id = format!("e{}", past.len());
        past.push(Past::new(entry_id, said));
    };
    for (number, event) in events.into_iter().enumerate() {
        match event {
            Event::User(text) => add(HistoryMessage::User { text }),
            Event::Answer(text) => add(HistoryMessage::Assistant {
                text,
                calls: Vec::new(),
            }),
            Event::Tools(text, calls) => {
                let id = |index| format!("c{number}-{index}");
                let called = calls.iter().enumerate().map(|(index, (argument, _))| Call {
                    id: id(index),
                    name: "execute_shell".to_owned(),
                    arguments: json!({ "command": argument }),
                });
                let calls_made = called.collect();
                add(HistoryMessage::Assistant {
                    text,
                    calls: calls_made,
                });
                for (index, (_, output)) in calls.into_iter().enumerate() {
                    add(HistoryMessage::Tool {
                        call_id: id(index),
                        name: "execute_shell".to_owned(),
                        output,
                        is_error: false,
                    });
                }
            }
        }
    }
    past
}

/// What a model would be sent after the compaction, with a summary as long as
/// it may be.
fn context_size(plan: &Plan, kept: &[Item], budget: Budget) -> usize {
    let items: usize = kept.iter().map(|item| item.tokens(&TOKENS)).sum();
    budget.reserved + plan.summary + items
}

fn ids(items: &[Item]) -> (Vec<&str>, Vec<&str>) {
    let mut called = Vec::new();
    let mut answered = Vec::new();
    for item in items {
        match &item.said {
            HistoryMessage::User { .. } => {}
            HistoryMessage::Assistant { calls, .. } => {
                called.extend(calls.iter().map(|c| c.id.as_str()))
            }
            HistoryMessage::Tool { call_id, .. } => answered.push(call_id.as_str()),
        }
    }
    (called, answered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 14: For any session after compaction, the
    /// total context size SHALL be within the configured maximum token limit.
    /// Here: the plan; the suite's test has what a model is sent.
    #[test]
    fn property_14_the_context_is_within_the_limit(
        events in prop::collection::vec(event(), 0..24),
        total in 300usize..4_000,
        share in 0usize..90,
    ) {
        let budget = Budget { total, reserved: total * share / 100 };
        let steps = steps(conversation(events), &TOKENS);
        match plan(&steps, budget) {
            Err(Error::NoRoom { .. }) => prop_assert!(total - budget.reserved < LEAST),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
            Ok(plan) => {
                let kept = kept(&steps, &plan, &TOKENS);
                let size = context_size(&plan, &kept, budget);
                prop_assert!(size <= total, "{size} of {total}: {plan:?}");
                // A call without its result is refused by every provider.
                let (called, answered) = ids(&kept);
                prop_assert_eq!(called, answered);
                if plan.fits() {
                    let all: Vec<Item> = steps.iter().flat_map(|s| s.items.clone()).collect();
                    prop_assert_eq!(kept, all);
                }
            }
        }
    }
}

fn user(text: &str) -> Event {
    Event::User(text.to_owned())
}

fn answer(text: &str) -> Event {
    Event::Answer(text.to_owned())
}

fn planned(events: Vec<Event>, total: usize) -> (Vec<Step>, Plan) {
    let steps = steps(conversation(events), &TOKENS);
    let budget = Budget { total, reserved: 0 };
    let plan = plan(&steps, budget).unwrap();
    (steps, plan)
}

#[test]
fn tokens_are_counted_as_the_published_table_does() {
    for (text, count) in [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ] {
        assert_eq!(TOKENS.count(text), count, "{text:?}");
    }
}

#[test]
fn run_without_end_is_counted_in_no_time() {
    let begin = std::time::Instant::now();
    let count = TOKENS.count(&"x".repeat(2_000_000));
    assert!((100_000..2_000_000).contains(&count), "{count}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn compact_what_fits_is_left_alone() {
    let (steps, plan) = planned(vec![user("hi"), answer("hello")], 400);
    assert!(plan.fits());
    assert_eq!(kept(&steps, &plan, &TOKENS).len(), 2);
}

#[test]
fn whole_recent_turns_are_kept() {
    let long = "word ".repeat(100);
    let turn = || vec![user(&long), answer(&long)];
    let events = std::iter::repeat_with(turn).take(10).flatten().collect();
    let (steps, plan) = planned(events, 1000);
    assert_eq!(plan.keep_from % 2, 0, "a turn begins at its user message");
    assert!(steps[plan.keep_from].begins_turn && plan.keep_from >= 14);
    assert!(plan.summary > 0 && plan.before > 1000);
    let told = material(&steps[..plan.keep_from]);
    assert_eq!(told.matches("User: word").count(), plan.keep_from / 2);
}

#[test]
fn turn_too_long_to_keep_is_torn_between_its_steps() {
    let tools = |n: usize| {
        Event::Tools(
            format!("step {n}"),
            vec![(String::new(), "out ".repeat(200))],
        )
    };
    let mut events = vec![user("do it")];
    events.extend((0..10).map(tools));
    let (steps, plan) = planned(events, 1000);
    assert!(!steps[plan.keep_from].begins_turn);
    let kept = kept(&steps, &plan, &TOKENS);
    let (called, answered) = ids(&kept);
    assert_eq!(called, answered);
    assert!(!called.is_empty());
}

#[test]
fn message_too_long_by_itself_is_cut_with_a_mark() {
    let (steps, plan) = planned(vec![answer("old"), user(&"word ".repeat(5000))], 1000);
    let kept = kept(&steps, &plan, &TOKENS);
    let HistoryMessage::User { text } = &kept[0].said else {
        panic!("{kept:?}");
    };
    assert!(text.starts_with("word word") && text.ends_with("[… cut here]"));
    let size = TOKENS.count(text);
    assert!(
        size <= plan.kept && size + 40 > plan.kept,
        "{size} of {}",
        plan.kept
    );
}

#[test]
fn compact_no_room_is_told_with_the_figures() {
    let budget = Budget {
        total: 1000,
        reserved: 900,
    };
    let error = plan(&[], budget).unwrap_err().to_string();
    assert!(
        error.contains("900 of 1000") && error.contains("256"),
        "{error}"
    );
}

#[test]
fn plan_keeping_cuts_before_a_turn_whether_or_not_all_fits() {
    let turn = |number: usize| {
        let answer = Event::Answer(format!("answer {number}"));
        [Event::User(format!("question {number}")), answer]
    };
    let events: Vec<Event> = (0..5).flat_map(turn).collect();
    let steps = steps(conversation(events), &TOKENS);
    let budget = Budget {
        total: 10_000,
        reserved: 0,
    };
    let from = |keep| plan_keeping(&steps, budget, keep).unwrap().keep_from;
    // An odd number would tear a turn; the last turn stays in any case.
    assert_eq!([1, 2, 3, 4, 9, 10, 99].map(from), [8, 8, 8, 6, 2, 0, 0]);
    assert!(plan_keeping(&steps, budget, 10).unwrap().fits());
    assert!(plan_keeping(&steps, budget, 2).unwrap().summary > 0);
    assert!(plan_keeping(&[], budget, 2).unwrap().fits());
}
