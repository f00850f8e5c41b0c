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
        self.charge.send();
        self.charge.see(unknown.usage());
        let response = match sending.await {
            Ok(response) => response,
            Err(error) => {
                // A provider that heard it may have begun to answer.
                if error.is_unsent() {
                    self.charge.forget();
                }
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
        loop {
            let piece = tokio::select! {
                piece = stream.next() => piece,
                // A whole answer is waited for: it alone says what it used.
                () = pieces.closed(), if form != Form::Whole => return,
            };
            match piece {
                Some(Ok(piece)) => {
                    tally.feed(&piece);
                    self.see(&tally);
                    is_heard = is_heard && pieces.send(piece).await.is_ok();
                }
                Some(Err(_)) => return,
                None => break,
            }
        }
        tally.end();
        self.see(&tally);
    }

    fn see(&self, tally: &Tally) {
        self.charge.see(tally.usage());
        self.charge.see_extras(tally.extras());
        if tally.is_over() {
            self.charge.end();
        }
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    use openclaw_model_api::bill::{Bill, Budget, Estimate};
    use tokio::time::advance;

    use super::*;

    const MOST: u64 = 100_000;

    async fn metered(bill: &Arc<Bill>) -> Metered {
        let asked = Estimate {
            input: 10,
            most_output: MOST,
            price: None,
        };
        Metered {
            api: Api::Responses,
            asked_bytes: 30,
            most_output: Some(MOST),
            charge: bill.admit(&asked).await.unwrap(),
        }
    }

    /// A stream of events, said piece by piece.
    fn events() -> (mpsc::Sender<io::Result<Bytes>>, reqwest::Response) {
        let (pieces, body) = mpsc::channel(1);
        let body = reqwest::Body::wrap_stream(ReceiverStream::new(body));
        let response = hyper::Response::builder().header("content-type", "text/event-stream");
        (pieces, response.body(body).unwrap().into())
    }

    /// A model that thinks says nothing for minutes, and is paid for each of them.
    #[tokio::test(start_paused = true)]
    async fn answer_is_charged_for_what_the_program_did_not_wait_for() {
        let budget = Budget {
            output_tokens: u64::MAX,
            cost_per_turn: f64::MAX,
            is_firm: false,
            cost_per_day: f64::MAX,
            spent_today: 0.0,
            spending: PathBuf::from("/nonexistent"),
            utc_offset: 0,
        };
        let bill = Arc::new(Bill::new(budget, "main", true));
        let (pieces, upstream) = events();
        let passed = metered(&bill).await.pass(async { Ok(upstream) }).await;
        pieces.send(Ok(Bytes::from("data: {}\n\n"))).await.unwrap();
        advance(Duration::from_secs(60)).await;
        drop(passed);
        // The provider is not kept at it either, though it says nothing.
        pieces.closed().await;
        assert!(bill.untold().unwrap().output >= 60 * 100);

        // What came to its end is what the provider says that it was.
        let (pieces, upstream) = events();
        let passed = metered(&bill).await.pass(async { Ok(upstream) }).await;
        let end = "data: {\"response\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":7}}}\n\n";
        pieces.send(Ok(Bytes::from(end))).await.unwrap();
        let mut told = 0;
        while told < 7 {
            told += bill.untold().map_or(0, |usage| usage.output);
            tokio::task::yield_now().await;
        }
        advance(Duration::from_secs(60)).await;
        drop(passed);
        pieces.closed().await;
        assert_eq!(bill.untold(), None);
    }
}
