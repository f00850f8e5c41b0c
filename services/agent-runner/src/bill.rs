//! What a turn has used of what it may: tokens and money.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_config::price::Price;
use openclaw_proto::event::{Kind, Usage};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::spending;

/// How long the tokens of an answer are waited for before the next question is
/// let through: the agent tells them before it asks.
const COUNT_DEADLINE: Duration = Duration::from_secs(2);

/// What a turn may use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// Tokens that the model may write.
    pub(crate) output_tokens: u64,
    /// US dollars for this turn.
    pub(crate) cost_per_turn: f64,
    /// US dollars for all of the agent's turns of a day.
    pub(crate) cost_per_day: f64,
    /// What they cost before this turn.
    pub(crate) spent_today: f64,
    /// Where what ended turns cost is kept.
    pub(crate) spending: PathBuf,
    /// Seconds between UTC and the time that days are counted in.
    pub(crate) utc_offset: i32,
}

/// The bill of one turn.
#[derive(Debug)]
pub(crate) struct Bill {
    budget: Budget,
    agent_id: String,
    sum: Mutex<Sum>,
    answers: watch::Sender<u32>,
}

#[derive(Debug, Default)]
struct Sum {
    price: Option<Price>,
    output: u64,
    cost: f64,
    is_unknown: bool,
}

impl Bill {
    pub(crate) fn new(budget: Budget, agent_id: &str) -> Self {
        Self {
            budget,
            agent_id: agent_id.to_owned(),
            sum: Mutex::default(),
            answers: watch::Sender::new(0),
        }
    }

    /// What is used from here on has this price; `None`: nobody knows it.
    pub(crate) fn charge_at(&self, price: Option<Price>) {
        self.lock().price = price;
    }

    /// Takes note of an event.
    pub(crate) fn note(&self, kind: &Kind) {
        if let Kind::Usage(usage) = kind {
            self.add(usage);
            self.answers.send_modify(|answers| *answers += 1);
        }
    }

    fn add(&self, usage: &Usage) {
        let mut sum = self.lock();
        sum.output = sum.output.saturating_add(usage.output);
        match sum.price {
            Some(price) => {
                sum.cost += price.of(
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write,
                );
            }
            None => sum.is_unknown |= usage.input + usage.output > 0,
        }
    }

    /// The backend says itself what the turn cost so far.
    pub(crate) fn set_cost(&self, cost: f64) {
        let mut sum = self.lock();
        sum.cost = cost;
        sum.is_unknown = false;
    }

    /// What the turn cost, in US dollars; `None`: not known.
    pub(crate) fn cost(&self) -> Option<f64> {
        let sum = self.lock();
        (!sum.is_unknown).then_some(sum.cost)
    }

    /// Whether the model may be asked again after so many answers; else why
    /// not, for the user.
    pub(crate) async fn allows_more(&self, answers: u32) -> Result<(), String> {
        let mut counted = self.answers.subscribe();
        // An agent that does not tell is let through with what is known.
        let _ = timeout(
            COUNT_DEADLINE,
            counted.wait_for(|counted| *counted >= answers),
        )
        .await;
        let (output, cost) = {
            let sum = self.lock();
            (sum.output, sum.cost)
        };
        let budget = &self.budget;
        if output >= budget.output_tokens {
            return Err(tokens(output, budget.output_tokens));
        }
        if cost >= budget.cost_per_turn {
            return Err(turn(cost, budget.cost_per_turn));
        }
        let before = spending::today(&budget.spending, &self.agent_id, budget.utc_offset)
            .max(budget.spent_today);
        let today = before + cost;
        if today >= budget.cost_per_day {
            return Err(stopped(today, budget.cost_per_day));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Sum> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why the model may write no more.
pub(crate) fn tokens(written: u64, limit: u64) -> String {
    format!(
        "the turn was stopped: the model wrote {written} tokens, and {limit} are allowed; say \
         \"continue\" to go on from here, or raise agents.defaults.limits.outputTokens"
    )
}

/// A day's money is used up in the middle of a turn.
pub(crate) fn stopped(spent: f64, limit: f64) -> String {
    format!("the turn was stopped: {}", day(spent, limit))
}

/// Why a turn's money is used up.
pub(crate) fn turn(cost: f64, limit: f64) -> String {
    format!(
        "the turn was stopped: it cost {}, and {} is allowed; say \"continue\" to go on from here, \
         or raise agents.defaults.limits.costPerTurn",
        dollars(cost),
        dollars(limit)
    )
}

/// Why a day's money is used up.
pub(crate) fn day(spent: f64, limit: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 1.0,
        output: 10.0,
        cache_read: 0.0,
        cache_write: 0.0,
    };

    fn bill(spent_today: f64) -> Bill {
        let budget = Budget {
            output_tokens: 1000,
            cost_per_turn: 0.005,
            cost_per_day: 1.0,
            spent_today,
            spending: PathBuf::from("/nonexistent"),
            utc_offset: 0,
        };
        let bill = Bill::new(budget, "main");
        bill.charge_at(Some(PRICE));
        bill
    }

    fn used(input: u64, output: u64) -> Kind {
        Kind::Usage(Usage {
            input,
            output,
            ..Usage::default()
        })
    }

    #[tokio::test]
    async fn each_limit_says_what_to_raise() {
        for (spent_today, kind, word) in [
            (0.0, used(0, 1000), "outputTokens"),
            (0.0, used(5000, 0), "costPerTurn"),
            (0.996, used(4000, 0), "costPerDay"),
        ] {
            let bill = bill(spent_today);
            bill.allows_more(0).await.unwrap();
            bill.note(&kind);
            let why = bill.allows_more(1).await.unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_not_counted_yet_is_waited_for() {
        let bill = std::sync::Arc::new(bill(0.0));
        let later = bill.clone();
        let asked = tokio::spawn(async move { later.allows_more(1).await });
        tokio::task::yield_now().await;
        bill.note(&used(0, 5000));
        asked.await.unwrap().unwrap_err();
    }

    #[test]
    fn a_cost_that_is_not_known_is_not_nothing() {
        let bill = bill(0.0);
        bill.note(&used(1_000_000, 0));
        assert_eq!(bill.cost(), Some(1.0));
        bill.charge_at(None);
        bill.note(&used(1, 1));
        assert_eq!(bill.cost(), None);
        bill.set_cost(2.5);
        assert_eq!(bill.cost(), Some(2.5));
    }
}
