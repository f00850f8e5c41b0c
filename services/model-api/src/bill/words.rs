//! What a user is told whose turn has used up what it may.

use openclaw_proto::event::{GO_ON, NOTHING_ASKED};

/// Why the model may write no more.
pub fn tokens(written: u64, limit: u64) -> String {
    format!(
        "the turn was stopped: the model wrote {written} tokens, and {limit} are allowed; \
         {GO_ON}, or raise agents.defaults.limits.outputTokens"
    )
}

/// A day's money is used up in the middle of a turn.
pub fn stopped(spent: f64, limit: f64) -> String {
    format!("the turn was stopped: {}", day(spent, limit))
}

/// Why a turn's money is used up.
pub fn turn(cost: f64, limit: f64) -> String {
    format!(
        "the turn was stopped: it cost {}, and {} is allowed; {GO_ON}, or raise \
         agents.defaults.limits.costPerTurn",
        dollars(cost),
        dollars(limit)
    )
}

/// Why a question is not asked for which what is left of a turn's money is too little.
pub(crate) fn unaffordable(question: f64, left: f64, limit: f64) -> String {
    let (question, raise) = (
        dollars(question),
        "raise agents.defaults.limits.costPerTurn",
    );
    if left >= limit {
        return format!(
            "{NOTHING_ASKED}: a question costs about {question} without its answer, and {} is \
             allowed; {raise}",
            dollars(limit)
        );
    }
    format!(
        "the turn was stopped: the next question to the model costs about {question} without its \
         answer, and {} of {} is left; {GO_ON}, or {raise}",
        dollars(left),
        dollars(limit)
    )
}

/// Why a day's money is used up.
pub fn day(spent: f64, limit: f64) -> String {
    format!(
        "the agent's turns of today cost {}, and {} is allowed for a day; wait for tomorrow, or \
         raise agents.defaults.limits.costPerDay",
        dollars(spent),
        dollars(limit)
    )
}

/// An amount for people: cents, and more where it is less than that.
fn dollars(amount: f64) -> String {
    match amount {
        small if small > 0.0 && small < 0.1 => format!("${small:.4}"),
        amount => format!("${amount:.2}"),
    }
}
