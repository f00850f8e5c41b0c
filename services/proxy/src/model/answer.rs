//! The provider's answer, counted as it passes.

use std::convert::Infallible;
use std::future::Future;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::StreamBody;
use http_body_util::combinators::BoxBody;
use hyper::Response;
use hyper::body::Frame;
use openclaw_model_api::bill::Charge;
use openclaw_model_api::upstream;
use openclaw_model_api::wire::{Api, Form, Tally};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use super::{Body, Problem};

/// Headers of an answer that are of the connection and not of the answer
/// (RFC 9110 §7.6.1), set anew, or would be kept for another request.
const NOT_PASSED: [&str; 10] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Pieces of an answer that wait for a program that does not read.
const WAITING: usize = 16;

/// An answer to be charged.
pub(super) struct Metered {
    pub(super) api: Api,
    pub(super) asked_bytes: usize,
    /// The most tokens that it may have.
    pub(super) most_output: Option<u64>,
    pub(super) charge: Charge,
}

type Sent = Result<reqwest::Response, upstream::Error>;

impl Metered {
    /// Sends the request and passes its answer on. Both go on without the
    /// program: one that leaves has been charged for what it asked.
    pub(super) async fn pass(
        self,
        sending: impl Future<Output = Sent> + Send + 'static,
    ) -> Result<Response<Body>, Problem> {
        let (answer, begun) = oneshot::channel();
        tokio::spawn(self.follow(sending, answer));
        begun.await.unwrap_or(Err(Problem::Lost))
    }

    async fn follow(
        self,
        sending: impl Future<Output = Sent> + Send,
        answer: oneshot::Sender<Result<Response<Body>, Problem>>,
    ) {
        let form = Form::Whole;
        let unknown = Tally::new(self.api, form, self.asked_bytes, self.most_output);
        // From here on it costs something.
        self.charge.see(unknown.usage());
        let response = match sending.await {
            Ok(response) => response,
            Err(error) => {
                self.charge.forget();
                let _ = answer.send(Err(error.into()));
                return;
            }
        };
        if !response.status().is_success() {
            // Providers charge nothing for a refusal.
            self.charge.forget();
            let _ = answer.send(Ok(passed(response)));
            return;
        }
        let (pieces, body) = mpsc::channel(WAITING);
        let _ = answer.send(Ok(with_body(&response, body)));
        self.count(response, pieces).await;
    }

    /// Counts an answer to its end. A stream whose program has left is not
    /// read on: that ends it at the provider too.
    async fn count(self, response: reqwest::Response, pieces: mpsc::Sender<Bytes>) {
        let form = Form::of(response.headers());
        let mut tally = Tally::new(self.api, form, self.asked_bytes, self.most_output);
        let mut stream = response.bytes_stream();
        let mut is_heard = true;
        // A break ends the body as its end does: hyper drops data that it has
        // not sent yet when the body fails. The program sees that the last
        // event is missing.
        while let Some(Ok(piece)) = stream.next().await {
            tally.feed(&piece);
            self.charge.see(tally.usage());
            is_heard = is_heard && pieces.send(piece).await.is_ok();
            if !is_heard && form != Form::Whole {
                return;
            }
        }
        tally.end();
        self.charge.see(tally.usage());
    }
}

/// An answer that costs nothing, as it comes.
pub(super) fn passed(response: reqwest::Response) -> Response<Body> {
    let (pieces, body) = mpsc::channel(WAITING);
    let answer = with_body(&response, body);
    tokio::spawn(async move {
        let mut stream = response.bytes_stream();
        while let Some(Ok(piece)) = stream.next().await {
            if pieces.send(piece).await.is_err() {
                return;
            }
        }
    });
    answer
}

/// The head of the provider's answer, with this body.
fn with_body(upstream: &reqwest::Response, body: mpsc::Receiver<Bytes>) -> Response<Body> {
    let frames = ReceiverStream::new(body).map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    let mut response = Response::new(BoxBody::new(StreamBody::new(frames)));
    *response.status_mut() = upstream.status();
    for (name, value) in upstream.headers() {
        if !NOT_PASSED.contains(&name.as_str()) {
            response.headers_mut().append(name.clone(), value.clone());
        }
    }
    response
}
