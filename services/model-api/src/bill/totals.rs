//! The sums of a bill.

use std::collections::BTreeMap;
use std::time::Duration;

use openclaw_prices::Price;
use openclaw_proto::event::Usage;
use tokio::time::Instant;

use super::Estimate;
use crate::wire::Extras;

/// More tokens than a turn has, likewise. Sums of such do not overflow.
pub const MOST_TOKENS: u64 = 1_000_000_000_000;

/// What a model may have made in a second of silence in an answer that nobody heard to its
/// end: what it thinks is not told while it does, and is paid for. More than most make.
const TOKENS_PER_SECOND: u64 = 200;
/// The longest silence between two pieces of an answer in which nothing else is made.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a model may take to begin, in answers of a turn that nobody hears to their end,
/// together. Not each: an agent could ask for nothing but beginnings.
const BEGINNING: Duration = Duration::from_secs(2);

/// US dollars that a search of the web costs beside its tokens, at Anthropic and at OpenAI (price
/// lists of early 2026).
const SEARCH: f64 = 0.01;
/// More searches than an answer has.
const MOST_SEARCHES: u64 = 1_000_000;

/// What is used, answers that are under way included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    pub(super) output: u64,
    pub(super) cost: f64,
}

/// An answer that is under way.
#[derive(Debug, Clone)]
pub(super) struct Open {
    asked: Estimate,
    price: Option<Price>,
    /// What it used so far.
    pub(super) seen: Usage,
    /// What is charged beside them so far.
    extras: Extras,
    /// When it was asked for, or the last piece of it came.
    heard: Instant,
    /// Whether any of it came.
    has_begun: bool,
    /// How long it was silent while the model may have made what is not told, pauses left out.
    silent: Duration,
    /// How long of that was before it began.
    before: Duration,
    /// What was seen is what it used: it came to its end.
    is_whole: bool,
}

impl Open {
    /// What it is charged with if it is over `now`: what was seen, and where it did not
    /// come to its end what may have been made besides. Of `beginning` that which it took
    /// to begin is used up.
    fn at_its_end(&mut self, now: Instant, beginning: &mut Duration) -> Usage {
        if self.is_whole {
            return self.seen;
        }
        self.listen(now);
        let forgiven = self.before.min(*beginning);
        *beginning -= forgiven;
        let silent = self.silent.saturating_sub(forgiven).as_millis();
        let silent = u64::try_from(silent).unwrap_or(u64::MAX);
        let made = silent.saturating_mul(TOKENS_PER_SECOND) / 1000;
        let made = made.saturating_add(self.seen.output);
        let output = made.min(self.asked.most_output).max(self.seen.output);
        Usage {
            output,
            ..self.seen
        }
    }

    /// A silence ends `now`.
    fn listen(&mut self, now: Instant) {
        let silence = now.saturating_duration_since(self.heard);
        self.heard = now;
        if self.has_begun {
            self.silent += silence.saturating_sub(PAUSE);
        } else {
            self.before += silence;
            self.silent += silence;
        }
    }

    /// It has used this much by `now`.
    fn see(&mut self, usage: Usage, now: Instant) {
        if usage.output > self.seen.output {
            self.listen(now);
            self.has_begun = true;
        }
        self.seen = bounded(usage);
    }

    /// It is asked for, maybe once more.
    fn send(&mut self, now: Instant) {
        self.heard = now;
        self.silent = Duration::ZERO;
        self.before = Duration::ZERO;
        self.has_begun = false;
    }

    fn cost_of(&self, usage: &Usage) -> f64 {
        let tokens = self.price.as_ref().map_or(0.0, |price| cost(price, usage));
        tokens + self.beside(usage)
    }

    /// What is charged beside the tokens of each kind, where they are these.
    fn beside(&self, usage: &Usage) -> f64 {
        let sent = usage.input + usage.cache_read + usage.cache_write;
        let kept = self.extras.kept_for_an_hour;
        let price = self.price.as_ref();
        let kept = price.map_or(0.0, |price| price.of_keeping_for_an_hour(kept, sent));
        f64::from(u32::try_from(self.extras.searches).unwrap_or(u32::MAX)) * SEARCH + kept
    }

    /// The most that it may come to.
    fn most(&self) -> Used {
        let most = Usage {
            input: self.asked.input,
            output: self.asked.most_output,
            ..Usage::default()
        };
        Used {
            output: most.output.max(self.seen.output),
            cost: self.cost_of(&most).max(self.cost_of(&self.seen)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Totals {
    /// Of the answers that are over.
    usage: Usage,
    cost: f64,
    is_unknown: bool,
    /// What the backend says, where it is asked.
    reported: Option<f64>,
    /// What events have told.
    told: Usage,
    pub(super) open: BTreeMap<u64, Open>,
    next: u64,
    /// How long models may still take to begin.
    beginning: Duration,
    pub(super) refusal: Option<String>,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            usage: Usage::default(),
            cost: 0.0,
            is_unknown: false,
            reported: None,
            told: Usage::default(),
            open: BTreeMap::new(),
            next: 0,
            beginning: BEGINNING,
            refusal: None,
        }
    }
}

impl Totals {
    pub(super) fn open(&mut self, asked: Estimate) -> u64 {
        let id = self.next;
        self.next += 1;
        let open = Open {
            price: asked.price.clone(),
            asked,
            seen: Usage::default(),
            extras: Extras::default(),
            heard: Instant::now(),
            has_begun: false,
            silent: Duration::ZERO,
            before: Duration::ZERO,
            is_whole: false,
        };
        self.open.insert(id, open);
        id
    }

    /// What an answer that is under way is charged at.
    pub(super) fn charge_at(&mut self, id: u64, price: Option<Price>) {
        if let Some(open) = self.open.get_mut(&id) {
            open.price = price;
        }
    }

    /// What an answer that is under way used so far.
    pub(super) fn see(&mut self, id: u64, usage: Usage, now: Instant) {
        if let Some(open) = self.open.get_mut(&id) {
            open.see(usage, now);
        }
    }

    /// What is charged for an answer that is under way beside its tokens.
    pub(super) fn see_extras(&mut self, id: u64, extras: Extras) {
        if let Some(open) = self.open.get_mut(&id) {
            open.extras = Extras {
                searches: extras.searches.min(MOST_SEARCHES),
                kept_for_an_hour: extras.kept_for_an_hour.min(MOST_TOKENS),
            };
        }
    }

    /// An answer is asked for, maybe once more.
    pub(super) fn send(&mut self, id: u64, now: Instant) {
        if let Some(open) = self.open.get_mut(&id) {
            open.send(now);
        }
    }

    /// What was seen of an answer is what it used.
    pub(super) fn end(&mut self, id: u64) {
        if let Some(open) = self.open.get_mut(&id) {
            open.is_whole = true;
        }
    }

    /// An answer is over; unless it `counts`, there was none.
    pub(super) fn close(&mut self, id: u64, counts: bool, now: Instant) {
        if let Some(mut open) = self.open.remove(&id)
            && counts
        {
            let usage = bounded(open.at_its_end(now, &mut self.beginning));
            self.cost += open.beside(&usage);
            self.settle(usage, open.price);
        }
    }

    /// No answer is heard any further.
    pub(super) fn cut_off(&mut self, now: Instant) {
        for open in self.open.values_mut() {
            open.seen = bounded(open.at_its_end(now, &mut self.beginning));
            open.is_whole = true;
        }
    }

    pub(super) fn settle(&mut self, usage: Usage, price: Option<Price>) {
        let usage = bounded(usage);
        self.usage = added(self.usage, usage);
        match price {
            Some(price) => self.cost += cost(&price, &usage),
            None => self.is_unknown |= usage != Usage::default(),
        }
    }

    pub(super) fn report_cost(&mut self, cost: f64) {
        self.reported = Some(self.reported.map_or(cost, |before| before.max(cost)));
    }

    pub(super) fn used(&self) -> Used {
        self.with_open(|open| Used {
            output: open.seen.output,
            cost: open.cost_of(&open.seen),
        })
    }

    /// What is used when the answers under way have come to the most that they
    /// may come to.
    pub(super) fn reserved(&self) -> Used {
        self.with_open(Open::most)
    }

    fn with_open(&self, of: impl Fn(&Open) -> Used) -> Used {
        let mut used = Used {
            output: self.usage.output,
            cost: self.reported.unwrap_or_default().max(self.cost),
        };
        for open in self.open.values().map(of) {
            used.output = used.output.saturating_add(open.output);
            used.cost += open.cost;
        }
        used
    }

    pub(super) fn cost(&self) -> Option<f64> {
        if let Some(reported) = self.reported {
            return Some(reported);
        }
        let is_unknown = |open: &Open| open.price.is_none() && open.seen != Usage::default();
        let is_unknown = self.is_unknown || self.open.values().any(is_unknown);
        (!is_unknown).then(|| self.used().cost)
    }

    pub(super) fn untold(&mut self) -> Option<Usage> {
        let open = self.open.values().map(|open| open.seen);
        let now = open.fold(self.usage, added);
        let told = self.told;
        let news = Usage {
            input: now.input.saturating_sub(told.input),
            output: now.output.saturating_sub(told.output),
            cache_read: now.cache_read.saturating_sub(told.cache_read),
            cache_write: now.cache_write.saturating_sub(told.cache_write),
        };
        self.told = added(told, news);
        (news != Usage::default()).then_some(news)
    }
}

fn cost(price: &Price, usage: &Usage) -> f64 {
    price.of(
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    )
}

fn added(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
    }
}

/// No sum of such overflows in a turn.
fn bounded(usage: Usage) -> Usage {
    Usage {
        input: usage.input.min(MOST_TOKENS),
        output: usage.output.min(MOST_TOKENS),
        cache_read: usage.cache_read.min(MOST_TOKENS),
        cache_write: usage.cache_write.min(MOST_TOKENS),
    }
}
