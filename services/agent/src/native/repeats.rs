//! Noticing a model that makes the same call again and again.

use serde_json::Value;

/// Counts identical calls in a row.
#[derive(Debug)]
pub(super) struct Repeats {
    limit: u32,
    last: Option<(String, Value)>,
    count: u32,
}

impl Repeats {
    /// `limit` is the how manyth identical call is one too many; at least 2,
    /// since one call is not a repetition.
    pub(super) fn new(limit: u32) -> Self {
        Self {
            limit: limit.max(2),
            last: None,
            count: 0,
        }
    }

    /// Takes note of a call. `Err` is the number of calls once it is the limit.
    pub(super) fn note(&mut self, name: &str, arguments: &Value) -> Result<(), u32> {
        let same = matches!(&self.last, Some((n, a)) if n == name && a == arguments);
        if same {
            self.count += 1;
        } else {
            self.last = Some((name.to_owned(), arguments.clone()));
            self.count = 1;
        }
        if self.count >= self.limit {
            return Err(self.count);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_identical_calls_in_a_row_count() {
        let mut repeats = Repeats::new(3);
        for _ in 0..4 {
            assert_eq!(repeats.note("a", &json!({"x": 1})), Ok(()));
            assert_eq!(repeats.note("a", &json!({"x": 2})), Ok(()));
        }
        assert_eq!(repeats.note("a", &json!({"x": 2})), Ok(()));
        assert_eq!(repeats.note("a", &json!({"x": 2})), Err(3));
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_one_call_is_no_loop() {
        let mut repeats = Repeats::new(0);
        assert_eq!(repeats.note("a", &json!({"x": 1, "y": 2})), Ok(()));
        assert_eq!(repeats.note("a", &json!({"y": 2, "x": 1})), Err(2));
    }
}
