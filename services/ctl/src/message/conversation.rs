//! One message to the gateway and everything it answers, over broken
//! connections too.

use std::pin::Pin;
use std::time::Duration;

use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::{Message, Reply};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Code, Status};

use crate::connection::{self, Gateway};
use crate::failure::Failure;

/// Attempts in a row that bring nothing before the conversation is given up.
/// With the waits between them some 13 s: a gateway that is started again
/// takes the connection at once, because its socket stays.
const ATTEMPTS: u32 = 10;
/// The wait before the first new attempt; it doubles with each one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Replies that may wait for a slow terminal before the gateway waits too.
const REPLIES: usize = 64;

type Replies = Pin<Box<dyn Stream<Item = Result<Reply, Status>> + Send>>;

/// Where the conversation is.
struct Conversation {
    gateway: Gateway,
    message: Message,
    run_id: Option<String>,
    /// The last event that was passed on.
    seq: u64,
    /// The text that was passed on.
    heard: String,
    /// A stream broke before its run had ended.
    broke: bool,
    ended: bool,
    replies: mpsc::Sender<Result<Reply, Failure>>,
}

/// Why a stream ended before its run did.
enum Break {
    /// Asking again may help.
    Lost(Status),
    /// The gateway's last word.
    Final(Failure),
    /// Nobody listens any more.
    Unheard,
}

/// Sends `message`; the replies arrive in the channel, each event once and in
/// order. The channel closes after the terminal event or a failure.
pub(super) fn start(gateway: Gateway, message: Message) -> mpsc::Receiver<Result<Reply, Failure>> {
    let (replies, receiver) = mpsc::channel(REPLIES);
    let conversation = Conversation {
        gateway,
        message,
        run_id: None,
        seq: 0,
        heard: String::new(),
        broke: false,
        ended: false,
        replies,
    };
    tokio::spawn(conversation.hold());
    receiver
}

impl Conversation {
    async fn hold(mut self) {
        let mut attempt = 0;
        loop {
            let before = (self.seq, self.run_id.is_some());
            let status = match self.follow().await {
                Ok(()) | Err(Break::Unheard) => return,
                Err(Break::Final(failure)) => return self.give_up(failure).await,
                Err(Break::Lost(status)) => status,
            };
            self.broke = true;
            attempt = if before == (self.seq, self.run_id.is_some()) {
                attempt + 1
            } else {
                1
            };
            if attempt > ATTEMPTS || self.is_hopeless(&status) {
                let failure = self.lost(&status);
                return self.give_up(failure).await;
            }
            sleep(wait(attempt)).await;
        }
    }

    /// A gateway that has no socket before it took the message is not
    /// running; after that it may just be started again. Nor does one come that
    /// cannot write its state.
    fn is_hopeless(&self, status: &Status) -> bool {
        self.run_id.is_none()
            && (connection::is_absent(status) || self.gateway.obstacle().is_some())
    }

    /// Passes on what the gateway says until the run has ended.
    async fn follow(&mut self) -> Result<(), Break> {
        let mut stream = self.open().await.map_err(|status| self.judge(status))?;
        while let Some(reply) = stream.next().await {
            let reply = reply.map_err(|status| self.judge(status))?;
            self.pass_on(reply).await?;
            if self.ended {
                return Ok(());
            }
        }
        // A gateway that drains ends its streams.
        Err(Break::Lost(Status::unavailable(
            "the gateway ended the stream before the run had ended",
        )))
    }

    async fn open(&self) -> Result<Replies, Status> {
        let client = &self.gateway.client;
        match &self.run_id {
            None => Ok(Box::pin(client.send_message(self.message.clone()).await?)),
            Some(run_id) => {
                let events = client.attach(run_id, self.seq + 1).await?;
                Ok(Box::pin(events.map(|event| event.map(Reply::Event))))
            }
        }
    }

    async fn pass_on(&mut self, reply: Reply) -> Result<(), Break> {
        match &reply {
            Reply::Accepted(accepted) => self.run_id = Some(accepted.run_id.clone()),
            // Always the last word, also of a run that the gateway counts
            // anew because it reads it back from the transcript.
            Reply::Event(event) if event.kind.is_terminal() => {
                if self.broke && matches!(event.kind, Kind::Done(_)) {
                    self.pass_on_rest(event.at_ms).await?;
                }
                self.ended = true;
            }
            Reply::Event(event) if event.seq <= self.seq => return Ok(()),
            Reply::Event(event) => {
                self.seq = event.seq;
                if let Kind::TextDelta { text } = &event.kind {
                    self.heard.push_str(text);
                }
            }
        }
        self.send(reply).await
    }

    /// The text that was said while the connection was broken. Counted anew,
    /// the run's events do not tell what is missing, but its text does.
    async fn pass_on_rest(&mut self, at_ms: i64) -> Result<(), Break> {
        let run_id = self.run_id.clone().unwrap_or_default();
        let whole = self.whole_text(&run_id).await;
        let whole = whole.map_err(|status| self.judge(status))?;
        let Some(rest) = whole.strip_prefix(&self.heard) else {
            return Ok(());
        };
        if rest.is_empty() {
            return Ok(());
        }
        self.seq += 1;
        let kind = Kind::TextDelta {
            text: rest.to_owned(),
        };
        let event = Event {
            run_id,
            seq: self.seq,
            at_ms,
            kind,
        };
        self.heard = whole;
        self.send(Reply::Event(event)).await
    }

    async fn whole_text(&self, run_id: &str) -> Result<String, Status> {
        let mut text = String::new();
        let events = self.gateway.client.attach(run_id, 0).await?;
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.next().await {
            if let Kind::TextDelta { text: piece } = event?.kind {
                text.push_str(&piece);
            }
        }
        Ok(text)
    }

    async fn send(&self, reply: Reply) -> Result<(), Break> {
        self.replies
            .send(Ok(reply))
            .await
            .map_err(|_| Break::Unheard)
    }

    fn judge(&self, status: Status) -> Break {
        match &self.run_id {
            _ if connection::is_broken(&status) => Break::Lost(status),
            Some(run_id) if status.code() == Code::NotFound => Break::Final(Failure::new(format!(
                "the gateway does not know the run {run_id} any more"
            ))),
            _ => Break::Final(self.gateway.failure(&status)),
        }
    }

    fn lost(&self, status: &Status) -> Failure {
        let failure = self.gateway.failure(status);
        match &self.run_id {
            None => failure,
            Some(run_id) => Failure::new(format!(
                "lost the run {run_id}, which may still go on: {}",
                failure.text()
            ))
            .hint(connection::START),
        }
    }

    async fn give_up(self, failure: Failure) {
        // Nobody listens: then nobody is to be told.
        let _ = self.replies.send(Err(failure)).await;
    }
}

fn wait(attempt: u32) -> Duration {
    FIRST_WAIT
        .saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
        .min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound() {
        let waits: Vec<u128> = (1..=7).map(|attempt| wait(attempt).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 2000, 2000]);
    }
}
