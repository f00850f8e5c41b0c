//! Noticing an agent that goes in a circle: the same calls again and again,
//! with the same results.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher};

use serde_json::Value;

/// Calls of the longest circle that is noticed. Nobody comes back by chance to
/// the same call with the same result, in the same order, several times.
const LONGEST: usize = 8;

/// The fewest repetitions that are one too many.
const LEAST: u32 = 3;

/// Calls that are remembered at most, whatever the limit.
const REMEMBERED: usize = 4096;

/// The calls of a turn. One that had another result than before is no
/// repetition: whoever waits for something asks the same again.
#[derive(Debug)]
pub struct Repeats {
    limit: usize,
    calls: VecDeque<Seen>,
}

#[derive(Debug)]
struct Seen {
    id: String,
    /// Of the tool and its arguments.
    call: u64,
    /// `None`: not known yet, which is like no other.
    result: Option<u64>,
}

impl Repeats {
    /// `limit` is the number of the repetition that is one too many; at least
    /// 3, since before two results are known nobody can say that they are the
    /// same.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            limit: usize::try_from(limit.max(LEAST)).unwrap_or(usize::MAX),
            calls: VecDeque::new(),
        }
    }

    /// Takes note of a call that is about to run.
    ///
    /// # Errors
    /// With the number of repetitions, once they are as many as the limit.
    pub fn call(&mut self, id: &str, name: &str, arguments: &Value) -> Result<(), u32> {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hash(arguments, &mut hasher);
        let call = hasher.finish();
        if (1..=LONGEST).any(|length| self.closes_circle(call, length)) {
            return Err(u32::try_from(self.limit).unwrap_or(u32::MAX));
        }
        self.calls.push_back(Seen {
            id: id.to_owned(),
            call,
            result: None,
        });
        let most = self.limit.saturating_mul(LONGEST).min(REMEMBERED);
        while self.calls.len() > most {
            self.calls.pop_front();
        }
        Ok(())
    }

    /// Takes note of what came of the call `id`.
    pub fn result(&mut self, id: &str, success: bool, output: &str) {
        let mut hasher = DefaultHasher::new();
        (success, output).hash(&mut hasher);
        let found = self.calls.iter_mut().rev().find(|seen| seen.id == id);
        if let Some(seen) = found {
            seen.result = Some(hasher.finish());
        }
    }

    /// Whether the last calls went in a circle of this length as often as they
    /// may, and `call` begins it once more.
    fn closes_circle(&self, call: u64, length: usize) -> bool {
        let Some(span) = (self.limit - 1).checked_mul(length) else {
            return false;
        };
        let Some(start) = self.calls.len().checked_sub(span) else {
            return false;
        };
        let at = |place: usize| {
            let seen = &self.calls[place];
            (seen.call, seen.result)
        };
        let goes_round = (start..self.calls.len()).all(|place| {
            let (before, now) = (at(start + (place - start) % length), at(place));
            now.1.is_some() && now == before
        });
        // One call whose results come and go asks about something that changes.
        let changes = || {
            let circle = start..start + length;
            let pairs = circle
                .clone()
                .flat_map(|one| circle.clone().map(move |other| (one, other)));
            pairs
                .map(|(one, other)| (at(one), at(other)))
                .any(|(one, other)| one.0 == other.0 && one.1 != other.1)
        };
        goes_round && at(start).0 == call && !changes()
    }
}

/// The same for objects whose fields come in another order.
fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            ("object", names.len()).hash(hasher);
            for name in names {
                name.hash(hasher);
                hash(&fields[name], hasher);
            }
        }
        Value::Array(items) => {
            ("array", items.len()).hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        other => other.to_string().hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Makes a call with a result of its own; `Err` is what [`Repeats::call`]
    /// says of it.
    fn make(repeats: &mut Repeats, name: &str, result: &str) -> Result<(), u32> {
        let id = repeats.calls.len().to_string() + name + result;
        repeats.call(&id, name, &json!({"x": 1}))?;
        repeats.result(&id, true, result);
        Ok(())
    }

    #[test]
    fn repeats_are_the_same_call_with_the_same_result() {
        let mut repeats = Repeats::new(3);
        for _ in 0..2 {
            assert_eq!(make(&mut repeats, "read", "text"), Ok(()));
        }
        assert_eq!(make(&mut repeats, "read", "text"), Err(3));
    }

    #[test]
    fn repeats_are_none_where_results_differ() {
        let mut repeats = Repeats::new(3);
        for tick in 0..20 {
            assert_eq!(make(&mut repeats, "poll", &tick.to_string()), Ok(()));
        }
        // A result that comes again after others is news too.
        let mut repeats = Repeats::new(4);
        for tick in [0, 0, 1].into_iter().cycle().take(30) {
            let made = make(&mut repeats, "poll", &tick.to_string());
            assert_eq!(made, Ok(()), "{tick}");
        }
        let mut few = Repeats::new(1);
        for tick in 0..9 {
            assert_eq!(make(&mut few, "poll", &tick.to_string()), Ok(()));
        }
    }

    #[test]
    fn repeats_may_be_of_several_calls_in_turn() {
        for names in [&["a", "b"][..], &["a", "b", "c"], &["a", "a", "b"]] {
            let mut repeats = Repeats::new(3);
            for _ in 0..2 {
                for name in names {
                    assert_eq!(make(&mut repeats, name, "same"), Ok(()), "{names:?}");
                }
            }
            let again = make(&mut repeats, names[0], "same");
            assert_eq!(again, Err(3), "{names:?}");
        }
        let mut repeats = Repeats::new(3);
        for round in 0..9 {
            assert_eq!(make(&mut repeats, "a", "same"), Ok(()));
            assert_eq!(make(&mut repeats, "b", &round.to_string()), Ok(()));
        }
    }

    #[test]
    fn repeats_are_not_guessed_while_results_are_not_known() {
        let mut repeats = Repeats::new(3);
        for id in ["1", "2", "3", "4"] {
            assert_eq!(repeats.call(id, "read", &Value::Null), Ok(()));
        }
        for id in ["3", "1", "4", "2"] {
            repeats.result(id, true, "text");
        }
        assert_eq!(repeats.call("5", "read", &Value::Null), Err(3));
    }

    #[test]
    fn repeats_do_not_depend_on_the_order_of_fields() {
        let mut repeats = Repeats::new(3);
        let (one, other) = (
            json!({"x": {"p": 1, "q": [2]}, "y": 2}),
            json!({"y": 2, "x": {"q": [2], "p": 1}}),
        );
        for (id, arguments) in [("1", &one), ("2", &other)] {
            assert_eq!(repeats.call(id, "a", arguments), Ok(()));
            repeats.result(id, true, "");
        }
        assert_eq!(repeats.call("3", "a", &json!({"x": 1})), Ok(()));
        repeats.calls.pop_back();
        assert_eq!(repeats.call("4", "a", &one), Err(3));
    }

    /// How many rounds of `names` are made before one is too many.
    fn rounds(limit: u32, names: &[String], most: usize) -> Option<usize> {
        let mut repeats = Repeats::new(limit);
        (0..most).find(|_| {
            let mut made = names.iter().map(|name| make(&mut repeats, name, "same"));
            made.any(|made| made.is_err())
        })
    }

    #[test]
    fn repeats_are_noticed_in_circles_of_up_to_eight_calls() {
        let names = |count: usize| -> Vec<String> { (0..count).map(|n| n.to_string()).collect() };
        for length in 1..=8 {
            assert_eq!(rounds(3, &names(length), 9), Some(2), "{length}");
            assert_eq!(rounds(5, &names(length), 9), Some(4), "{length}");
        }
        assert_eq!(rounds(3, &names(9), 9), None);
        for limit in 0..3 {
            assert_eq!(rounds(limit, &names(1), 9), Some(2), "{limit}");
        }
    }

    #[test]
    fn repeats_are_remembered_as_long_as_they_are_needed() {
        let mut repeats = Repeats::new(4);
        for tick in 0..100 {
            make(&mut repeats, "poll", &tick.to_string()).unwrap();
        }
        assert_eq!(repeats.calls.len(), 32, "four circles of eight");
        let mut many = Repeats::new(1000);
        for tick in 0..5000 {
            make(&mut many, "poll", &tick.to_string()).unwrap();
        }
        assert_eq!(many.calls.len(), 4096);
    }

    #[test]
    fn repeats_differ_in_arguments_success_and_tool() {
        let lists = [
            json!([1, 2]),
            json!([2, 1]),
            json!([[1], 2]),
            json!("[1,2]"),
        ];
        for (at, one) in lists.iter().enumerate() {
            for other in &lists[at + 1..] {
                let mut repeats = Repeats::new(3);
                for (id, arguments) in [("1", one), ("2", other), ("3", one)] {
                    assert_eq!(repeats.call(id, "a", arguments), Ok(()), "{one} {other}");
                    repeats.result(id, true, "");
                }
            }
        }
        let mut repeats = Repeats::new(3);
        for (id, success) in [("1", true), ("2", false), ("3", true)] {
            assert_eq!(repeats.call(id, "a", &json!(1)), Ok(()));
            repeats.result(id, success, "");
        }
    }
}
