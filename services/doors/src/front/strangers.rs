//! Connections that have not shown yet that they may come in.
//!
//! Whoever comes has a place: where all are taken, the one goes that has had its place longest.
//! Otherwise somebody without a token, another user of the machine or a page in a browser, would keep
//! everybody out by taking all of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// The places. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Strangers {
    limit: usize,
    places: Arc<Mutex<Places>>,
}

#[derive(Debug, Default)]
struct Places {
    /// Those that are taken, the oldest first.
    taken: VecDeque<(u64, CancellationToken)>,
    /// The number of the next one.
    next: u64,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Stranger {
    all: Strangers,
    number: u64,
    turned_away: CancellationToken,
}

/// Whether a connection is still a stranger's. Cheap to clone: what is known of one copy is of all.
#[derive(Debug, Clone, Default)]
pub struct Admission(Arc<Mutex<Option<Stranger>>>);

impl Admission {
    /// A stranger's.
    #[must_use]
    pub fn of(stranger: Stranger) -> Self {
        Self(Arc::new(Mutex::new(Some(stranger))))
    }

    /// Gives the stranger's place back: the connection is somebody's who may come in, or
    /// is counted elsewhere.
    pub fn is_known(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Strangers {
    /// So many places.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            places: Arc::default(),
        }
    }

    /// A place, which the oldest gives up where there is none.
    #[must_use]
    pub fn enter(&self) -> Stranger {
        let mut places = self.lock();
        while places.taken.len() >= self.limit {
            let Some((_, oldest)) = places.taken.pop_front() else {
                break;
            };
            oldest.cancel();
        }
        let number = places.next;
        places.next += 1;
        let turned_away = CancellationToken::new();
        places.taken.push_back((number, turned_away.clone()));
        Stranger {
            all: self.clone(),
            number,
            turned_away,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stranger {
    /// Is cancelled when somebody else needs the place.
    #[must_use]
    pub fn turned_away(&self) -> CancellationToken {
        self.turned_away.clone()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut places = self.all.lock();
        places.taken.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_give_up_the_place_that_was_held_longest() {
        const LIMIT: usize = 8;
        let strangers = Strangers::new(LIMIT);
        let mut all: Vec<_> = (0..LIMIT).map(|_| strangers.enter()).collect();
        let is_away = |stranger: &Stranger| stranger.turned_away().is_cancelled();
        assert!(!all.iter().any(is_away));
        let newest = strangers.enter();
        assert!(is_away(&all[0]) && !is_away(&all[1]) && !is_away(&newest));
        // A place that is given back is taken from nobody.
        let admission = Admission::of(all.remove(1));
        admission.clone().is_known();
        let next = strangers.enter();
        assert!(!all[1..].iter().any(is_away) && !is_away(&next));
        drop((newest, next, all, admission));
        assert!(strangers.lock().taken.is_empty());
    }
}
