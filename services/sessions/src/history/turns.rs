//! Turns: a user message and what answered it.

use std::collections::HashSet;

use super::{HistoryMessage, Past};

pub(super) struct Selection {
    pub(super) messages: Vec<Past>,
    /// Whether older turns were left out.
    pub(super) cut: bool,
    /// All entries in the order of the turns.
    pub(super) order: Vec<String>,
}

/// The newest turns that cost at most `budget` characters. When not even the
/// newest fits, its words alone are tried: a turn of many tool results should
/// not cost the whole memory of it.
pub(super) fn select(messages: Vec<Past>, budget: usize) -> Selection {
    let mut turns = group(messages);
    let entries = turns.iter().flat_map(|turn| &turn.0);
    let order = entries.map(|past| past.entry_id.clone()).collect();
    turns.iter_mut().for_each(Turn::drop_orphans);
    let mut left = budget;
    let mut kept = Vec::new();
    let mut cut = false;
    while let Some(mut turn) = turns.pop() {
        if turn.characters() > left && kept.is_empty() {
            turn.keep_words();
            cut = true;
        }
        let cost = turn.characters();
        if cost > left || !turn.begins_with_user() {
            cut = true;
            break;
        }
        left -= cost;
        kept.push(turn.0);
    }
    kept.reverse();
    Selection {
        messages: kept.into_iter().flatten().collect(),
        cut,
        order,
    }
}

/// Messages that most turns have: a question and its answer.
const SHORT: usize = 2;

struct Turn(Vec<Past>);

/// A message that came while another was being answered stands before that
/// answer in the file; answers that name their run join it again. One that was
/// answered with it stands in its turn, before what answers it.
fn group(messages: Vec<Past>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for past in messages {
        for run in &past.answers {
            take_in(&mut turns, past.run_id.as_deref(), run);
        }
        let last = turns.len().checked_sub(1);
        let place = match (&past.said, &past.run_id) {
            (HistoryMessage::User { .. }, _) => None,
            // Mostly the last one is it.
            (_, Some(run)) => turns.iter().rposition(|turn| turn.is_of(run)).or(last),
            (_, None) => last,
        };
        match place {
            Some(place) => turns[place].0.push(past),
            None => {
                let mut turn = Vec::with_capacity(SHORT);
                turn.push(past);
                turns.push(Turn(turn));
            }
        }
    }
    turns
}

/// Moves the message of `run`, to which nobody answered, into the turn of `into`.
fn take_in(turns: &mut Vec<Turn>, into: Option<&str>, run: &str) {
    let place = |run: &str| turns.iter().rposition(|turn| turn.is_of(run));
    let (Some(from), Some(to)) = (place(run), into.and_then(place)) else {
        return;
    };
    if from == to || !turns[from].is_unanswered() {
        return;
    }
    let is_words = |past: &Past| matches!(past.said, HistoryMessage::User { .. });
    let said = std::mem::take(&mut turns[from].0);
    turns[to].0.extend(said.into_iter().filter(is_words));
    turns.remove(from);
}

impl Turn {
    /// Whether nothing was said to it: the end of its run, which has no words, is there.
    fn is_unanswered(&self) -> bool {
        self.0.iter().all(|past| match &past.said {
            HistoryMessage::User { .. } => true,
            HistoryMessage::Assistant { text, calls } => text.is_empty() && calls.is_empty(),
            HistoryMessage::Tool { .. } => false,
        })
    }

    fn characters(&self) -> usize {
        self.0.iter().map(Past::characters).sum()
    }

    /// Whether the run began it.
    fn is_of(&self, run: &str) -> bool {
        let first = self.0.first();
        first.is_some_and(|past| past.run_id.as_deref() == Some(run))
    }

    fn begins_with_user(&self) -> bool {
        matches!(
            self.0.first().map(|past| &past.said),
            Some(HistoryMessage::User { .. })
        )
    }

    /// Drops results without their calls, which providers refuse. A call without
    /// a result stays: it was cut off with its turn, and whoever goes on has to
    /// know that it may have begun.
    fn drop_orphans(&mut self) {
        let has_words = |past: &Past| match &past.said {
            HistoryMessage::User { .. } => true,
            HistoryMessage::Assistant { text, .. } => !text.is_empty(),
            HistoryMessage::Tool { .. } => false,
        };
        if self.0.iter().all(has_words) {
            return;
        }
        let said = self.0.iter().map(|past| &past.said);
        let calls = said.flat_map(|said| match said {
            HistoryMessage::Assistant { calls, .. } => calls.as_slice(),
            HistoryMessage::User { .. } | HistoryMessage::Tool { .. } => &[],
        });
        let called: HashSet<String> = calls.map(|call| call.id.clone()).collect();
        self.retain(|id| called.contains(id));
    }

    fn keep_words(&mut self) {
        self.retain(|_| false);
    }

    /// Drops calls and results that are not wanted, then assistant messages that say nothing more.
    fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.0.retain_mut(|past| match &mut past.said {
            HistoryMessage::User { .. } => true,
            HistoryMessage::Tool { call_id, .. } => wanted(call_id),
            HistoryMessage::Assistant { text, calls } => {
                let before = calls.len();
                calls.retain(|call| wanted(&call.id));
                let is_said = !text.is_empty() || !calls.is_empty();
                if calls.len() < before {
                    past.recount();
                }
                is_said
            }
        });
    }
}
