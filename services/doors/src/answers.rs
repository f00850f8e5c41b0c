//! How HTTP was answered, for `/metrics`.

use axum::http::StatusCode;
use openclaw_runs::Counter;

/// Answers by the first digit of their status.
#[derive(Debug, Default)]
pub(crate) struct Answers([Counter; 5]);

impl Answers {
    const NAMES: [&'static str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

    /// Counts an answer.
    pub(crate) fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(counter) = self.0.get(class) {
            counter.add();
        }
    }

    /// Each class with its number.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let values = self.0.iter().map(Counter::get);
        Self::NAMES.into_iter().zip(values)
    }
}
