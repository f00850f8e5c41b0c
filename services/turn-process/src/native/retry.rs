//! What to do after a request to a model has failed: wait and ask again, ask
//! elsewhere, or give up. No clock and no dice in here.

use std::time::Duration;

/// First wait where the provider names none; doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest of these waits.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The longest wait where another stop can be asked.
const WAIT_BEFORE_OTHERS: Duration = Duration::from_secs(5);
/// More attempts at the same place where somebody else can be asked: a hiccup is over by then.
const RETRIES_BEFORE_OTHERS: u32 = 1;

/// Why a request has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Too many requests with this key.
    RateLimited,
    /// Too much work at the moment.
    Overloaded,
    /// The provider's own failure.
    Failed,
    /// Nobody there, or the connection broke off.
    Unreachable,
    /// Nothing came for minutes.
    Silent,
    /// The key is not accepted.
    Refused,
    /// The key is accepted and may not do this.
    Forbidden,
    /// The account is empty.
    Unpaid,
    /// No such model or address.
    Unknown,
    /// There is something wrong with the request itself: anybody would refuse it.
    Request,
}

impl Fault {
    /// More attempts at the same place where there is no other: those of OpenClaw for rate limits
    /// and overload; fewer for what rarely passes within a minute.
    fn retries(self) -> u32 {
        match self {
            Self::RateLimited => 9,
            Self::Overloaded => 8,
            Self::Failed => 3,
            Self::Unreachable => 4,
            // The user has waited for minutes already.
            Self::Silent => 1,
            Self::Refused | Self::Forbidden | Self::Unpaid | Self::Unknown | Self::Request => 0,
        }
    }

    /// In words, after the name of the provider.
    pub(crate) fn to_words(self) -> &'static str {
        match self {
            Self::RateLimited => "limits the rate of requests",
            Self::Overloaded => "is overloaded",
            Self::Failed => "failed",
            Self::Unreachable => "cannot be reached",
            Self::Silent => "does not answer",
            Self::Refused => "does not accept the key",
            Self::Forbidden => "does not allow this with the key",
            Self::Unpaid => "wants to be paid",
            Self::Unknown => "does not know the model",
            Self::Request => "refuses the request",
        }
    }
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) fault: Fault,
    /// The HTTP status, where there was an answer.
    pub(crate) status: Option<u16>,
    /// The wait that the provider asks for.
    pub(crate) retry_after: Option<Duration>,
    /// The provider says that another attempt will do no good.
    pub(crate) is_final: bool,
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Ask again after a while.
    Wait(Duration),
    /// Ask somebody else.
    Elsewhere,
    /// Tell the user.
    GiveUp,
}

/// How much of one question's patience is used up.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    limit: Duration,
    waited: Duration,
    retries: u32,
}

impl Patience {
    /// `limit` is the longest that all waits together may take.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            limit,
            waited: Duration::ZERO,
            retries: 0,
        }
    }

    /// Another place, which knows nothing of the attempts before.
    pub(crate) fn elsewhere(&mut self) {
        self.retries = 0;
    }

    /// How many more attempts were made here.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// What to do after `failure`. `others`: somebody else can be asked.
    /// `dice` is between 0 and 1.
    pub(crate) fn next(&mut self, failure: &Failure, others: bool, dice: f64) -> Next {
        let (most, longest, otherwise) = if others {
            (RETRIES_BEFORE_OTHERS, WAIT_BEFORE_OTHERS, Next::Elsewhere)
        } else {
            (u32::MAX, Duration::MAX, Next::GiveUp)
        };
        let wait = self.wait(failure, dice);
        let left = self.limit.saturating_sub(self.waited);
        let retries = failure.fault.retries().min(most);
        if failure.is_final || self.retries >= retries || wait > longest || wait > left {
            return otherwise;
        }
        self.retries += 1;
        self.waited += wait;
        Next::Wait(wait)
    }

    /// Spread out, so that those who were turned away together do not come back together: a wait
    /// that was asked for is at most a tenth longer, one of our own at most half as long.
    fn wait(&self, failure: &Failure, dice: f64) -> Duration {
        match failure.retry_after {
            Some(wait) => wait + (wait / 10).min(FIRST_WAIT).mul_f64(dice),
            None => {
                let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.retries));
                wait.min(LONGEST_WAIT).mul_f64(1.0 - dice / 2.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn failure(fault: Fault, retry_after: Option<u64>) -> Failure {
        Failure {
            fault,
            status: None,
            retry_after: retry_after.map(Duration::from_secs),
            is_final: false,
        }
    }

    /// The waits in seconds until something else is done, which is last.
    fn course(fault: Fault, retry_after: Option<u64>, others: bool) -> (Vec<u64>, Next) {
        let mut patience = Patience::new(MINUTE);
        let mut waits = Vec::new();
        loop {
            match patience.next(&failure(fault, retry_after), others, 0.0) {
                Next::Wait(wait) => waits.push(wait.as_secs()),
                next => return (waits, next),
            }
        }
    }

    #[test]
    fn waits_grow_and_have_an_end() {
        let alone = |fault| course(fault, None, false);
        assert_eq!(
            alone(Fault::RateLimited),
            (vec![1, 2, 4, 8, 16], Next::GiveUp)
        );
        assert_eq!(alone(Fault::Failed), (vec![1, 2, 4], Next::GiveUp));
        assert_eq!(alone(Fault::Request), (vec![], Next::GiveUp));
        assert_eq!(alone(Fault::Refused), (vec![], Next::GiveUp));
    }

    #[test]
    fn providers_own_wish_counts_as_long_as_it_can_be_waited_for() {
        assert_eq!(
            course(Fault::RateLimited, Some(20), false),
            (vec![20, 20, 20], Next::GiveUp)
        );
        assert_eq!(
            course(Fault::RateLimited, Some(61), false),
            (vec![], Next::GiveUp)
        );
        let (waits, _) = course(Fault::Overloaded, Some(0), false);
        assert_eq!(waits.len(), 8, "no wait is no endless loop");
    }

    #[test]
    fn retry_where_there_are_others_nobody_waits_long() {
        assert_eq!(
            course(Fault::RateLimited, Some(2), true),
            (vec![2], Next::Elsewhere)
        );
        assert_eq!(
            course(Fault::RateLimited, Some(6), true),
            (vec![], Next::Elsewhere)
        );
        assert_eq!(
            course(Fault::Overloaded, None, true),
            (vec![1], Next::Elsewhere)
        );
        assert_eq!(
            course(Fault::Refused, None, true),
            (vec![], Next::Elsewhere)
        );
    }

    #[test]
    fn provider_that_says_no_for_good_is_believed() {
        let mut patience = Patience::new(MINUTE);
        let no = Failure {
            is_final: true,
            ..failure(Fault::Overloaded, None)
        };
        assert_eq!(patience.next(&no, false, 0.0), Next::GiveUp);
    }

    #[test]
    fn dice_spread_the_waits_and_never_shorten_a_wish() {
        for dice in [0.0, 0.5, 1.0] {
            let mut patience = Patience::new(MINUTE);
            let own = patience.next(&failure(Fault::Overloaded, None), false, dice);
            assert_eq!(own, Next::Wait(FIRST_WAIT.mul_f64(1.0 - dice / 2.0)));
            let mut patience = Patience::new(MINUTE);
            let Next::Wait(wish) = patience.next(&failure(Fault::Overloaded, Some(5)), false, dice)
            else {
                panic!("it can be waited for");
            };
            assert!((5.0..=5.5).contains(&wish.as_secs_f64()), "{wish:?}");
        }
    }
}
