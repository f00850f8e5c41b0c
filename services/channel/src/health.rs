//! How the account's connection does: told to the gateway when it changes and
//! every 15 seconds, and to the service manager.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_daemon::Notifier;
use openclaw_proto::channel::{Connection, Health};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::link::Link;
use crate::spool::Spool;
use openclaw_daemon::configuration::now_ms;

/// The longest time between two reports.
const INTERVAL: Duration = Duration::from_secs(15);
/// The shortest: what changes with each message is told together.
const LEAST: Duration = Duration::from_millis(500);

/// So long after it was seen somebody else may still receive: other programs pause
/// between their attempts.
const ALONE: Duration = Duration::from_secs(60);

/// Where a provider writes how it does. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Board(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    health: Mutex<Health>,
    changed: Notify,
    /// When somebody else was last seen to receive.
    conflict: Mutex<Option<Instant>>,
}

impl Board {
    /// What stands on it.
    pub fn health(&self) -> Health {
        self.0
            .health
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The provider answered something, which says nothing of what comes in.
    pub fn answered(&self) {
        self.change(|health| health.last_contact_ms = now_ms());
    }

    /// The provider let the account in. Whether anything comes in is known later where
    /// it was to wait, or where somebody else receives.
    pub fn contact(&self) {
        match self.health().state {
            Connection::Waiting | Connection::Conflict => self.answered(),
            Connection::Connecting | Connection::Connected | Connection::Refused => self.receives(),
        }
    }

    /// What comes, comes in; a part of it, while somebody else was seen to receive.
    pub fn receives(&self) {
        if self.conflict().is_some_and(|seen| seen.elapsed() < ALONE) {
            return self.answered();
        }
        *self.conflict() = None;
        let mut before = Connection::Connected;
        self.change(|health| {
            before = std::mem::replace(&mut health.state, Connection::Connected);
            health.last_contact_ms = now_ms();
            health.last_error.clear();
            health.waiting_until_ms = 0;
        });
        // So that the log of a daemon that is well says so.
        if before != Connection::Connected {
            match self.health().identity.as_str() {
                "" => tracing::info!("connected"),
                identity => tracing::info!("connected as {identity}"),
            }
        }
    }

    /// The account's own name there.
    pub fn name(&self, identity: &str) {
        self.change(|health| identity.clone_into(&mut health.identity));
    }

    /// It speaks for another account there, of which nothing is known yet.
    pub fn begin_anew(&self) {
        self.change(|health| {
            *health = Health {
                notes: std::mem::take(&mut health.notes),
                ..Health::default()
            };
        });
        *self.conflict() = None;
    }

    /// What went wrong, with the way out.
    pub fn problem(&self, state: Connection, words: &str) {
        self.problem_until(state, words, 0);
    }

    /// The provider wants nothing for so long, and says why.
    pub fn waits(&self, time: Duration, words: &str) {
        let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.problem_until(Connection::Waiting, words, now_ms().saturating_add(time));
    }

    fn problem_until(&self, state: Connection, words: &str, until_ms: i64) {
        *self.conflict() = (state == Connection::Conflict).then(Instant::now);
        let is_news = self.health().last_error != words;
        self.change(|health| {
            health.state = state;
            words.clone_into(&mut health.last_error);
            health.last_error_ms = now_ms();
            health.waiting_until_ms = until_ms;
        });
        if is_news {
            tracing::warn!("{words}");
        }
    }

    /// More for people; takes the place of what was there.
    pub fn notes(&self, notes: Vec<String>) {
        self.change(|health| health.notes = notes);
    }

    fn conflict(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0
            .conflict
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what stands on it; what is told is told when it is something else.
    fn change(&self, change: impl FnOnce(&mut Health)) {
        let mut health = self.0.health.lock().unwrap_or_else(PoisonError::into_inner);
        let before = health.clone();
        change(&mut health);
        let mut compared = health.clone();
        compared.last_contact_ms = before.last_contact_ms;
        compared.last_error_ms = before.last_error_ms;
        if compared != before {
            self.0.changed.notify_one();
        }
    }

    /// One line for `systemctl status`.
    fn line(&self, backlog: u64) -> String {
        let health = self.health();
        let name = match health.identity.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        };
        let mut line = format!("{name}{}", health.state.as_str());
        if backlog > 0 {
            line.push_str(&format!(", {backlog} waiting for the gateway"));
        }
        if !health.last_error.is_empty() {
            line.push_str(&format!("; {}", health.last_error));
        }
        line
    }
}

/// Reports what stands on `board`. Never returns.
pub(crate) async fn report(board: Board, spool: Arc<Spool>, link: Link, notifier: Notifier) {
    loop {
        let backlog = spool.backlog() as u64;
        notifier.status(&board.line(backlog));
        let health = Health {
            backlog,
            ..board.health()
        };
        // The next report says the same or something newer.
        if let Err(error) = link
            .channels
            .report_health(link.account.clone(), health)
            .await
        {
            tracing::debug!(%error, "the gateway was not told how the account does");
        }
        tokio::time::sleep(LEAST).await;
        let _ = timeout(INTERVAL - LEAST, news(&board, &spool, backlog)).await;
    }
}

/// Waits for what is to be told after `backlog` was: that nothing waits any more, too.
async fn news(board: &Board, spool: &Spool, backlog: u64) {
    let emptied = async {
        if backlog == 0 {
            std::future::pending::<()>().await;
        }
        spool.drained().await;
    };
    tokio::select! {
        () = board.0.changed.notified() => {}
        () = emptied => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_says_what_is_wrong_until_it_is_not() {
        let board = Board::default();
        board.name("@bot");
        board.problem(Connection::Refused, "the token is not valid");
        assert_eq!(board.line(0), "@bot: refused; the token is not valid");
        board.contact();
        assert_eq!(board.line(3), "@bot: connected, 3 waiting for the gateway");
        // Of what comes in, only that says that it does.
        board.waits(Duration::from_secs(60), "Too Many Requests");
        board.answered();
        board.contact();
        assert_eq!(board.line(0), "@bot: waiting; Too Many Requests");
        let left = board.health().waiting_until_ms - now_ms();
        assert!((50_000..=60_000).contains(&left), "{left}");
        board.receives();
        assert_eq!(board.line(0), "@bot: connected");
        assert_eq!(board.health().waiting_until_ms, 0);
        board.notes(vec!["privacy mode is on".to_owned()]);
        board.begin_anew();
        assert_eq!(board.line(0), "connecting");
        assert_eq!(board.health().notes.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn board_tells_of_a_conflict_until_the_account_was_alone_for_a_minute() {
        let board = Board::default();
        board.contact();
        for _ in 0..3 {
            board.problem(Connection::Conflict, "somebody else polls");
            // The other program pauses, and what comes meanwhile comes in.
            board.contact();
            board.receives();
            tokio::time::advance(ALONE / 2).await;
            board.receives();
            assert_eq!(board.line(0), "conflict; somebody else polls");
        }
        tokio::time::advance(ALONE / 2).await;
        board.contact();
        assert_eq!(board.health().state, Connection::Conflict);
        board.receives();
        assert_eq!(board.line(0), "connected");
        // Another bot's conflict is not this one's.
        board.problem(Connection::Conflict, "somebody else polls");
        board.begin_anew();
        board.contact();
        assert_eq!(board.line(0), "connected");
    }

    #[tokio::test]
    async fn report_is_due_when_nothing_waits_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::open(folder.path()).unwrap());
        let update = |key: &str| crate::spool::Update {
            key: key.into(),
            raw: "{}".into(),
        };
        let both = vec![update("1"), update("2")];
        spool.append(both, Some("2".into())).unwrap();
        let waiting = {
            let spool = Arc::clone(&spool);
            tokio::spawn(async move {
                let reported = spool.backlog() as u64;
                timeout(INTERVAL, news(&Board::default(), &spool, reported)).await
            })
        };
        tokio::task::yield_now().await;
        spool.done(&["1".into()]);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "one waits still");
        spool.done(&["2".into()]);
        assert!(waiting.await.unwrap().is_ok());
        // What was reported as nothing is no news.
        let board = Board::default();
        let none = news(&board, &spool, 0);
        assert!(timeout(Duration::from_millis(10), none).await.is_err());
    }
}
