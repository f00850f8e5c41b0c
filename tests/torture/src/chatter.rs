//! Somebody on Telegram: says one thing after the other and waits for each answer.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use telegram_double::{BOT, Double};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::errand::{Errand, PER_SESSION};
use crate::plan::Plan;
use crate::record::{Record, Said};

/// The longest a message may take to be answered while everything is killed
/// again and again.
const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) struct Chatter {
    pub(crate) double: Arc<Double>,
    pub(crate) plan: Plan,
    pub(crate) number: usize,
    pub(crate) record: Arc<Record>,
    pub(crate) stopped: watch::Receiver<bool>,
}

impl Chatter {
    pub(crate) async fn talk(mut self) {
        let seed = self.plan.seed;
        let mut dice = Rng::with_seed(seed.wrapping_add(1 + self.number as u64));
        for number in 0.. {
            let rest = self.plan.rest.mul_f64(dice.f64());
            tokio::select! {
                () = sleep(rest) => {}
                _ = self.stopped.wait_for(|stopped| *stopped) => return,
            }
            if *self.stopped.borrow() {
                return;
            }
            let errand = Errand::draw(&mut dice, seed, self.number, number);
            self.say(errand, number / PER_SESSION).await;
        }
    }

    /// Says it, and waits until it is answered.
    async fn say(&self, errand: Errand, session: usize) {
        let chat = 1 + self.number + self.plan.talkers * session;
        let chat = i64::try_from(chat).unwrap_or(i64::MAX);
        let update = self.double.say(chat, &errand.text);
        let answer = errand.answer.clone();
        let key = errand.key.clone();
        let said = Said { chat, errand };
        let name = format!("telegram::{BOT}:{update}");
        self.record.open().said.insert(name, said);
        let answered = self.double.wait(|double| {
            let said = double.sent_to(chat);
            said.iter().any(|it| it.text == answer)
        });
        if timeout(DEADLINE, answered).await.is_err() {
            self.record
                .wrong(format!("{key}: not answered within {DEADLINE:?}"));
        }
    }
}
