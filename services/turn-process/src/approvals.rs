//! Asking before a call of a turn runs. The turn's process asks through its events and hears the
//! answer through a file beside its spool, which the daemon writes: so neither a restart of the
//! daemon nor of the gateway loses a question or an answer.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_handoff::decisions::Decisions;
use openclaw_handoff::spool::Spool;
use openclaw_proto::approval::{ApprovalRequested, ApprovalResolved, Decision, Terms};
use openclaw_proto::event::Kind;
use openclaw_tools::approval::effect::TurnPaths;
use openclaw_tools::approval::{Grant, Rules, Verdict};
use openclaw_words as words;
use tokio::sync::oneshot;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::activity::Activity;
use crate::message_id;

mod behind;
mod question;

use behind::Behind;
pub(crate) use question::Question;
use question::{Asked, Judgement};

/// The time that is left of a turn when a question expires: enough for the model to say what was
/// not done.
const RESERVE: Duration = Duration::from_secs(20);

/// Bytes of a command that people are shown. A longer one shows its beginning
/// and its end, and cannot be allowed for good: nobody has read it.
const SHOWN_BYTES: usize = 16 * 1024;

/// Bytes of the name of a tool, of its call's, of where it runs, and of why somebody is asked:
/// all have words of the agent's in them. What runs in a place with a longer name cannot be
/// allowed for good either.
const WORDS_BYTES: usize = 1024;

/// Bytes of the longest path that the kernel takes (PATH_MAX without its end, limits.h(0p)).
const PATH_BYTES: usize = 4095;

/// Questions of one run that may wait at a time. Nobody reads more, and each
/// costs everybody who may answer a line.
const OPEN: usize = 8;

/// Questions of one run, altogether.
const QUESTIONS: usize = 1000;

/// The questions of one turn.
#[derive(Debug)]
pub(crate) struct Approvals {
    rules: Mutex<Rules>,
    ground: TurnPaths,
    /// How confined calls run.
    terms: Terms,
    patience: Duration,
    /// When the turn ends at the latest.
    end: Instant,
    spool: Arc<Spool>,
    decisions: Decisions,
    activity: Arc<Activity>,
    /// Places for questions that wait.
    open: Arc<Semaphore>,
    /// Number of questions so far.
    asked: AtomicUsize,
}

/// The immediate verdict on a call.
#[derive(Debug)]
pub(crate) enum Judged {
    /// It runs, or it does not: the error tells the model and the user why.
    Settled(Result<(), String>),
    /// Somebody has to be asked.
    Open(Box<Open>),
}

/// A question that has a place among those that wait.
#[derive(Debug)]
pub(crate) struct Open {
    request: ApprovalRequested,
    asked: Asked,
    grant: Grant,
    /// Why it cannot be allowed for good.
    only_once: Option<String>,
    /// The files that the command leads to.
    behind: Option<Behind>,
    _place: OwnedSemaphorePermit,
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
enum CannotAsk {
    #[error("write to {path}")]
    Decisions {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("write an event")]
    Spool(#[from] openclaw_handoff::spool::Refused),
    #[error("decisions cannot be read any more")]
    Unread(#[from] oneshot::error::RecvError),
}

impl Approvals {
    pub(crate) fn new(
        (rules, ground, terms): (Rules, TurnPaths, Terms),
        patience: Duration,
        end: Instant,
        spool: Arc<Spool>,
        decisions: PathBuf,
        activity: Arc<Activity>,
    ) -> Self {
        Self {
            rules: Mutex::new(rules),
            ground,
            terms,
            patience,
            end,
            spool,
            decisions: Decisions::new(decisions),
            activity,
            open: Arc::new(Semaphore::new(OPEN)),
            asked: AtomicUsize::new(0),
        }
    }

    /// Lets the call run, at once or when somebody allows it; the error tells the model and the
    /// user why not.
    pub(crate) async fn ask(&self, question: Question<'_>) -> Result<(), String> {
        match self.judge(&question) {
            Judged::Settled(settled) => settled,
            Judged::Open(open) => self.wait(*open).await,
        }
    }

    /// The same for a call about which somebody is asked in any case, unless it was
    /// allowed for good; `reason` says why.
    pub(crate) async fn ask_because(
        &self,
        question: Question<'_>,
        reason: String,
    ) -> Result<(), String> {
        let (is_granted, verdict, judgement) = {
            let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            let judgement = question.judge(&rules, &self.ground);
            let is_granted = rules.granted.contains(&judgement.grant);
            (is_granted, rules.asks(reason.clone()), judgement)
        };
        if is_granted {
            return Ok(());
        }
        if let Verdict::Refuse(why) = verdict {
            return Err(refusal(&why));
        }
        match self.opened(&question, judgement, &reason) {
            Judged::Settled(settled) => settled,
            Judged::Open(open) => self.wait(*open).await,
        }
    }

    /// Settles what needs nobody. What does has a place, or is refused because
    /// too many wait already.
    pub(crate) fn judge(&self, question: &Question<'_>) -> Judged {
        let judgement = {
            let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            question.judge(&rules, &self.ground)
        };
        let reason = match &judgement.verdict {
            Verdict::Run => return Judged::Settled(Ok(())),
            Verdict::Ask(reason) => reason.clone(),
            Verdict::Refuse(why) => return Judged::Settled(Err(refusal(why))),
        };
        self.opened(question, judgement, &reason)
    }

    /// A question with a place among those that wait, unless there is none.
    fn opened(&self, question: &Question<'_>, judgement: Judgement, reason: &str) -> Judged {
        let Ok(place) = Arc::clone(&self.open).try_acquire_owned() else {
            return Judged::Settled(Err(format!(
                "{OPEN} questions of this turn wait already; it was not run. Wait until they are \
                 decided"
            )));
        };
        if self.asked.fetch_add(1, Ordering::Relaxed) >= QUESTIONS {
            return Judged::Settled(Err(format!(
                "this turn has asked {QUESTIONS} times; it was not run. Say what you wanted to do"
            )));
        }
        if judgement.grant.directory.len() > PATH_BYTES {
            return Judged::Settled(Err(format!(
                "its working directory is longer than a path can be, {PATH_BYTES} bytes; it was not run"
            )));
        }
        let behind = match question.behind(&judgement) {
            Ok(behind) => behind,
            Err(why) => return Judged::Settled(Err(why)),
        };
        let (grant, kept) = (judgement.grant, judgement.only_once);
        let is_whole = grant.command.len() <= SHOWN_BYTES && grant.directory.len() <= WORDS_BYTES;
        let only_once = if is_whole {
            kept.clone().unwrap_or_default()
        } else {
            "it is not shown whole".to_owned()
        };
        let request = ApprovalRequested {
            id: Uuid::new_v4().to_string(),
            call_id: openclaw_escape::cut(question.call_id, WORDS_BYTES),
            tool: openclaw_escape::cut(question.tool, WORDS_BYTES),
            command: openclaw_escape::cut(&grant.command, SHOWN_BYTES),
            cwd: openclaw_escape::cut(&grant.directory, WORDS_BYTES),
            reason: openclaw_escape::cut(reason, WORDS_BYTES),
            expires_ms: 0,
            form: if only_once.is_empty() {
                grant.form.name().to_owned()
            } else {
                String::new()
            },
            only_once: openclaw_escape::cut(&only_once, WORDS_BYTES),
            terms: Some(self.terms.clone()),
        };
        Judged::Open(Box::new(Open {
            request,
            asked: question.into(),
            grant,
            only_once: kept,
            behind,
            _place: place,
        }))
    }

    /// Waits until somebody decides about it.
    pub(crate) async fn wait(&self, mut open: Open) -> Result<(), String> {
        let can_be_granted = !open.request.form.is_empty();
        let outcome = self.decision(std::mem::take(&mut open.request)).await;
        let (decision, by) = outcome.map_err(|error| {
            openclaw_daemon::failure::report("ask about a call", &error);
            let error = openclaw_daemon::failure::chain(&error);
            format!("nobody can be asked to allow it ({error}); it was not run")
        })?;
        let is_allowed = matches!(decision, Some(Decision::AllowOnce | Decision::AllowAlways));
        if is_allowed && let Some(changed) = self.changed_meanwhile(&open) {
            return Err(format!(
                "{changed} is not what it was when the user was asked; it was not run. Ask again"
            ));
        }
        match decision {
            Some(Decision::AllowOnce) => Ok(()),
            Some(Decision::AllowAlways) => {
                let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
                if can_be_granted && !rules.granted.contains(&open.grant) {
                    rules.granted.push(open.grant);
                }
                Ok(())
            }
            Some(Decision::Deny) => Err(format!(
                "the user denied it ({by}); it was not run. Do not try it another way; say what \
                 you wanted to do"
            )),
            None => Err(
                "nobody allowed it in time; it was not run. Say what you wanted to do; the user \
                 can allow it when asked again"
                    .to_owned(),
            ),
        }
    }

    /// What of a call is no longer what was asked about: a file that it leads to, or where it
    /// leads itself. The agent can put a link in the place of a folder meanwhile.
    fn changed_meanwhile(&self, open: &Open) -> Option<String> {
        if let Some(path) = open.behind.as_ref().and_then(Behind::changed) {
            return Some(path.display().to_string());
        }
        let now = {
            let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            open.asked.judge(&rules, &self.ground)
        };
        let is_same = now.grant == open.grant && now.only_once == open.only_once;
        (!is_same).then(|| "where it leads".to_owned())
    }

    fn log_question(&self, request: &ApprovalRequested) {
        const TEXT: &str = "a call waits to be allowed";
        let (tool, approval) = (&request.tool, &request.id);
        let message_id = message_id::APPROVAL_REQUESTED;
        if self.activity.log.takes_line() {
            tracing::info!(openclaw_tool = %tool, message_id, %approval, "{TEXT}: {tool}");
        } else {
            tracing::debug!(openclaw_tool = %tool, message_id, %approval, "{TEXT}: {tool}");
        }
    }

    fn log_decision(&self, approval: &str, decided: &str) {
        const TEXT: &str = "a call was decided about";
        let message_id = message_id::APPROVAL_RESOLVED;
        if self.activity.log.takes_line() {
            tracing::info!(message_id, approval, "{TEXT}: {decided}");
        } else {
            tracing::debug!(message_id, approval, "{TEXT}: {decided}");
        }
    }

    /// Asks and waits. The question is in the spool before anybody can answer.
    async fn decision(
        &self,
        mut request: ApprovalRequested,
    ) -> Result<(Option<Decision>, String), CannotAsk> {
        let now = Instant::now();
        let end = self.end.checked_sub(RESERVE).unwrap_or(now);
        let expires = (now + self.patience).min(end).max(now);
        let id = request.id.clone();
        let expected = self.decisions.expect(&id);
        let expected = expected.map_err(|source| CannotAsk::Decisions {
            path: self.decisions.path().to_owned(),
            source,
        })?;
        let _forget = Forget(&self.decisions, &id);
        let left = i64::try_from((expires - now).as_millis()).unwrap_or(i64::MAX);
        request.expires_ms = jiff::Timestamp::now().as_millisecond().saturating_add(left);
        self.log_question(&request);
        self.spool
            .push(Kind::ApprovalRequested(Box::new(request)))?;
        self.activity.quiet_until(expires);
        let decided = timeout_at(expires, expected).await;
        self.activity.quiet_until(Instant::now());
        let (decision, by) = match decided {
            Ok(decided) => decided.map(|decided| (Some(decided.decision), decided.by))?,
            Err(_) => (None, String::new()),
        };
        let waited = words::elapsed(now.elapsed());
        let decided = decision.map_or("expired", Decision::as_str);
        let who = if by.is_empty() { "nobody" } else { &by };
        self.log_decision(&id, &format!("{decided} by {who} after {waited}"));
        self.spool.push(Kind::ApprovalResolved(ApprovalResolved {
            id: id.clone(),
            decision,
            by: by.clone(),
        }))?;
        Ok((decision, by))
    }
}

/// Ends the waiting for a decision, however that ends.
struct Forget<'a>(&'a Decisions, &'a str);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// The answer to an agent for a call that nobody is asked about.
fn refusal(why: &str) -> String {
    format!(
        "it was not run: {why}. Only what tools.exec.allowlist names runs here, and nobody is \
         asked (tools.exec.ask is off, or tools.exec.mode is allowlist). Do not try it another \
         way; say what you wanted to do"
    )
}

#[cfg(test)]
mod tests;
