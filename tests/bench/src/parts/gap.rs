//! What a client sees when a daemon is killed in the middle of an answer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openclaw_proto::call::CallError;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Client, Message, Reply};
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use uuid::Uuid;

use crate::daemon::Daemon;
use crate::home::Backend;
use crate::model::Model;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Kills of each daemon, each in an answer of its own.
const KILLS: usize = 5;
/// Milliseconds without a word, at most.
const TARGET: f64 = 1000.0;
/// The pause between two words of the answer, and the longest wait there is
/// when nothing is killed.
const PACE_MS: u64 = 20;
/// Pieces of text before the kill: the answer is well under way.
const BEFORE: usize = 5;
/// What a client that does not give up gets at most.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two attempts of a client to come back.
const AGAIN: Duration = Duration::from_millis(5);
/// Two seconds long at that pace.
const WORDS: usize = 100;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("gap", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let mut gaps: BTreeMap<&str, Sample> = BTreeMap::new();
    for _ in 0..KILLS {
        for daemon in Daemon::ALL {
            let gap = timeout(PATIENCE, one(&suite, daemon)).await;
            let gap = gap
                .with_context(|| format!("no answer after a kill of {daemon}"))?
                .with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
            gaps.entry(daemon.program()).or_default().add(gap);
        }
    }
    for (program, sample) in gaps {
        let measure = format!("kill -9 of {program} in mid-turn: longest silence, of {KILLS}");
        table.target(measure, Unit::Milliseconds, sample.percentile(100), TARGET);
    }
    suite.stop().await
}

/// What a client hears of one answer.
struct Listener {
    client: Client,
    run_id: Option<String>,
    seq: u64,
    text: String,
    pieces: usize,
    heard_at: Instant,
    silence: Duration,
    ended: bool,
}

/// Kills `daemon` in an answer, which has to come in full; the longest silence
/// after the kill.
async fn one(suite: &Suite, daemon: Daemon) -> anyhow::Result<Duration> {
    let answer: Vec<String> = (0..WORDS).map(|word| format!("word{word:03}")).collect();
    let answer = answer.join(" ");
    let scenario = serde_json::json!({
        "text": answer, "pace": { "chunk": 8, "delay_ms": PACE_MS },
    });
    let message = Message {
        text: format!("[[scenario:{scenario}]]"),
        session_key: format!("gap-{daemon}"),
        idempotency_key: Uuid::new_v4().to_string(),
        channel: "cli".to_owned(),
        ..Message::default()
    };
    let mut listener = Listener {
        client: suite.client(),
        run_id: None,
        seq: 0,
        text: String::new(),
        pieces: 0,
        heard_at: Instant::now(),
        silence: Duration::ZERO,
        ended: false,
    };
    let mut victim = Some(daemon);
    while !listener.ended {
        if listener
            .listen(&message, suite, &mut victim)
            .await?
            .is_err()
        {
            tokio::time::sleep(AGAIN).await;
        }
    }
    ensure!(victim.is_none(), "the answer was over before the kill");
    ensure!(
        listener.text == answer,
        "the answer has a gap or a repeat: {:?}",
        listener.text
    );
    Ok(listener.silence)
}

impl Listener {
    /// Hears until the end or a break, which is the inner error.
    async fn listen(
        &mut self,
        message: &Message,
        suite: &Suite,
        victim: &mut Option<Daemon>,
    ) -> anyhow::Result<Result<(), CallError>> {
        let client = self.client.clone();
        let mut replies: std::pin::Pin<Box<dyn tokio_stream::Stream<Item = _>>> = match &self.run_id
        {
            None => match client.send_message(message.clone()).await {
                Ok(replies) => Box::pin(replies),
                Err(error) => return Ok(Err(error)),
            },
            Some(run_id) => match client.attach(run_id, self.seq + 1).await {
                Ok(events) => Box::pin(events.map(|event| event.map(Reply::Event))),
                Err(error) => return Ok(Err(error)),
            },
        };
        while let Some(reply) = replies.next().await {
            match reply {
                Ok(reply) => self.take(reply)?,
                Err(error) => return Ok(Err(error)),
            }
            if self.ended {
                return Ok(Ok(()));
            }
            if self.pieces >= BEFORE
                && let Some(daemon) = victim.take()
            {
                strike(suite, daemon)?;
                (self.heard_at, self.silence) = (Instant::now(), Duration::ZERO);
            }
        }
        Ok(Err(CallError::cut_off()))
    }

    fn take(&mut self, reply: Reply) -> anyhow::Result<()> {
        self.silence = self.silence.max(self.heard_at.elapsed());
        self.heard_at = Instant::now();
        match reply {
            Reply::Accepted(accepted, ..) => self.run_id = Some(accepted.run_id),
            Reply::Event(event) => {
                self.seq = event.seq;
                match event.kind {
                    Kind::TextDelta { text } => {
                        self.pieces += 1;
                        self.text.push_str(&text);
                    }
                    Kind::Done(_) => self.ended = true,
                    Kind::Failed(failed) => bail!("the run failed: {}", failed.message),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn strike(suite: &Suite, daemon: Daemon) -> anyhow::Result<()> {
    let daemons = suite.daemons()?;
    let (_, process) = daemons
        .iter()
        .find(|(found, _)| *found == daemon)
        .with_context(|| format!("{daemon} does not run"))?;
    let pid = Pid::from_raw(i32::try_from(process.0)?);
    kill(pid, Signal::SIGKILL).with_context(|| format!("kill {daemon}"))
}
