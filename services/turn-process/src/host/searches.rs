//! How often a turn searches memory, and what that costs: a search may ask a
//! provider for the vector of its question.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use openclaw_handoff::order::Allowance;
use openclaw_model_api::bill::Bill;

/// Bytes of text that count as one token. Providers' own have three or four in
/// most languages, so that a question is rather counted for more than it costs.
const TOKEN_BYTES: u64 = 2;

/// The searches of one turn.
#[derive(Debug)]
pub(crate) struct Searches {
    allowance: Allowance,
    made: AtomicU32,
    bill: Arc<Bill>,
}

impl Searches {
    pub(crate) fn new(allowance: Allowance, bill: Arc<Bill>) -> Self {
        Self {
            allowance,
            made: AtomicU32::new(0),
            bill,
        }
    }

    /// Counts a search for `text` and puts it on the bill, whether or not it
    /// finds anything; or says why there is none, for model and user.
    pub(crate) fn admit(&self, text: &str) -> Result<(), String> {
        let limit = self.allowance.limit;
        if self.made.fetch_add(1, Ordering::Relaxed) >= limit {
            // It must not begin anew, however often it is asked.
            self.made.store(limit, Ordering::Relaxed);
            return Err(format!(
                "memory was searched {limit} times in this turn, and that is all that is allowed; \
                 go on with what was found, or raise agents.defaults.limits.memorySearches"
            ));
        }
        let Some(price) = &self.allowance.price else {
            return Ok(());
        };
        let tokens = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let cost = price.of(tokens.div_ceil(TOKEN_BYTES), 0, 0, 0);
        self.bill.may_add(cost)?;
        self.bill.add_beside(cost);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use openclaw_model_api::bill::Budget;
    use openclaw_prices::{Price, Rates};
    use std::path::PathBuf;

    use super::*;

    fn searches(limit: u32, dollars_for_a_million: f64) -> Searches {
        let budget = Budget {
            output_tokens: 1000,
            cost_per_turn: 1.0,
            is_firm: false,
            cost_per_day: 10.0,
            spent_today: 0.0,
            spending: PathBuf::from("/nonexistent"),
            utc_offset: 0,
        };
        let rates = Rates {
            input: dollars_for_a_million,
            ..Rates::default()
        };
        let allowance = Allowance {
            limit,
            price: Some(Price::from(rates)),
        };
        Searches::new(allowance, Arc::new(Bill::new(budget, "main", true)))
    }

    #[test]
    fn searches_are_limited_and_the_limit_is_named() {
        let searches = searches(2, 0.0);
        searches.admit("a").unwrap();
        searches.admit("b").unwrap();
        for _ in 0..3 {
            let why = searches.admit("c").unwrap_err();
            assert!(why.contains("limits.memorySearches"), "{why}");
        }
    }

    #[test]
    fn searches_are_billed_until_the_turns_money_is_used_up() {
        let searches = searches(100, 200_000.0);
        searches.admit("four").unwrap();
        assert_eq!(searches.bill.cost(), Some(0.4));
        searches.admit("four").unwrap();
        let why = searches.admit("four").unwrap_err();
        assert!(why.contains("costPerTurn"), "{why}");
        assert_eq!(searches.bill.cost(), Some(0.8));
    }
}
