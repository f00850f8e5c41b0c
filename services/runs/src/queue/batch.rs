//! The text of a turn for which several messages waited.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Mode, Queue};
use crate::run::Run;

/// The longest that collecting waits altogether, however many come.
const PATIENCE: Duration = Duration::from_secs(5);

/// The note for messages that get no answer of their own.
const TOGETHER: &str = "the message is answered together with another one that waited \
                        (messages.queue)";

impl Queue {
    /// What the turn of `run` is asked when that is not its own `text` alone. Runs
    /// whose messages were collected end without an answer of their own.
    pub(crate) async fn compose(&self, run: &Run, text: &str) -> Option<String> {
        let others = self.collect(run).await;
        let edited = run.words.tell();
        let own = edited.as_deref().unwrap_or(text);
        let collected = match others.as_slice() {
            [] => edited.clone(),
            others => {
                let others = others.iter().map(String::as_str);
                Some(together(
                    &std::iter::once(own).chain(others).collect::<Vec<_>>(),
                ))
            }
        };
        match self.dropped.take(&run.key) {
            None => collected,
            Some(summary) => Some(format!(
                "{summary}\n\n{}",
                collected.as_deref().unwrap_or(text)
            )),
        }
    }

    /// The texts of the messages that are answered together with that of `run`.
    async fn collect(&self, run: &Run) -> Vec<String> {
        let Some(own) = run.queued.get().filter(|own| own.mode == Mode::Collect) else {
            return Vec::new();
        };
        self.wait_for_more(run, own.debounce).await;
        let others = self.collectable(run);
        let mut texts = Vec::new();
        for other in &others {
            let queued = || other.queued.get().map(|it| it.text.clone());
            texts.extend(other.words.tell().or_else(queued));
            other.absorb(TOGETHER);
        }
        run.note_collected(others.iter().map(|other| other.id.clone()));
        texts
    }

    /// Waits until nothing has come for a while.
    async fn wait_for_more(&self, run: &Run, debounce: Duration) {
        let deadline = Instant::now() + PATIENCE.max(debounce);
        loop {
            let others = self.collectable(run);
            let newest = others
                .iter()
                .filter_map(|other| other.queued.get().map(|it| it.arrived))
                .chain(run.queued.get().map(|it| it.arrived))
                .max();
            let quiet_at = newest.map_or(deadline, |at| (at + debounce).min(deadline));
            if quiet_at <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(quiet_at.into()).await;
        }
    }

    /// The other runs of the session that wait to be collected, and are answered in the same place.
    fn collectable(&self, run: &Run) -> Vec<Arc<Run>> {
        let mut others = self.waiting(&run.key);
        others.retain(|other| {
            let mode = other.queued.get().map(|it| it.mode);
            other.id != run.id && mode == Some(Mode::Collect) && run.is_answered_with(other)
        });
        others
    }
}

fn together(texts: &[&str]) -> String {
    let mut all = "[Queued messages while agent was busy]".to_owned();
    for (at, text) in texts.iter().enumerate() {
        all.push_str(&format!("\n\n---\nQueued #{}\n{text}", at + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collected_messages_are_numbered() {
        assert_eq!(
            together(&["a", "b"]),
            "[Queued messages while agent was busy]\n\n---\nQueued #1\na\n\n---\nQueued #2\nb"
        );
    }
}
