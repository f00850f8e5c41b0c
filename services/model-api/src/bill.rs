//! What a turn has used of what it may: tokens and money.
//!
//! Where the turn's process relays requests to the model, it counts what the
//! provider says of each answer and asks nobody else; what the agent says of
//! its cost counts only where it asks the model by itself.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_prices::Price;
use openclaw_proto::event::{Kind, Usage};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::spending::{self, as_cost};

mod charge;
mod totals;
mod words;

pub use charge::Charge;
pub use totals::MOST_TOKENS;
use totals::Totals;
use words::unaffordable;
pub use words::{day, stopped, tokens, turn};

/// The most tokens of an answer to a request that names no limit: what the
/// models with the longest answers write.
pub const MOST_OUTPUT: u64 = 128_000;

/// What a turn may use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Budget {
    /// Tokens that the model may write.
    pub output_tokens: u64,
    /// US dollars for this turn.
    pub cost_per_turn: f64,
    /// That is held before each answer, not after: none is longer than what is left pays
    /// for. Nobody is there who would say what the rest is to cost.
    #[serde(default)]
    pub is_firm: bool,
    /// US dollars for all of the agent's turns of a day.
    pub cost_per_day: f64,
    /// What they cost before this turn.
    pub spent_today: f64,
    /// Where what ended turns cost is kept.
    pub spending: PathBuf,
    /// Seconds between UTC and the time that days are counted in.
    pub utc_offset: i32,
}

/// A request that is about to go out.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Tokens of it, as far as they can be guessed.
    pub input: u64,
    /// The most tokens that its answer may have.
    pub most_output: u64,
    /// `None`: nobody knows it.
    pub price: Option<Price>,
}

/// Tokens of an answer that says something. A shorter one is not asked for.
const LEAST_ANSWER: u64 = 256;

impl Estimate {
    /// What being asked costs at `price`, in US dollars, if the provider keeps all of it.
    fn question(&self, price: &Price) -> f64 {
        let kept = price.of(0, 0, 0, self.input);
        price.of(self.input, 0, 0, 0).max(kept)
    }

    /// What the longest answer costs beside that.
    fn answer(&self, price: &Price) -> f64 {
        price.of(self.input, self.most_output, 0, 0) - price.of(self.input, 0, 0, 0)
    }
}

/// The bill of one turn.
#[derive(Debug)]
pub struct Bill {
    budget: Budget,
    agent_id: String,
    /// Whether requests are relayed and answers counted here.
    is_metered: bool,
    sum: Mutex<Totals>,
    /// US dollars for what is asked beside the model: vectors for searches.
    beside: Mutex<f64>,
    /// Changes when an answer was settled.
    settled: watch::Sender<()>,
}

impl Bill {
    /// With `is_metered` what the agent says of its use is not looked at.
    pub fn new(budget: Budget, agent_id: &str, is_metered: bool) -> Self {
        Self {
            budget,
            agent_id: agent_id.to_owned(),
            is_metered,
            sum: Mutex::default(),
            beside: Mutex::default(),
            settled: watch::Sender::new(()),
        }
    }

    /// Takes note of an event of the agent's. `None`: it is not to be told,
    /// because what was counted here is told instead.
    pub fn note(&self, kind: Kind) -> Option<Kind> {
        match kind {
            Kind::Usage(_) if self.is_metered => self.untold().map(Kind::Usage),
            Kind::Usage(usage) => {
                self.lock().settle(usage, None);
                Some(Kind::Usage(usage))
            }
            other => Some(other),
        }
    }

    /// What was counted here and not told yet.
    pub fn untold(&self) -> Option<Usage> {
        if !self.is_metered {
            return None;
        }
        self.lock().untold()
    }

    /// The backend says itself what the turn cost so far. It counts where
    /// nobody else knows, and only upwards.
    pub fn report_cost(&self, cost: f64) {
        if let Some(cost) = as_cost(cost)
            && !self.is_metered
        {
            self.lock().report_cost(cost);
        }
    }

    /// What the turn cost so far, in US dollars, answers that are under way
    /// included; `None`: not known.
    pub fn cost(&self) -> Option<f64> {
        self.lock().cost().map(|cost| cost + self.beside())
    }

    /// Adds what is asked beside the model, and is not told by it.
    pub fn add_beside(&self, cost: f64) {
        *self.beside.lock().unwrap_or_else(PoisonError::into_inner) += cost;
    }

    fn beside(&self) -> f64 {
        *self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `cost` more may be spent beside the model; else why not, for the
    /// user. What is not known of the model's own cost does not count.
    pub fn may_add(&self, cost: f64) -> Result<(), String> {
        let budget = &self.budget;
        let after = self.cost().unwrap_or_else(|| self.beside()) + cost;
        if after > budget.cost_per_turn {
            return Err(turn(after, budget.cost_per_turn));
        }
        let today = self.spent_before() + after;
        if today > budget.cost_per_day {
            return Err(stopped(today, budget.cost_per_day));
        }
        Ok(())
    }

    /// Why a request was refused, if one was.
    pub fn refusal(&self) -> Option<String> {
        self.lock().refusal.clone()
    }

    /// Lets a request through, or says why not, for the user.
    ///
    /// Beside others it passes only while what is used and all that those
    /// under way may still use is less than the limits; until then it waits
    /// for them. So a limit is passed by one answer at most, however many are
    /// asked for at once; one that is firm by none: what the answer may have is
    /// with its charge.
    pub async fn admit(self: &Arc<Self>, asked: &Estimate) -> Result<Charge, String> {
        let mut settled = self.settled.subscribe();
        loop {
            settled.borrow_and_update();
            match self.try_admit(asked) {
                Admission::Passed(id, most_output) => {
                    return Ok(Charge::new(Arc::clone(self), id, most_output));
                }
                Admission::Refused(why) => return Err(why),
                // The sender lives in self.
                Admission::Later => _ = settled.changed().await,
            }
        }
    }

    fn try_admit(&self, asked: &Estimate) -> Admission {
        let before = self.spent_before();
        let mut sum = self.lock();
        let used = sum.used();
        if let Some(why) = self.passed_limit(used.output, used.cost, before) {
            sum.refusal = Some(why.clone());
            return Admission::Refused(why);
        }
        let reserved = sum.reserved();
        let fits = self
            .passed_limit(reserved.output, reserved.cost, before)
            .is_none();
        let is_alone = sum.open.is_empty();
        match self.affords(reserved.cost, asked) {
            Err(why) if is_alone => {
                sum.refusal = Some(why.clone());
                Admission::Refused(why)
            }
            Ok(most_output) if is_alone || (fits && most_output == asked.most_output) => {
                let asked = Estimate {
                    most_output,
                    ..asked.clone()
                };
                Admission::Passed(sum.open(asked), most_output)
            }
            _ => Admission::Later,
        }
    }

    /// The longest answer to `asked` that what is left beside `reserved` pays for, at most as
    /// long as it may be; else why there is none, for the user. So it is where the limit of
    /// the turn is firm and the price known.
    fn affords(&self, reserved: f64, asked: &Estimate) -> Result<u64, String> {
        let (Some(price), true) = (&asked.price, self.budget.is_firm) else {
            return Ok(asked.most_output);
        };
        let limit = self.budget.cost_per_turn;
        let left = limit - reserved - self.beside();
        let (question, answer) = (asked.question(price), asked.answer(price));
        if question + answer <= left {
            return Ok(asked.most_output);
        }
        let part = ((left - question) / answer).max(0.0);
        let tokens = (part * asked.most_output as f64) as u64;
        if question > left || tokens < LEAST_ANSWER.min(asked.most_output) {
            return Err(unaffordable(question, left, limit));
        }
        Ok(tokens)
    }

    fn passed_limit(&self, output: u64, cost: f64, before: f64) -> Option<String> {
        let cost = cost + self.beside();
        let budget = &self.budget;
        if output >= budget.output_tokens {
            return Some(tokens(output, budget.output_tokens));
        }
        if cost >= budget.cost_per_turn {
            return Some(turn(cost, budget.cost_per_turn));
        }
        let today = before + cost;
        (today >= budget.cost_per_day).then(|| stopped(today, budget.cost_per_day))
    }

    /// What other turns of today cost.
    fn spent_before(&self) -> f64 {
        let budget = &self.budget;
        spending::today(&budget.spending, &self.agent_id, budget.utc_offset).max(budget.spent_today)
    }

    /// The turn is over: no answer is heard any further.
    pub fn cut_off(&self) {
        self.lock().cut_off(Instant::now());
    }

    fn close(&self, id: u64, counts: bool) {
        self.lock().close(id, counts, Instant::now());
        self.settled.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, Totals> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Admission {
    /// With the answer's number and the most tokens that it may have.
    Passed(u64, u64),
    Refused(String),
    Later,
}

#[cfg(test)]
mod tests;
