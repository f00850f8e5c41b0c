//! What came of it.

use std::fmt;
use std::time::Duration;

use openclaw_proto::event::Kind;

use crate::check::Answers;
use crate::killer::Killed;
use crate::plan::Plan;
use crate::record::Record;

/// The outcome of a torture.
#[derive(Debug)]
pub struct Report {
    /// Everything that must not be. Empty: nothing was lost.
    pub wrong: Vec<String>,
    seed: u64,
    killed: Killed,
    messages: usize,
    whole: usize,
    excused: usize,
    gaps: Vec<Duration>,
    answers: Option<Answers>,
    took: Duration,
}

impl Report {
    pub(crate) fn new(
        plan: &Plan,
        record: &Record,
        killed: Killed,
        mut wrong: Vec<String>,
        answers: Option<Answers>,
        took: Duration,
    ) -> Self {
        let mut pages = record.open();
        let outcomes = pages.messages.values().map(|message| &message.outcome);
        let whole = outcomes.filter(|outcome| matches!(outcome, Some(Kind::Done(_))));
        let whole = whole.count();
        let excused = pages.killed.len() + pages.nameless_kills;
        let mut gaps = std::mem::take(&mut pages.gaps);
        gaps.sort_unstable();
        wrong.extend(std::mem::take(&mut pages.wrong));
        Self {
            wrong,
            seed: plan.seed,
            killed,
            messages: pages.messages.len(),
            whole,
            excused,
            gaps,
            answers,
            took,
        }
    }

    /// Answers of chats that are there twice, or have what was shown of them beside
    /// them, in percent of the kills.
    pub fn doubled(&self) -> f64 {
        let kills: usize = self.killed.values().sum();
        let doubled = self.answers.map_or(0, |it| it.doubled + it.left);
        100.0 * doubled as f64 / kills.max(1) as f64
    }

    fn of_chats(&self, f: &mut fmt::Formatter<'_>, answers: Answers) -> fmt::Result {
        let Answers {
            said,
            doubled,
            left,
            doubts,
        } = answers;
        writeln!(
            f,
            "{said} messages in chats; {doubled} answers are there twice, {left} have a part \
             beside them: {:.3} % of the kills; the daemon told {doubts} to be in doubt",
            self.doubled()
        )
    }

    fn gap(&self, percent: usize) -> f64 {
        let last = self.gaps.len().saturating_sub(1);
        let gap = self.gaps.get(last * percent / 100);
        gap.map_or(0.0, Duration::as_secs_f64)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kills: usize = self.killed.values().sum();
        let kinds: Vec<String> = self
            .killed
            .iter()
            .map(|(role, count)| format!("{role:?} {count}"))
            .collect();
        writeln!(f, "seed {}", self.seed)?;
        writeln!(
            f,
            "{kills} kills in {:.0} s: {}",
            self.took.as_secs_f64(),
            kinds.join(", ")
        )?;
        writeln!(
            f,
            "{} messages acknowledged, {} answered in full, {} ended with the process of their turn ({} killed)",
            self.messages,
            self.whole,
            self.messages - self.whole,
            self.excused
        )?;
        if let Some(answers) = self.answers {
            self.of_chats(f, answers)?;
        }
        writeln!(
            f,
            "{} streams broke; the next word came after {:.2} s (median), {:.2} s (99 %), {:.2} s (longest)",
            self.gaps.len(),
            self.gap(50),
            self.gap(99),
            self.gap(100)
        )?;
        match self.wrong.len() {
            0 => writeln!(f, "nothing was lost, nothing was done twice"),
            count => {
                writeln!(f, "{count} things are wrong:")?;
                self.wrong
                    .iter()
                    .try_for_each(|what| writeln!(f, "  {what}"))
            }
        }
    }
}
