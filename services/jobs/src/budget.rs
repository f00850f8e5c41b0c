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

    /// Why a run that `cost` so much, on a day whose runs cost `of_day` with it, cost too
    /// much; None: it did not.
    pub fn passed(&self, cost: f64, of_day: f64) -> Option<String> {
        if let Some(run) = self.per_run_usd.filter(|run| cost > *run) {
            let (cost, run) = (dollars(cost), dollars(run));
            return Some(format!("the run cost {cost}, and its budget is {run}"));
        }
        let day = self.per_day_usd.filter(|day| cost > 0.0 && of_day > *day)?;
        let (of_day, day) = (dollars(of_day), dollars(day));
        Some(format!(
            "the runs of the day cost {of_day}, and their budget is {day}"
        ))
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

/// An amount for people: cents, and more where it is less than ten.
fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.1 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
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
        assert_eq!(both.passed(0.5, 0.75), None);
        let run = both.passed(0.75, 0.75).unwrap();
        assert_eq!(run, "the run cost $0.75, and its budget is $0.50");
        let day = both.passed(0.25, 1.05).unwrap();
        assert!(day.contains("$1.05") && day.contains("$1.00"), "{day}");
        // What cost nothing passed nothing.
        assert_eq!(both.passed(0.0, 2.0), None);
        assert_eq!(Budget::default().passed(9.0, 9.0), None);
        Budget::new(Some(0.0), None).checked().unwrap_err();
        Budget::new(None, Some(f64::NAN)).checked().unwrap_err();
    }
}
