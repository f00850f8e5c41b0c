//! How fast Telegram may be called: one message a second in a chat, 20 a minute in
//! a group, 30 a second in all, and nothing before a time that it named. Edits
//! count. Where somebody said stop, that is confirmed in the short burst that
//! Telegram allows, and what comes after it waits the longer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Between two messages in a chat.
const BETWEEN: Duration = Duration::from_secs(1);
/// The time in which a group takes so many.
const MINUTE: Duration = Duration::from_secs(60);
const IN_GROUP: usize = 20;
/// Of these, how many stay for what must be said: edits that only show how it goes
/// on take no more.
const ROOM: usize = 6;
/// How long a chat in which somebody said stop waits for nothing but that to be
/// confirmed.
const STOPPING: Duration = Duration::from_secs(5);
/// What may be said there meanwhile without a pause: the end of what was stopped,
/// and that it was.
const BURST: usize = 4;
/// In all, in a second.
const IN_ALL: usize = 30;
/// Of these, how many stay for what must be said.
const ROOM_IN_ALL: usize = 10;

/// When what may be sent.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    state: Mutex<State>,
    /// Somebody said stop.
    hurried: Notify,
}

#[derive(Debug, Default)]
struct State {
    chats: HashMap<String, Chat>,
    all: VecDeque<Instant>,
}

#[derive(Debug)]
struct Chat {
    next: Instant,
    blocked: Instant,
    minute: VecDeque<Instant>,
    /// Until when a stop is to be confirmed there, and how much may be said without
    /// a pause until then.
    hurry: Option<(Instant, usize)>,
}

impl Chat {
    /// What of its burst is left, while a stop is to be confirmed.
    fn burst(&mut self, now: Instant) -> Option<&mut usize> {
        let (until, left) = self.hurry.as_mut()?;
        (now < *until).then_some(left)
    }
}

impl Pace {
    /// Waits until a message may be sent to `chat`; an error says how long that
    /// takes when it is longer than `patience`.
    pub(crate) async fn turn(&self, chat: &str, patience: Duration) -> Result<(), Duration> {
        let now = Instant::now();
        let mut at = {
            let mut state = self.state();
            let at = state.free(chat, now, 0);
            if at > now + patience {
                return Err(at - now);
            }
            state.take(chat, at);
            at
        };
        tokio::select! {
            () = sleep_until(at) => {}
            () = self.burst(chat), if at > now => at = Instant::now(),
        }
        loop {
            sleep_until(at).await;
            // Something else that was said there may have been refused meanwhile.
            let now = Instant::now();
            at = self.state().chat(chat, now).blocked;
            if at <= now {
                return Ok(());
            }
            if at > now + patience {
                return Err(at - now);
            }
        }
    }

    /// Waits until something that has a later turn may be sent to `chat` before
    /// that: somebody says stop there.
    async fn burst(&self, chat: &str) {
        loop {
            let hurried = self.hurried.notified();
            if self.state().burst(chat, Instant::now()) {
                return;
            }
            hurried.await;
        }
    }

    /// Somebody said stop in `chat`, and is to hear soon that it was heard: what
    /// must be said there waits for no pause for a while, and what may be left out
    /// is.
    pub(crate) fn hurry(&self, chat: &str) {
        {
            let mut state = self.state();
            let now = Instant::now();
            let chat = state.chat(chat, now);
            let left = chat.burst(now).map_or(BURST, |left| *left);
            chat.hurry = Some((now + STOPPING, left));
        }
        self.hurried.notify_waiters();
    }

    /// Whether something that may be left out may be sent to `chat` now; it counts
    /// as sent then.
    pub(crate) fn try_turn(&self, chat: &str) -> bool {
        let mut state = self.state();
        let now = Instant::now();
        let is_free =
            state.free(chat, now, ROOM) <= now && state.chat(chat, now).burst(now).is_none();
        if is_free {
            state.take(chat, now);
        }
        is_free
    }

    /// Telegram wants nothing for `chat` before that long.
    pub(crate) fn block(&self, chat: &str, time: Duration) {
        let mut state = self.state();
        let now = Instant::now();
        let chat = state.chat(chat, now);
        chat.blocked = chat.blocked.max(now + time);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn chat(&mut self, chat: &str, now: Instant) -> &mut Chat {
        self.chats.entry(chat.to_owned()).or_insert_with(|| Chat {
            next: now,
            blocked: now,
            minute: VecDeque::new(),
            hurry: None,
        })
    }

    /// When the next one may be sent, with `room` left.
    fn free(&mut self, chat: &str, now: Instant, room: usize) -> Instant {
        let allowed = self.allowed(chat, now, room);
        self.chat(chat, now).next.max(allowed)
    }

    /// Takes a place of the burst in `chat`, if there is one.
    fn burst(&mut self, chat: &str, now: Instant) -> bool {
        let is_allowed = self.allowed(chat, now, 0) <= now;
        match self.chat(chat, now).burst(now) {
            Some(left) if is_allowed && *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// When the next one may be sent in a burst.
    fn allowed(&mut self, chat: &str, now: Instant, room: usize) -> Instant {
        self.forget(now);
        // As Telegram numbers them.
        let is_group = chat.starts_with('-') || chat.starts_with('@');
        let in_all = if room == 0 {
            IN_ALL
        } else {
            IN_ALL - ROOM_IN_ALL
        };
        let all = nth_before(&self.all, in_all).map(|it| it + Duration::from_secs(1));
        let chat = self.chat(chat, now);
        let mut at = chat.blocked.max(now);
        at = at.max(all.unwrap_or(now));
        if is_group && let Some(oldest) = nth_before(&chat.minute, IN_GROUP - room) {
            at = at.max(oldest + MINUTE);
        }
        at
    }

    fn take(&mut self, chat: &str, at: Instant) {
        self.all.push_back(at);
        let chat = self.chat(chat, at);
        chat.next = at + BETWEEN;
        chat.minute.push_back(at);
    }

    fn forget(&mut self, now: Instant) {
        while self
            .all
            .front()
            .is_some_and(|at| *at + Duration::from_secs(1) < now)
        {
            self.all.pop_front();
        }
        self.chats.retain(|_, chat| {
            while chat.minute.front().is_some_and(|at| *at + MINUTE < now) {
                chat.minute.pop_front();
            }
            let is_hurried = chat.burst(now).is_some();
            !chat.minute.is_empty() || chat.next > now || chat.blocked > now || is_hurried
        });
    }
}

/// Of the times, the one that must be over before the next when `count` may be at
/// a time.
fn nth_before(times: &VecDeque<Instant>, count: usize) -> Option<Instant> {
    let index = times.len().checked_sub(count)?;
    times.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pace_keeps_telegrams_limits() {
        let pace = Pace::default();
        let begin = Instant::now();
        let long = Duration::from_secs(600);
        for _ in 0..3 {
            pace.turn("7", long).await.unwrap();
        }
        assert_eq!(begin.elapsed().as_secs(), 2);
        for _ in 0..21 {
            pace.turn("-7", long).await.unwrap();
        }
        assert!(begin.elapsed() >= MINUTE, "{:?}", begin.elapsed());
        let begin = Instant::now();
        for chat in 0..61 {
            pace.turn(&format!("1{chat}"), long).await.unwrap();
        }
        assert!(
            (1..=3).contains(&begin.elapsed().as_secs()),
            "{:?}",
            begin.elapsed()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn pace_keeps_room_for_what_must_be_said() {
        let pace = Pace::default();
        let mut shown = 0;
        for _ in 0..50 {
            shown += usize::from(pace.try_turn("-7"));
            tokio::time::advance(BETWEEN).await;
        }
        assert_eq!(shown, IN_GROUP - ROOM);
        pace.turn("-7", Duration::ZERO).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn pace_lets_the_confirmation_of_a_stop_wait_for_no_pause() {
        let pace = Pace::default();
        let long = Duration::from_secs(600);
        let begin = Instant::now();
        pace.turn("7", long).await.unwrap();
        // What waits for its turn already is hurried too.
        let stop = async { pace.hurry("7") };
        let (waited, ()) = tokio::join!(pace.turn("7", long), stop);
        waited.unwrap();
        for _ in 1..BURST {
            pace.turn("7", long).await.unwrap();
        }
        assert_eq!(begin.elapsed(), Duration::ZERO);
        assert!(!pace.try_turn("7"), "nothing else is shown");
        // The pauses are made up for, and no second burst comes with a second stop.
        pace.hurry("7");
        pace.turn("7", long).await.unwrap();
        assert_eq!(begin.elapsed().as_secs(), BURST as u64 + 1);
        // Whatever Telegram forbids stays forbidden.
        pace.hurry("8");
        pace.block("8", Duration::from_secs(3));
        let begin = Instant::now();
        pace.turn("8", long).await.unwrap();
        assert_eq!(begin.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn pace_waits_for_the_time_that_telegram_names() {
        let pace = Pace::default();
        pace.block("7", Duration::from_secs(130));
        let long = pace.turn("7", Duration::from_secs(5)).await.unwrap_err();
        assert_eq!(long.as_secs(), 130);
        assert!(!pace.try_turn("7") && pace.try_turn("8"));
        // Also of what waits for its turn already.
        let begin = Instant::now();
        pace.turn("9", BETWEEN).await.unwrap();
        let refused = async { pace.block("9", Duration::from_secs(3)) };
        let (waited, ()) = tokio::join!(pace.turn("9", MINUTE), refused);
        waited.unwrap();
        assert_eq!(begin.elapsed().as_secs(), 3);
    }
}
