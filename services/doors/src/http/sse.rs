//! Answers that are streams of server-sent events (WHATWG HTML, 9.2).

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, Response, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use super::answer;
use super::problem::Problem;
use super::turn::Turn;

/// Events that wait for a slow reader. The run's log keeps the rest.
const QUEUE: usize = 16;
/// A comment is sent after so long a silence, so that neither end takes the
/// other for dead while a tool works.
const SILENCE: Duration = Duration::from_secs(15);
const COMMENT: &str = ": waiting\n\n";

/// The other end of the stream.
#[derive(Debug)]
pub(super) struct Sink(mpsc::Sender<Bytes>);

/// The reader is gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gone;

/// What happens next in a turn that is streamed.
pub(super) enum Next {
    Piece(String),
    Whole,
    Problem(Problem),
}

/// Streams what `produce` puts into its sink.
pub(super) fn answer<F>(produce: impl FnOnce(Sink) -> F) -> Response<Body>
where
    F: Future<Output = Result<(), Gone>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(QUEUE);
    let produce = produce(Sink(sender));
    tokio::spawn(async move {
        // A reader that is gone is told nothing more.
        let _ = produce.await;
    });
    let events = ReceiverStream::new(receiver).map(Ok::<_, Infallible>);
    let mut response = answer::text(
        StatusCode::OK,
        "text/event-stream; charset=utf-8",
        Body::from_stream(events),
    );
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies such as nginx would collect the events otherwise.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

impl Sink {
    /// An event without a name.
    pub(super) async fn data(&self, data: &Value) -> Result<(), Gone> {
        self.raw(format!("data: {data}\n\n")).await
    }

    /// An event with a name.
    pub(super) async fn event(&self, name: &str, data: &Value) -> Result<(), Gone> {
        self.raw(format!("event: {name}\ndata: {data}\n\n")).await
    }

    /// OpenAI's mark of the end.
    pub(super) async fn done(&self) -> Result<(), Gone> {
        self.raw("data: [DONE]\n\n".to_owned()).await
    }

    /// What happens next in `turn`; comments are sent in between.
    pub(super) async fn next(&self, turn: &mut Turn) -> Result<Next, Gone> {
        loop {
            let next = tokio::select! {
                next = turn.next() => next,
                () = self.0.closed() => return Err(Gone),
                () = tokio::time::sleep(SILENCE) => {
                    self.raw(COMMENT.to_owned()).await?;
                    continue;
                }
            };
            return Ok(match next {
                Ok(Some(piece)) => Next::Piece(piece),
                Ok(None) => Next::Whole,
                Err(problem) => Next::Problem(problem),
            });
        }
    }

    async fn raw(&self, event: String) -> Result<(), Gone> {
        self.0.send(event.into()).await.map_err(|_| Gone)
    }
}
