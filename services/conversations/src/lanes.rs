//! Lanes: one turn at a time per session, and so many over all sessions.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_sessions::SessionKey;
use tokio::sync::oneshot;

/// Messages that may wait in one session. People do not write more before they
/// read an answer; programs that do are told.
const WAITING_LIMIT: usize = 64;

/// Lanes: which run may have its turn.
#[derive(Debug, Clone)]
pub struct Lanes(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Turns that may run at once.
    cap: usize,
    running: usize,
    next_number: u64,
    sessions: BTreeMap<SessionKey, VecDeque<Place>>,
    /// Sessions whose first place waits for one of the `cap`.
    ready: VecDeque<SessionKey>,
}

#[derive(Debug)]
struct Place {
    number: u64,
    run_id: String,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Others of its session are before it, or all turns are taken.
    Waiting(oneshot::Sender<()>),
    Running,
}

/// A place in a session's lane, in the order of [`Lanes::enter`]. Dropping it lets the next one in.
#[derive(Debug)]
pub struct Ticket {
    lanes: Lanes,
    key: SessionKey,
    number: u64,
    turn: oneshot::Receiver<()>,
}

/// Too many messages wait in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{WAITING_LIMIT} messages wait in this session already; wait for an answer")]
pub struct Crowded;

impl Lanes {
    /// Lanes in which at most `cap` turns run at once, over all sessions.
    pub fn new(cap: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            cap,
            ..State::default()
        })))
    }

    /// Changes how many turns may run at once. Running ones go on.
    pub fn set_cap(&self, cap: usize) {
        let mut state = self.lock();
        state.cap = cap;
        state.admit();
    }

    /// Takes a place behind those that are in the session's lane.
    pub fn enter(&self, key: &SessionKey, run_id: &str) -> Result<Ticket, Crowded> {
        let mut state = self.lock();
        let number = state.next_number;
        let lane = state.sessions.entry(key.clone()).or_default();
        if lane.len() > WAITING_LIMIT {
            return Err(Crowded);
        }
        let (sender, turn) = oneshot::channel();
        lane.push_back(Place {
            number,
            run_id: run_id.to_owned(),
            stage: Stage::Waiting(sender),
        });
        let first = lane.len() == 1;
        state.next_number += 1;
        if first {
            state.ready.push_back(key.clone());
            state.admit();
        }
        drop(state);
        Ok(Ticket {
            lanes: self.clone(),
            key: key.clone(),
            number,
            turn,
        })
    }

    /// The runs in a session's lane: they have no answer yet.
    pub fn runs(&self, key: &SessionKey) -> HashSet<String> {
        let state = self.lock();
        let lane = state.sessions.get(key).into_iter().flatten();
        lane.map(|place| place.run_id.clone()).collect()
    }

    /// Whether no run of the session was before this one.
    pub fn is_first(&self, key: &SessionKey, run_id: &str) -> bool {
        let state = self.lock();
        let first = state.sessions.get(key).and_then(VecDeque::front);
        first.is_none_or(|place| place.run_id == run_id)
    }

    /// The run whose turn it is in the session.
    pub fn running(&self, key: &SessionKey) -> Option<String> {
        let state = self.lock();
        let first = state.sessions.get(key)?.front()?;
        matches!(first.stage, Stage::Running).then(|| first.run_id.clone())
    }

    /// The runs that wait in a session's lane, in their order.
    pub fn waiting(&self, key: &SessionKey) -> Vec<String> {
        let state = self.lock();
        let lane = state.sessions.get(key).into_iter().flatten();
        let waits = lane.filter(|place| matches!(place.stage, Stage::Waiting(_)));
        waits.map(|place| place.run_id.clone()).collect()
    }

    /// The keys of the sessions in which a turn runs or waits.
    pub fn keys(&self) -> HashSet<String> {
        self.lock()
            .sessions
            .keys()
            .map(SessionKey::to_string)
            .collect()
    }

    /// Turns running and turns waiting.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        let all: usize = state.sessions.values().map(VecDeque::len).sum();
        (state.running, all - state.running)
    }

    fn leave(&self, key: &SessionKey, number: u64) {
        let mut state = self.lock();
        let Some(lane) = state.sessions.get_mut(key) else {
            return;
        };
        let Some(at) = lane.iter().position(|place| place.number == number) else {
            return;
        };
        let place = lane.remove(at);
        let next = lane.front().is_some();
        if !next {
            state.sessions.remove(key);
        }
        if matches!(
            place,
            Some(Place {
                stage: Stage::Running,
                ..
            })
        ) {
            state.running -= 1;
        }
        if at == 0 {
            state.ready.retain(|ready| ready != key);
            if next {
                state.ready.push_back(key.clone());
            }
        }
        state.admit();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn admit(&mut self) {
        while self.running < self.cap {
            let Some(key) = self.ready.pop_front() else {
                return;
            };
            let Some(place) = self.sessions.get_mut(&key).and_then(VecDeque::front_mut) else {
                continue;
            };
            // Counted whether or not somebody waits: the ticket gives it back.
            if let Stage::Waiting(turn) = std::mem::replace(&mut place.stage, Stage::Running) {
                let _ = turn.send(());
            }
            self.running += 1;
        }
    }
}

impl Ticket {
    /// Waits until the turn may run.
    pub async fn turn(&mut self) {
        // An error would mean that the place is gone, and it is ours.
        let _ = (&mut self.turn).await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.lanes.leave(&self.key, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_sessions::AgentId;
    use proptest::prelude::*;

    fn key(name: &str) -> SessionKey {
        SessionKey::parse(name, &AgentId::main()).unwrap()
    }

    fn may_run(ticket: &mut Ticket) -> bool {
        !matches!(
            ticket.turn.try_recv(),
            Err(oneshot::error::TryRecvError::Empty)
        )
    }

    #[test]
    fn session_has_one_turn_at_a_time_in_order() {
        let lanes = Lanes::new(8);
        let mut tickets: Vec<_> = ["1", "2", "3"]
            .map(|run| lanes.enter(&key("a"), run).unwrap())
            .into();
        let mut other = lanes.enter(&key("b"), "4").unwrap();
        assert!(may_run(&mut other));
        assert_eq!(lanes.counts(), (2, 2));
        assert_eq!(lanes.runs(&key("a")).len(), 3);
        assert!(may_run(&mut tickets[0]));
        assert!(!may_run(&mut tickets[1]));
        drop(tickets.remove(1));
        assert!(
            !may_run(&mut tickets[1]),
            "leaving the queue lets nobody in"
        );
        drop(tickets.remove(0));
        assert!(may_run(&mut tickets[0]));
        drop((tickets, other));
        assert_eq!(lanes.counts(), (0, 0));
        assert!(
            lanes.lock().sessions.is_empty(),
            "an empty lane stays in memory"
        );
    }

    #[test]
    fn cap_holds_over_all_sessions_and_can_change() {
        let lanes = Lanes::new(1);
        let first = lanes.enter(&key("a"), "1").unwrap();
        let mut second = lanes.enter(&key("b"), "2").unwrap();
        let mut third = lanes.enter(&key("c"), "3").unwrap();
        assert!(!may_run(&mut second));
        lanes.set_cap(2);
        assert!(may_run(&mut second));
        assert!(!may_run(&mut third));
        drop(first);
        assert!(may_run(&mut third));
    }

    #[test]
    fn session_takes_so_many_messages() {
        let lanes = Lanes::new(1);
        let tickets: Vec<_> = (0..=WAITING_LIMIT)
            .map(|n| lanes.enter(&key("a"), &n.to_string()).unwrap())
            .collect();
        assert_eq!(lanes.enter(&key("a"), "more").unwrap_err(), Crowded);
        assert!(lanes.enter(&key("b"), "other").is_ok());
        drop(tickets);
        assert!(lanes.enter(&key("a"), "later").is_ok());
    }

    proptest! {
        /// Whatever the order of coming and going: never more than the cap,
        /// never two of one session, and somebody runs when anybody waits.
        #[test]
        fn lanes_nobody_is_lost(cap in 1usize..4, steps in proptest::collection::vec((0usize..4, any::<bool>()), 1..60)) {
            let lanes = Lanes::new(cap);
            let mut tickets: Vec<Vec<(Ticket, bool)>> = (0..4).map(|_| Vec::new()).collect();
            for (session, enter) in steps {
                if enter {
                    let ticket = lanes.enter(&key(&format!("s{session}")), "r").unwrap();
                    tickets[session].push((ticket, false));
                } else if !tickets[session].is_empty() {
                    let place = tickets[session].len() / 2;
                    drop(tickets[session].remove(place));
                }
                for (ticket, running) in tickets.iter_mut().flatten() {
                    *running = *running || may_run(ticket);
                }
                let running: usize = tickets.iter().flatten().filter(|(_, running)| *running).count();
                let sessions = tickets.iter().filter(|lane| !lane.is_empty()).count();
                prop_assert_eq!(running, sessions.min(cap));
                prop_assert_eq!(lanes.counts().0, running);
                for lane in &tickets {
                    prop_assert!(lane.iter().skip(1).all(|(_, running)| !*running));
                }
            }
        }
    }
}
