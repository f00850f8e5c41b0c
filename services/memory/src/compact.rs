//! Which part of a conversation gives way to a summary when it has outgrown
//! its budget (seed 002, `compact` and property 14).
//!
//! Steps are what cannot be torn: a user message, an assistant message, or an
//! assistant message with the results of the tools it called. The newest steps
//! are kept, from the beginning of a turn where that is possible; what is
//! before them is to be summarised.

mod cl100k;
mod error;
mod material;
mod shorten;
mod step;
mod tokens;

pub(crate) use error::Error;
pub(crate) use material::material;
pub(crate) use step::{Item, Step, steps};
pub(crate) use tokens::{Table, Tokens};

/// What stays of a conversation word by word, in tokens, when there is room for
/// more: a compaction that kept as much as fits would be due again at the next
/// message (OpenClaw's keepRecentTokens).
const RECENT: usize = 20_000;
/// Turns that are kept whole even beyond [`RECENT`], when they fit (OpenClaw's
/// recentTurnsPreserve).
const RECENT_TURNS: usize = 3;
/// The longest summary, in tokens.
const SUMMARY: usize = 4_000;
/// Of the room, one part in so many is for the summary.
const SUMMARY_SHARE: usize = 4;
/// With less room than this, in tokens, nothing that is kept makes sense.
const LEAST: usize = 256;

/// What a conversation may cost, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// All that is sent to the model.
    pub(crate) total: usize,
    /// Of it, what is not the conversation: bootstrap files, tools, the new
    /// message and the answer.
    pub(crate) reserved: usize,
}

impl Budget {
    /// What the conversation may cost.
    fn room(self) -> Result<usize, Error> {
        let room = self.total.saturating_sub(self.reserved);
        match room {
            0..LEAST => Err(Error::NoRoom {
                total: self.total,
                reserved: self.reserved,
                least: LEAST,
            }),
            room => Ok(room),
        }
    }
}

/// The next step for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The steps before this one are to be summarised.
    pub(crate) keep_from: usize,
    /// The most tokens the summary may have; 0 when there is none.
    pub(crate) summary: usize,
    /// What the steps that are kept may cost.
    pub(crate) kept: usize,
    /// Everything as it is.
    pub(crate) before: usize,
}

impl Plan {
    /// Whether the conversation fits as it is.
    pub(crate) fn fits(&self) -> bool {
        self.keep_from == 0 && self.summary == 0
    }
}

/// Plans for `steps`, oldest first.
pub(crate) fn plan(steps: &[Step], budget: Budget) -> Result<Plan, Error> {
    let room = budget.room()?;
    let spent: usize = steps.iter().map(|step| step.tokens).sum();
    let before = budget.reserved + spent;
    if spent <= room {
        return Ok(Plan {
            keep_from: 0,
            summary: 0,
            kept: spent,
            before,
        });
    }
    let summary = SUMMARY.min(room / SUMMARY_SHARE);
    let kept = room - summary;
    Ok(Plan {
        keep_from: keep_from(steps, kept),
        summary,
        kept,
        before,
    })
}

/// Plans a summary that somebody asked for: of all but the newest `keep`
/// messages, whether or not the rest would fit. What is kept begins with a
/// turn, and with the last one when that alone is longer.
pub(crate) fn plan_keeping(steps: &[Step], budget: Budget, keep: usize) -> Result<Plan, Error> {
    let room = budget.room()?;
    let mut messages = 0;
    let mut from = None;
    for (index, step) in steps.iter().enumerate().rev() {
        messages += step.items.len();
        if messages > keep && from.is_some() {
            break;
        }
        if step.begins_turn {
            from = Some(index);
        }
    }
    let keep_from = from.unwrap_or(0);
    let cost = |steps: &[Step]| steps.iter().map(|step| step.tokens).sum::<usize>();
    let kept = cost(&steps[keep_from..]);
    let summary = SUMMARY.min(room / SUMMARY_SHARE);
    if kept + summary > room {
        return plan(steps, budget);
    }
    Ok(Plan {
        keep_from,
        summary: if keep_from == 0 { 0 } else { summary },
        kept,
        before: budget.reserved + cost(steps),
    })
}

/// The first step that is kept: there is always one, though it may have to be
/// shortened.
fn keep_from(steps: &[Step], room: usize) -> usize {
    let mut spent = 0;
    let mut turns = 0;
    let mut whole = None;
    let mut torn = steps.len().saturating_sub(1);
    for (index, step) in steps.iter().enumerate().rev() {
        spent += step.tokens;
        if spent > room {
            break;
        }
        torn = index;
        if step.begins_turn {
            if spent > RECENT && turns >= RECENT_TURNS {
                break;
            }
            turns += 1;
            whole = Some(index);
        }
    }
    whole.unwrap_or(torn)
}

/// The steps that are kept, as they are after the compaction.
pub(crate) fn kept(steps: &[Step], plan: &Plan, tokens: &Tokens) -> Vec<Item> {
    let kept = &steps[plan.keep_from.min(steps.len())..];
    let spent: usize = kept.iter().map(|step| step.tokens).sum();
    match kept {
        // Only a step that does not fit by itself is more than was planned.
        [step] if spent > plan.kept => shorten::shorten(step, plan.kept, tokens),
        _ => kept.iter().flat_map(|step| step.items.clone()).collect(),
    }
}

#[cfg(test)]
mod tests;
