//! Sends one message after the other and hears every answer to its end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::{self, Accepted, Reply};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_stream::{Stream, StreamExt as _};

use crate::errand::Errand;
use crate::plan::Plan;
use crate::record::{Message, Record};
use crate::running_suite::RunningSuite;

/// The longest a message may take to be answered while everything is killed
/// again and again; without that it takes a second.
const DEADLINE: Duration = Duration::from_secs(90);
/// Between two attempts to reach the gateway.
const PAUSE: Duration = Duration::from_millis(10);

type Replies = Pin<Box<dyn Stream<Item = Result<Reply, CallError>> + Send>>;

pub(crate) struct Talker {
    client: gateway::Client,
    agent: String,
    seed: u64,
    number: usize,
    dice: Rng,
    record: Arc<Record>,
    stopped: watch::Receiver<bool>,
}

/// What was heard of a run.
#[derive(Default)]
struct Heard {
    run_id: Option<String>,
    seq: u64,
    text: String,
    broke_at: Option<Instant>,
    broke: bool,
    outcome: Option<Kind>,
}

impl Talker {
    pub(crate) fn new(
        suite: &RunningSuite,
        plan: &Plan,
        number: usize,
        record: Arc<Record>,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        Self {
            client: suite.gateway(),
            agent: suite.agent.clone(),
            seed: plan.seed,
            number,
            // Another sequence than that of the kills and the other talkers.
            dice: Rng::with_seed(plan.seed.wrapping_add(1 + number as u64)),
            record,
            stopped,
        }
    }

    pub(crate) async fn talk(mut self) {
        for number in 0.. {
            if *self.stopped.borrow() {
                return;
            }
            let errand = Errand::draw(&mut self.dice, self.seed, self.number, number);
            let mut heard = Heard::default();
            if timeout(DEADLINE, self.run(&errand, &mut heard))
                .await
                .is_err()
            {
                let what = match &heard.run_id {
                    Some(run_id) => format!("run {run_id} did not end"),
                    None => "it was not accepted".to_owned(),
                };
                self.record
                    .wrong(format!("{}: {what} within {DEADLINE:?}", errand.key));
            }
        }
    }

    async fn run(&mut self, errand: &Errand, heard: &mut Heard) {
        while heard.outcome.is_none() {
            let Err(error) = self.listen(errand, heard).await else {
                break;
            };
            if let Some(RefusalCode::NotFound | RefusalCode::InvalidArgument) = error.code() {
                let what = format!("{}: refused: {error:?}", errand.key);
                return self.record.wrong(what);
            }
            heard.broke = true;
            heard.broke_at.get_or_insert_with(Instant::now);
            sleep(PAUSE).await;
        }
        self.judge(errand, heard).await;
    }

    /// Hears until the run ends or the stream breaks.
    async fn listen(&mut self, errand: &Errand, heard: &mut Heard) -> Result<(), CallError> {
        let mut replies = self.open(errand, heard).await?;
        while let Some(reply) = replies.next().await {
            let reply = reply?;
            if let Some(at) = heard.broke_at.take() {
                self.record.open().gaps.push(at.elapsed());
            }
            match reply {
                Reply::Accepted(accepted, ..) => self.accepted(errand, heard, accepted),
                Reply::Event(event) => heard.take(event),
            }
            if heard.outcome.is_some() {
                return Ok(());
            }
        }
        Err(CallError::cut_off())
    }

    /// The first time, and sometimes again, the message; else the rest of the
    /// run.
    async fn open(&mut self, errand: &Errand, heard: &mut Heard) -> Result<Replies, CallError> {
        match heard.run_id.clone().filter(|_| self.dice.bool()) {
            Some(run_id) => {
                let events = self.client.attach(&run_id, heard.seq + 1).await?;
                Ok(Box::pin(events.map(|event| event.map(Reply::Event))))
            }
            None => {
                let message = gateway::Message {
                    text: errand.text.clone(),
                    session_key: errand.session.clone(),
                    agent_id: self.agent.clone(),
                    idempotency_key: errand.key.clone(),
                    channel: "torture".to_owned(),
                    ..gateway::Message::default()
                };
                let replies = self.client.send_message(message).await?;
                heard.seq = 0;
                heard.text.clear();
                Ok(Box::pin(replies))
            }
        }
    }

    fn accepted(&self, errand: &Errand, heard: &mut Heard, accepted: Accepted) {
        let Accepted {
            run_id,
            session_key,
            ..
        } = accepted;
        match &heard.run_id {
            Some(known) if *known != run_id => self.record.wrong(format!(
                "{}: accepted as run {known} and again as run {run_id}",
                errand.key
            )),
            Some(_) => {}
            None => {
                let message = Message {
                    errand: errand.clone(),
                    run_id: run_id.clone(),
                    session_key,
                    outcome: None,
                };
                let mut pages = self.record.open();
                pages.messages.insert(errand.key.clone(), message);
                heard.run_id = Some(run_id);
            }
        }
    }

    /// What was told of the end, and whether a whole answer was heard whole.
    async fn judge(&self, errand: &Errand, heard: &Heard) {
        if let Some(Kind::Done(_)) = &heard.outcome {
            let run_id = heard.run_id.clone().unwrap_or_default();
            let whole = if heard.broke {
                self.whole(&run_id).await
            } else {
                heard.text.clone()
            };
            if whole != errand.answer {
                self.record.wrong(format!(
                    "{}: run {run_id} told {whole:?} instead of {:?}",
                    errand.key, errand.answer
                ));
            }
            if !errand.answer.starts_with(&heard.text) {
                self.record.wrong(format!(
                    "{}: run {run_id} was heard with a gap or a repeat: {:?} of {:?}",
                    errand.key, heard.text, errand.answer
                ));
            }
        }
        let mut pages = self.record.open();
        if let Some(message) = pages.messages.get_mut(&errand.key) {
            message.outcome.clone_from(&heard.outcome);
        }
    }

    /// All text of a run that ended.
    async fn whole(&self, run_id: &str) -> String {
        loop {
            if let Ok(text) = self.try_whole(run_id).await {
                return text;
            }
            sleep(PAUSE).await;
        }
    }

    async fn try_whole(&self, run_id: &str) -> Result<String, CallError> {
        let mut heard = Heard::default();
        let events = self.client.attach(run_id, 0).await?;
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.next().await {
            heard.take(event?);
        }
        match heard.outcome {
            Some(_) => Ok(heard.text),
            None => Err(CallError::cut_off()),
        }
    }
}

impl Heard {
    fn take(&mut self, event: Event) {
        if event.kind.is_terminal() {
            self.outcome = Some(event.kind);
            return;
        }
        if event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        if let Kind::TextDelta { text } = event.kind {
            self.text.push_str(&text);
        }
    }
}
