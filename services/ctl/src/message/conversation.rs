//! One message to the gateway and everything it answers, over broken
//! connections too.

use std::pin::Pin;

use openclaw_proto::call::{CallError, Patience, RefusalCode};
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::{Message, Reply};
use openclaw_terminal::Failure;
use tokio::sync::mpsc;
use tokio_stream::{Stream, StreamExt as _};

use openclaw_connection::{self as connection, Gateway, PATIENCE};

/// Replies that may wait for a slow terminal before the gateway waits too.
const REPLIES: usize = 64;

type Replies = Pin<Box<dyn Stream<Item = Result<Reply, CallError>> + Send>>;

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
    Lost(CallError),
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
        let mut patience = Patience::of(PATIENCE);
        loop {
            let before = (self.seq, self.run_id.is_some());
            let error = match self.follow().await {
                Ok(()) | Err(Break::Unheard) => return,
                Err(Break::Final(failure)) => return self.give_up(failure).await,
                Err(Break::Lost(error)) => error,
            };
            self.broke = true;
            if before != (self.seq, self.run_id.is_some()) {
                // A gateway that has no socket before it took the message is not
                // running; after that it may just be started again.
                patience = Patience::of(PATIENCE).with_absent();
            }
            // Nor does one come that cannot write its state.
            let waited = if self.run_id.is_none() && self.gateway.obstacle().is_some() {
                Err(error)
            } else {
                patience.wait(error).await
            };
            if let Err(error) = waited {
                let failure = self.lost(&error);
                return self.give_up(failure).await;
            }
        }
    }

    /// Passes on what the gateway says until the run has ended.
    async fn follow(&mut self) -> Result<(), Break> {
        let mut stream = self.open().await.map_err(|error| self.judge(error))?;
        while let Some(reply) = stream.next().await {
            let reply = reply.map_err(|error| self.judge(error))?;
            self.pass_on(reply).await?;
            if self.ended {
                return Ok(());
            }
        }
        // A gateway that drains ends its streams.
        Err(Break::Lost(CallError::cut_off()))
    }

    async fn open(&self) -> Result<Replies, CallError> {
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
            Reply::Accepted(accepted, ..) => self.run_id = Some(accepted.run_id.clone()),
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
        let whole = whole.map_err(|error| self.judge(error))?;
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

    async fn whole_text(&self, run_id: &str) -> Result<String, CallError> {
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

    fn judge(&self, error: CallError) -> Break {
        match (&self.run_id, error.code()) {
            (_, None) => Break::Lost(error),
            (Some(run_id), Some(RefusalCode::NotFound)) => Break::Final(Failure::new(format!(
                "the gateway does not know the run {run_id} any more"
            ))),
            _ => Break::Final(self.gateway.failure(&error)),
        }
    }

    fn lost(&self, error: &CallError) -> Failure {
        let failure = self.gateway.failure(error);
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
