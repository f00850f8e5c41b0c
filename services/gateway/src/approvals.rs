//! Commands that wait until somebody allows them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_sessions::now_ms;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use uuid::Uuid;

/// How long an approval waits when nobody says otherwise, as in OpenClaw.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Approvals that may wait. An agent waits for each, so more of them than turns
/// are somebody's mistake.
const WAITING_LIMIT: usize = 256;

/// How long a decision is kept for whoever asks late.
const KEPT: Duration = Duration::from_secs(60);

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// This time.
    AllowOnce,
    /// This time, and from now on.
    AllowAlways,
    /// Not.
    Deny,
}

impl Decision {
    /// The decision's name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow-once",
            Self::AllowAlways => "allow-always",
            Self::Deny => "deny",
        }
    }

    /// The decision named `name`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::AllowOnce, Self::AllowAlways, Self::Deny]
            .into_iter()
            .find(|decision| decision.as_str() == name)
    }
}

/// Why there is no approval, or no decision about one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("unknown or expired approval id")]
    Unknown,
    #[error("{0} is not allowed for this approval")]
    NotAllowed(&'static str),
    #[error("{WAITING_LIMIT} approvals wait already")]
    TooMany,
    #[error("an approval with the id {0} waits already")]
    Taken(String),
}

/// Something that wants to be allowed.
#[derive(Debug, Clone)]
pub(crate) struct Approval {
    pub(crate) id: String,
    /// What clients are shown: command, cwd, session, run, …
    pub(crate) request: Map<String, Value>,
    pub(crate) created_ms: i64,
    pub(crate) expires_ms: i64,
}

#[derive(Debug)]
struct Entry {
    approval: Approval,
    /// With the time it came.
    outcome: watch::Sender<Option<(Outcome, i64)>>,
}

/// How an approval ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Decided(Decision),
    /// Nobody decided in time.
    Expired,
}

/// The approvals that wait, and those that were decided a moment ago. They are
/// not kept over a restart: the turns that wait for them are not either.
#[derive(Debug, Default)]
pub(crate) struct Approvals(Mutex<BTreeMap<String, Entry>>);

impl Approvals {
    /// Enters a request; it waits for `patience`.
    pub(crate) fn request(
        &self,
        id: Option<String>,
        request: Map<String, Value>,
        patience: Duration,
    ) -> Result<Approval, Refused> {
        let mut entries = self.lock();
        let now = now_ms();
        entries.retain(|_, entry| entry.is_of_interest(now));
        if entries.len() >= WAITING_LIMIT {
            return Err(Refused::TooMany);
        }
        let id = id.unwrap_or_else(|| Uuid::new_v4().to_string());
        if entries.contains_key(&id) {
            return Err(Refused::Taken(id));
        }
        let approval = Approval {
            id: id.clone(),
            request,
            created_ms: now,
            expires_ms: now.saturating_add(i64::try_from(patience.as_millis()).unwrap_or(i64::MAX)),
        };
        let entry = Entry {
            approval: approval.clone(),
            outcome: watch::Sender::new(None),
        };
        entries.insert(id, entry);
        Ok(approval)
    }

    /// Those that wait, the oldest first.
    pub(crate) fn waiting(&self) -> Vec<Approval> {
        let now = now_ms();
        let entries = self.lock();
        let waits = entries.values().filter(|entry| entry.waits(now));
        let mut waiting: Vec<Approval> = waits.map(|entry| entry.approval.clone()).collect();
        waiting.sort_by_key(|approval| approval.created_ms);
        waiting
    }

    /// The approval `id` if it waits. The beginning of an id is enough when it
    /// begins no other.
    pub(crate) fn find(&self, id: &str) -> Result<Approval, Refused> {
        let now = now_ms();
        let entries = self.lock();
        if let Some(entry) = entries.get(id) {
            let found = entry.waits(now).then(|| entry.approval.clone());
            return found.ok_or(Refused::Unknown);
        }
        let mut begin = entries
            .values()
            .filter(|it| it.waits(now) && !id.is_empty() && it.approval.id.starts_with(id));
        match (begin.next(), begin.next()) {
            (Some(entry), None) => Ok(entry.approval.clone()),
            _ => Err(Refused::Unknown),
        }
    }

    /// Decides; whoever waits is told.
    pub(crate) fn resolve(&self, id: &str, decision: Decision) -> Result<Approval, Refused> {
        let approval = self.find(id)?;
        if !approval.allows(decision) {
            return Err(Refused::NotAllowed(decision.as_str()));
        }
        let entries = self.lock();
        let entry = entries.get(&approval.id).ok_or(Refused::Unknown)?;
        // Two may decide at once, and the first one counts.
        let first = entry.outcome.send_if_modified(|outcome| {
            let first = outcome.is_none();
            outcome.get_or_insert((Outcome::Decided(decision), now_ms()));
            first
        });
        if first {
            Ok(approval)
        } else {
            Err(Refused::Unknown)
        }
    }

    /// Waits for the decision about `id`.
    pub(crate) async fn wait(&self, id: &str) -> Result<(Approval, Outcome), Refused> {
        let (approval, mut outcome) = {
            let entries = self.lock();
            let entry = entries.get(id).ok_or(Refused::Unknown)?;
            (entry.approval.clone(), entry.outcome.subscribe())
        };
        let left = u64::try_from(approval.expires_ms - now_ms()).unwrap_or_default();
        let decided = outcome.wait_for(Option::is_some);
        let decided = tokio::time::timeout(Duration::from_millis(left), decided).await;
        let outcome = match decided {
            Ok(Ok(outcome)) => outcome.map_or(Outcome::Expired, |(outcome, _)| outcome),
            _ => Outcome::Expired,
        };
        Ok((approval, outcome))
    }
}

impl Approvals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn waits(&self, now: i64) -> bool {
        self.outcome.borrow().is_none() && now < self.approval.expires_ms
    }

    fn is_of_interest(&self, now: i64) -> bool {
        let ended = *self.outcome.borrow();
        let ended_ms = ended.map_or(self.approval.expires_ms, |(_, at_ms)| at_ms);
        let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
        now < ended_ms.saturating_add(kept)
    }
}

impl Approval {
    /// Whether the request lets this be decided; all but what it excludes.
    fn allows(&self, decision: Decision) -> bool {
        let excluded = self.request.get("unavailableDecisions");
        let excluded = excluded.and_then(Value::as_array).into_iter().flatten();
        !excluded
            .into_iter()
            .any(|it| it.as_str() == Some(decision.as_str()))
    }

    /// As `exec.approval.requested` and `exec.approval.list` have it.
    pub(crate) fn to_json(&self) -> Value {
        let mut request = self.request.clone();
        let allowed: Vec<&str> = [Decision::AllowOnce, Decision::AllowAlways, Decision::Deny]
            .into_iter()
            .filter(|decision| self.allows(*decision))
            .map(Decision::as_str)
            .collect();
        request.insert("allowedDecisions".to_owned(), json!(allowed));
        json!({
            "approvalKind": "exec",
            "id": self.id,
            "request": request,
            "createdAtMs": self.created_ms,
            "expiresAtMs": self.expires_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Map<String, Value> {
        Map::from_iter([("command".to_owned(), Value::from(text))])
    }

    #[tokio::test]
    async fn whoever_waits_is_told_the_first_decision() {
        let approvals = Approvals::default();
        let approval = approvals.request(None, command("ls"), PATIENCE).unwrap();
        let waiting = approvals.wait(&approval.id);
        let deciding = async { approvals.resolve(&approval.id[..8], Decision::Deny) };
        let (waited, decided) = tokio::join!(waiting, deciding);
        assert_eq!(waited.unwrap().1, Outcome::Decided(Decision::Deny));
        assert_eq!(decided.unwrap().id, approval.id);
        assert_eq!(
            approvals
                .resolve(&approval.id, Decision::AllowOnce)
                .unwrap_err(),
            Refused::Unknown
        );
        assert!(approvals.waiting().is_empty());
    }

    #[tokio::test]
    async fn nobody_decides_and_it_expires() {
        let approvals = Approvals::default();
        let short = Duration::from_millis(1);
        let approval = approvals.request(None, command("ls"), short).unwrap();
        assert_eq!(
            approvals.wait(&approval.id).await.unwrap().1,
            Outcome::Expired
        );
        assert_eq!(approvals.wait("other").await.unwrap_err(), Refused::Unknown);
    }

    #[test]
    fn what_the_request_excludes_cannot_be_decided() {
        let approvals = Approvals::default();
        let mut request = command("ls");
        request.insert("unavailableDecisions".to_owned(), json!(["allow-always"]));
        let approval = approvals
            .request(Some("a".to_owned()), request, PATIENCE)
            .unwrap();
        assert_eq!(
            approvals.resolve("a", Decision::AllowAlways).unwrap_err(),
            Refused::NotAllowed("allow-always")
        );
        assert_eq!(
            approval.to_json()["request"]["allowedDecisions"],
            json!(["allow-once", "deny"])
        );
        assert_eq!(
            approvals
                .request(Some("a".to_owned()), command("x"), PATIENCE)
                .unwrap_err(),
            Refused::Taken("a".to_owned())
        );
        assert_eq!(approvals.waiting().len(), 1);
    }
}
