//! Asking a model: with patience, and elsewhere when that does not help.

use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use openclaw_daemon::failure;
use openclaw_handoff::report::{Report, Use};
use openclaw_handoff::spool::Spool;
use openclaw_model_api::bill::{self, Bill, Charge, MOST_OUTPUT};
use openclaw_model_api::route::Stop;
use openclaw_model_api::upstream::{self, Upstream};
use openclaw_model_api::wire::{
    self, Api, Form, Grants, Judged, ModelOptions, Tally, Unfit, tokens_of,
};
use openclaw_proto::event::{Kind, Usage};
use openclaw_turn::{Code, Target};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::refusal::Refusal;
use super::retry::{Failure, Fault, Next, Patience};
use crate::activity::Activity;
use crate::message_id;

/// A question of the agent's.
#[derive(Debug, Default)]
pub(super) struct Question {
    /// The answer to the same question broke off, and nothing was made of it.
    pub(super) broke_off: Option<Code>,
}

/// The answer to the agent.
#[derive(Debug)]
pub(super) enum Answer {
    /// The model's answer, as it comes, and what counts it.
    Stream(reqwest::Response, Box<Metered>),
    /// It is to ask again, in the form that another model takes.
    Elsewhere(Target),
    /// The provider's refusal.
    Refused(Refusal),
    /// The provider could not be asked.
    Failed(upstream::Error),
    /// Answers broke off too often.
    BrokenOff,
    /// The request is none that may go out.
    Unfit(Unfit),
    /// The turn's or the day's budget is used up.
    Spent(String),
}

/// Counts an answer. Dropped before its end, it is settled as one that nobody heard further.
#[derive(Debug)]
pub(super) struct Metered {
    tally: Tally,
    charge: Charge,
}

impl Metered {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        self.tally.feed(piece);
        self.count();
    }

    /// The answer has come to its end.
    pub(super) fn end(&mut self) {
        self.tally.end();
        self.count();
    }

    fn count(&self) {
        self.charge.see(self.tally.usage());
        self.charge.see_extras(self.tally.extras());
        if self.tally.is_over() {
            self.charge.end();
        }
    }
}

/// Asks for one turn.
#[derive(Debug)]
pub(crate) struct Asking {
    route: Vec<Stop>,
    patience: Duration,
    grants: Grants,
    upstream: Upstream,
    spool: Arc<Spool>,
    bill: Arc<Bill>,
    activity: Arc<Activity>,
    state: Mutex<State>,
    /// Which stop has answered last.
    speaker: SyncMutex<usize>,
}

#[derive(Debug)]
struct State {
    /// The stop that is asked.
    at: usize,
    /// The stop whose form the agent's requests have.
    form: usize,
    /// The next request is the same question in another form.
    is_turning: bool,
    patience: Patience,
    /// The stops at which this question failed.
    tried: Vec<bool>,
    /// The stops that no question of this turn needs to ask again.
    closed: Vec<bool>,
    /// The stops that have answered since the last failure.
    answered: Vec<bool>,
}

impl Asking {
    /// Asks along `route`; each question at most so long that all waits together take `patience`.
    pub(crate) fn new(
        route: Vec<Stop>,
        patience: Duration,
        grants: Grants,
        spool: Arc<Spool>,
        bill: Arc<Bill>,
        activity: Arc<Activity>,
    ) -> Self {
        let state = State {
            at: 0,
            form: 0,
            is_turning: false,
            patience: Patience::new(patience),
            tried: vec![false; route.len()],
            closed: vec![false; route.len()],
            answered: vec![false; route.len()],
        };
        Self {
            route,
            patience,
            grants,
            upstream: Upstream::default(),
            spool,
            bill,
            activity,
            state: Mutex::new(state),
            speaker: SyncMutex::new(0),
        }
    }

    /// The stop that answered last, or will be asked first.
    pub(crate) fn speaker(&self) -> Option<&Stop> {
        let at = *self.speaker.lock().unwrap_or_else(PoisonError::into_inner);
        self.route.get(at)
    }

    /// Answers a question.
    pub(super) async fn ask(&self, question: &Question, body: Bytes) -> Answer {
        let mut state = self.state.lock().await;
        let mut failed = question
            .broke_off
            .map(|code| (Failure::broken_off(code), Answer::BrokenOff));
        let is_same = std::mem::take(&mut state.is_turning) || failed.is_some();
        if !is_same {
            state.begin(self.patience);
        }
        let mut admitted: Option<(Judged, Charge)> = None;
        loop {
            if let Some((failure, answer)) = failed.take()
                && !self.go_on(&mut state, &failure).await
            {
                if let Some((_, charge)) = admitted {
                    charge.forget();
                }
                return answer;
            }
            let stop = &self.route[state.at];
            if !stop.takes_requests_of(&self.route[state.form]) {
                state.form = state.at;
                state.is_turning = true;
                if let Some((_, charge)) = admitted {
                    charge.forget();
                }
                return Answer::Elsewhere(Target {
                    api: stop.api(),
                    provider: stop.provider.clone(),
                    model: stop.model.clone(),
                    sees_images: stop.sees_images,
                });
            }
            let (judged, charge) = match admitted.take() {
                Some(admitted) => admitted,
                None => match self.admit(stop, &body).await {
                    Ok(admitted) => admitted,
                    Err(answer) => return *answer,
                },
            };
            charge.send();
            let sent = self.upstream.post(stop, judged.bytes.clone()).await;
            failed = Some(match sent {
                Ok(response) if response.status().is_success() => {
                    charge.charge_at(stop.price.clone());
                    self.succeeded(&mut state);
                    return stream(stop, response, &judged, charge);
                }
                Ok(response) => {
                    let refusal = Refusal::read(response).await;
                    (refusal.failure(), Answer::Refused(refusal))
                }
                Err(error) => {
                    tracing::debug!(error = %failure::chain(&error), "the model did not answer");
                    if !error.is_unsent() {
                        // It may have begun to: this try is charged by itself.
                        charge.see(unheard(stop, &judged));
                        failed = Some((Failure::unsent(&error), Answer::Failed(error)));
                        continue;
                    }
                    (Failure::unsent(&error), Answer::Failed(error))
                }
            });
            admitted = Some((judged, charge));
        }
    }

    /// Judges a request, which asks the stop's own model, and lets it through
    /// as far as the budget allows.
    async fn admit(&self, stop: &Stop, body: &[u8]) -> Result<(Judged, Charge), Box<Answer>> {
        let judge = |wanted: &ModelOptions| {
            let (api, model) = (wire_api(stop), Some(&*stop.model));
            let judged = wire::judge(api, body, &self.grants, model, wanted);
            judged.map_err(|unfit| Box::new(Answer::Unfit(unfit)))
        };
        let mut judged = judge(&stop.wanted)?;
        let asked = bill::Estimate {
            input: tokens_of(judged.bytes.len()),
            most_output: judged.most_output.unwrap_or(MOST_OUTPUT),
            price: stop.price.clone(),
        };
        let charge = self.bill.admit(&asked).await;
        let charge = charge.map_err(|why| Box::new(Answer::Spent(why)))?;
        if charge.most_output() < asked.most_output {
            judged = match judge(&stop.wanted.at_most(charge.most_output())) {
                Ok(judged) => judged,
                Err(answer) => {
                    charge.forget();
                    return Err(answer);
                }
            };
        }
        Ok((judged, charge))
    }

    fn succeeded(&self, state: &mut State) {
        let at = state.at;
        *self.speaker.lock().unwrap_or_else(PoisonError::into_inner) = at;
        let stop = &self.route[at];
        if !std::mem::replace(&mut state.answered[at], true) {
            self.report(stop, Use::Answered, None);
        }
    }

    /// Waits or moves on; false when there is nothing left to do.
    async fn go_on(&self, state: &mut State, failure: &Failure) -> bool {
        let stop = &self.route[state.at];
        let other = state.other(&self.route, failure.fault);
        let next = state
            .patience
            .next(failure, other.is_some(), fastrand::f64());
        if let Next::Wait(wait) = next {
            self.say(waiting(stop, failure, wait, state.patience.retries()));
            self.activity.quiet_until(Instant::now() + wait);
            sleep(wait).await;
            return true;
        }
        if let Some(used) = used(failure.fault) {
            self.report(stop, used, failure.retry_after);
            state.answered[state.at] = false;
        }
        let Some(other) = other.filter(|_| next == Next::Elsewhere) else {
            return false;
        };
        self.say(moving(stop, failure, &self.route[other]));
        state.go_to(other, failure.fault);
        true
    }

    fn say(&self, text: String) {
        let line = openclaw_escape::line(&text);
        let message_id = message_id::MODEL_ASKED_AGAIN;
        if self.activity.log.takes_line() {
            tracing::info!(message_id, "{line}");
        } else {
            tracing::debug!(message_id, "{line}");
        }
        // A spool that is full or gone ends the turn at the next event.
        let _ = self.spool.push(Kind::Note { text });
    }

    fn report(&self, stop: &Stop, used: Use, retry_after: Option<Duration>) {
        let report = Report {
            agent_id: stop.agent_of_key().to_owned(),
            id: stop.id().to_owned(),
            used,
            at_ms: u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default(),
            retry_after_ms: retry_after.map_or(0, |wait| {
                u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
            }),
        };
        let _ = self.spool.report(&report);
    }
}

impl State {
    /// Another question.
    fn begin(&mut self, patience: Duration) {
        self.patience = Patience::new(patience);
        self.tried.clone_from(&self.closed);
    }

    /// The next stop to ask after this fault.
    fn other(&self, route: &[Stop], fault: Fault) -> Option<usize> {
        let here = &route[self.at];
        let helps = |stop: &Stop| match fault {
            Fault::Request => false,
            Fault::Unknown | Fault::Forbidden => !stop.is_same_model(here),
            Fault::Unreachable | Fault::Silent => stop.base_url != here.base_url,
            _ => true,
        };
        (0..route.len())
            .find(|other| *other != self.at && !self.tried[*other] && helps(&route[*other]))
    }

    fn go_to(&mut self, other: usize, fault: Fault) {
        self.tried[self.at] = true;
        self.closed[self.at] |= matches!(
            fault,
            Fault::Refused | Fault::Forbidden | Fault::Unpaid | Fault::Unknown
        );
        self.at = other;
        self.patience.elsewhere();
    }
}

fn wire_api(stop: &Stop) -> Api {
    if stop.anthropic {
        Api::Anthropic
    } else {
        Api::Chat
    }
}

/// The estimated use of a question whose answer was not heard.
fn unheard(stop: &Stop, judged: &Judged) -> Usage {
    let asked_bytes = judged.bytes.len();
    Tally::new(wire_api(stop), Form::Whole, asked_bytes, judged.most_output).usage()
}

fn stream(stop: &Stop, response: reqwest::Response, judged: &Judged, charge: Charge) -> Answer {
    let form = Form::of(response.headers());
    let asked_bytes = judged.bytes.len();
    let tally = Tally::new(wire_api(stop), form, asked_bytes, judged.most_output);
    charge.see(tally.usage());
    Answer::Stream(response, Box::new(Metered { tally, charge }))
}

/// What is kept of a failure, for the turns to come. A request that is wrong
/// in itself says nothing of the key, nor does a network that is down.
fn used(fault: Fault) -> Option<Use> {
    match fault {
        Fault::RateLimited | Fault::Overloaded => Some(Use::Busy),
        Fault::Refused | Fault::Unpaid => Some(Use::Refused),
        _ => None,
    }
}

fn problem(stop: &Stop, failure: &Failure) -> String {
    let status = failure
        .status
        .map(|status| format!(" (HTTP {status})"))
        .unwrap_or_default();
    format!("{} {}{status}", stop.provider, failure.fault.to_words())
}

fn waiting(stop: &Stop, failure: &Failure, wait: Duration, attempt: u32) -> String {
    let problem = problem(stop, failure);
    match wait.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{problem}; trying again (attempt {})", attempt + 1),
        seconds => format!(
            "{problem}; trying again in {seconds:.0} s (attempt {})",
            attempt + 1
        ),
    }
}

fn moving(stop: &Stop, failure: &Failure, other: &Stop) -> String {
    let problem = problem(stop, failure);
    match (&stop.key, &other.key) {
        (Some(before), Some(after)) if stop.is_same_model(other) => {
            // Two profiles of a provider may be called the same.
            let after = if before.source == after.source {
                "another one"
            } else {
                &after.source
            };
            format!("{problem} with {}; going on with {after}", before.source)
        }
        _ => format!(
            "{problem}; {} answers instead of {}",
            other.name(),
            stop.name()
        ),
    }
}
