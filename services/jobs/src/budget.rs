//! What a job's runs may cost.

use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;

/// In US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// Of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_run_usd: Option<f64>,
    /// Of all runs that begin on a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_day_usd: Option<f64>,
}

impl Budget {
    /// Of both a run and a day.
    pub fn new(per_run_usd: Option<f64>, per_day_usd: Option<f64>) -> Self {
        Self {
            per_run_usd,
            per_day_usd,
        }
    }

    /// Whether anything depends on what the day has cost.
    pub fn is_of_days(&self) -> bool {
        self.per_day_usd.is_some()
    }

    /// What a run may cost after `spent` on its day; None: nobody said. Zero is
    /// left when the day's budget is used up.
    pub fn left(&self, spent: f64) -> Option<f64> {
        let of_day = self.per_day_usd.map(|budget| (budget - spent).max(0.0));
        match (self.per_run_usd, of_day) {
            (Some(run), Some(day)) => Some(run.min(day)),
            (run, day) => run.or(day),
        }
    }

    pub(crate) fn checked(&self) -> Result<(), Invalid> {
        let amounts = [self.per_run_usd, self.per_day_usd];
        let is_amount = |amount: &f64| amount.is_finite() && *amount > 0.0;
        if amounts.iter().flatten().all(is_amount) {
            Ok(())
        } else {
            Err(Invalid::field("budget", "must be more than 0 US dollars"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_leaves_the_lesser_of_run_and_day() {
        let both = Budget::new(Some(0.5), Some(1.0));
        assert_eq!(both.left(0.0), Some(0.5));
        assert_eq!(both.left(0.75), Some(0.25));
        assert_eq!(both.left(3.0), Some(0.0));
        assert_eq!(Budget::new(Some(0.5), None).left(9.0), Some(0.5));
        assert_eq!(Budget::default().left(9.0), None);
        Budget::new(Some(0.0), None).checked().unwrap_err();
        Budget::new(None, Some(f64::NAN)).checked().unwrap_err();
    }
}
