//! The approvals that wait, and those that were decided a moment ago.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_sessions::now_ms;
use serde_json::{Map, Value};
use tokio::sync::watch;
use uuid::Uuid;

use super::{Approval, Outcome, Refused};

/// Approvals that may wait. An agent waits for each, so more of them than turns
/// are somebody's mistake.
const WAITING_LIMIT: usize = 256;

/// The most waiting approvals of one run; its process lets no more wait.
const RUN_LIMIT: usize = 8;

/// The most waiting approvals of clients, so that turns always find a place.
const CLIENT_LIMIT: usize = 64;

/// The most decided approvals that are kept for late questions.
const DECIDED_LIMIT: usize = 1024;

/// How long a decision is kept for whoever asks late.
const KEPT: Duration = Duration::from_secs(60);

/// The approvals that wait, and those that were decided a moment ago. A client's
/// are not kept over a restart; a turn tells its own again.
#[derive(Debug, Default)]
pub struct Pending(Mutex<BTreeMap<String, Entry>>);

impl Pending {
    /// Enters a request; it waits for `patience`.
    pub(crate) fn request(
        &self,
        id: Option<String>,
        request: Map<String, Value>,
        patience: Duration,
    ) -> Result<Approval, Refused> {
        let now = now_ms();
        let approval = Approval {
            id: id.unwrap_or_else(|| Uuid::new_v4().to_string()),
            request,
            created_ms: now,
            expires_ms: now.saturating_add(i64::try_from(patience.as_millis()).unwrap_or(i64::MAX)),
            of_turn: None,
        };
        self.enter(approval.clone())?;
        Ok(approval)
    }

    /// Enters one that is made already.
    pub(crate) fn enter(&self, approval: Approval) -> Result<(), Refused> {
        let mut entries = self.lock();
        let now = now_ms();
        entries.retain(|_, entry| entry.is_of_interest(now));
        room_for(&approval, &entries, now)?;
        forget_decided(&mut entries);
        if entries.contains_key(&approval.id) {
            return Err(Refused::Taken(approval.id));
        }
        let id = approval.id.clone();
        let entry = Entry {
            approval,
            outcome: watch::Sender::new(None),
        };
        entries.insert(id, entry);
        Ok(())
    }

    /// The waiting approvals of a run.
    pub(crate) fn of_run(&self, run_id: &str) -> Vec<String> {
        let entries = self.lock();
        let is_of = |approval: &Approval| {
            let of_turn = approval.of_turn.as_ref();
            of_turn.is_some_and(|of_turn| of_turn.run_id == run_id)
        };
        let waiting = entries
            .values()
            .filter(|entry| entry.outcome.borrow().is_none());
        let own = waiting.filter(|entry| is_of(&entry.approval));
        own.map(|entry| entry.approval.id.clone()).collect()
    }

    /// The waiting approvals, the oldest first.
    pub fn waiting(&self) -> Vec<Approval> {
        let now = now_ms();
        let entries = self.lock();
        let waits = entries.values().filter(|entry| entry.waits(now));
        let mut waiting: Vec<Approval> = waits.map(|entry| entry.approval.clone()).collect();
        waiting.sort_by_key(|approval| approval.created_ms);
        waiting
    }

    /// The approval `id` if it waits. The beginning of an id is enough when it begins no other.
    pub fn find(&self, id: &str) -> Result<Approval, Refused> {
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

    /// Ends one; whoever waits is told. Two may decide at once, and the first
    /// one counts: it is given the approval.
    pub(crate) fn settle(&self, id: &str, outcome: Outcome) -> Option<Approval> {
        let entries = self.lock();
        let entry = entries.get(id)?;
        let first = entry.outcome.send_if_modified(|kept| {
            let first = kept.is_none();
            kept.get_or_insert((outcome, now_ms()));
            first
        });
        first.then(|| entry.approval.clone())
    }

    /// Waits until `id` has ended, however late; `None`: it is not known any more.
    pub(crate) async fn outcome(&self, id: &str) -> Option<Outcome> {
        let mut outcome = self.lock().get(id)?.outcome.subscribe();
        let ended = outcome.wait_for(Option::is_some).await.ok()?;
        ended.map(|(outcome, _)| outcome)
    }

    /// Waits for the decision about `id`.
    pub async fn wait(&self, id: &str) -> Result<(Approval, Outcome), Refused> {
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

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses one that is too many, altogether or of its kind.
fn room_for(
    approval: &Approval,
    entries: &BTreeMap<String, Entry>,
    now: i64,
) -> Result<(), Refused> {
    let waiting = || entries.values().filter(|entry| entry.waits(now));
    let run_id = |approval: &Approval| approval.of_turn.as_ref().map(|it| it.run_id.clone());
    let own = run_id(approval);
    let alike = waiting().filter(|entry| run_id(&entry.approval) == own);
    let limit = if own.is_some() {
        RUN_LIMIT
    } else {
        CLIENT_LIMIT
    };
    match (alike.count() >= limit, waiting().count() >= WAITING_LIMIT) {
        (true, _) => Err(Refused::TooMany(limit)),
        (_, true) => Err(Refused::TooMany(WAITING_LIMIT)),
        _ => Ok(()),
    }
}

/// Forgets the oldest decided one when there are too many of them.
fn forget_decided(entries: &mut BTreeMap<String, Entry>) {
    let ended = |entry: &Entry| entry.outcome.borrow().map(|(_, at_ms)| at_ms);
    let decided = entries
        .iter()
        .filter_map(|(id, entry)| Some((ended(entry)?, id)));
    let decided: Vec<(i64, &String)> = decided.collect();
    if decided.len() < DECIDED_LIMIT {
        return;
    }
    if let Some(oldest) = decided.into_iter().min().map(|(_, id)| id.clone()) {
        entries.remove(&oldest);
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

#[derive(Debug)]
struct Entry {
    approval: Approval,
    /// With the time it came.
    outcome: watch::Sender<Option<(Outcome, i64)>>,
}

#[cfg(test)]
mod tests {
    use super::super::PATIENCE;
    use openclaw_proto::approval::Decision;
    use serde_json::json;

    use super::*;

    fn command(text: &str) -> Map<String, Value> {
        Map::from_iter([("command".to_owned(), Value::from(text))])
    }

    #[tokio::test]
    async fn whoever_waits_is_told_the_first_decision() {
        let pending = Pending::default();
        let approval = pending.request(None, command("ls"), PATIENCE).unwrap();
        let waiting = pending.wait(&approval.id);
        let denied = Outcome::Decided(Decision::Deny);
        let deciding = async {
            let found = pending.find(&approval.id[..8]).unwrap();
            pending.settle(&found.id, denied)
        };
        let (waited, decided) = tokio::join!(waiting, deciding);
        assert_eq!(waited.unwrap().1, denied);
        assert_eq!(decided.unwrap().id, approval.id);
        assert!(pending.settle(&approval.id, Outcome::Expired).is_none());
        assert!(pending.waiting().is_empty());
    }

    #[tokio::test]
    async fn pending_nobody_decides_and_it_expires() {
        let pending = Pending::default();
        let short = Duration::from_millis(1);
        let approval = pending.request(None, command("ls"), short).unwrap();
        assert_eq!(
            pending.wait(&approval.id).await.unwrap().1,
            Outcome::Expired
        );
        assert_eq!(pending.wait("other").await.unwrap_err(), Refused::Unknown);
    }

    #[test]
    fn run_and_clients_have_places_of_their_own() {
        let pending = Pending::default();
        let of_run = |run: &str, number: usize| Approval {
            id: format!("{run}-{number}"),
            request: Map::new(),
            created_ms: 0,
            expires_ms: i64::MAX,
            of_turn: Some(openclaw_proto::approval::Approval {
                run_id: run.to_owned(),
                ..Default::default()
            }),
        };
        for number in 0..CLIENT_LIMIT {
            let request = command(&number.to_string());
            pending.request(None, request, PATIENCE).unwrap();
        }
        let refused = pending.request(None, command("x"), PATIENCE);
        assert_eq!(refused.unwrap_err(), Refused::TooMany(CLIENT_LIMIT));
        for number in 0..RUN_LIMIT {
            pending.enter(of_run("a", number)).unwrap();
        }
        let refused = pending.enter(of_run("a", RUN_LIMIT));
        assert_eq!(refused.unwrap_err(), Refused::TooMany(RUN_LIMIT));
        for number in 0..2 * DECIDED_LIMIT {
            let one = of_run("b", number);
            pending.enter(one.clone()).unwrap();
            pending.settle(&one.id, Outcome::Expired).unwrap();
        }
        let kept = pending.lock().len();
        assert!(kept <= DECIDED_LIMIT + CLIENT_LIMIT + RUN_LIMIT, "{kept}");
    }

    #[test]
    fn pending_what_the_request_excludes_cannot_be_decided() {
        let pending = Pending::default();
        let mut request = command("ls");
        request.insert("unavailableDecisions".to_owned(), json!(["allow-always"]));
        let approval = pending
            .request(Some("a".to_owned()), request, PATIENCE)
            .unwrap();
        assert!(!approval.allows(Decision::AllowAlways) && approval.allows(Decision::Deny));
        assert_eq!(
            approval.to_json()["request"]["allowedDecisions"],
            json!(["allow-once", "deny"])
        );
        assert_eq!(
            pending
                .request(Some("a".to_owned()), command("x"), PATIENCE)
                .unwrap_err(),
            Refused::Taken("a".to_owned())
        );
        assert_eq!(pending.waiting().len(), 1);
    }
}
