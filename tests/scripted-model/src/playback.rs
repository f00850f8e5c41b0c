//! Sends pieces at the scenario's pace and breaks off where it says so.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;

use crate::record::{Log, Outcome};
use crate::reply::Piece;
use crate::scenario::{Ending, Pace};
use crate::stage::Stage;

/// A response body: all at once, or played.
pub(crate) type Body = UnsyncBoxBody<Bytes, CutOff>;

/// The scenario breaks the connection here.
#[derive(Debug)]
pub(crate) struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection cut off by the scenario")
    }
}

impl std::error::Error for CutOff {}

/// A body known in full.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

/// Settles the record of a request when its body ends or is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    log: Arc<Log>,
    serial: u64,
    outcome: Outcome,
}

impl Ticket {
    /// A ticket for the request `serial`; until told otherwise the client has left.
    pub(crate) fn new(log: Arc<Log>, serial: u64) -> Self {
        Self {
            log,
            serial,
            outcome: Outcome::Abandoned,
        }
    }

    /// Everything was handed to the connection.
    pub(crate) fn sent(mut self) {
        self.outcome = Outcome::Sent;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.log.settle(self.serial, self.outcome);
    }
}

struct Player {
    pieces: VecDeque<Piece>,
    deltas: usize,
    pace: Pace,
    held: bool,
    cut_off: bool,
    stage: Arc<Stage>,
    ticket: Option<Ticket>,
}

/// The body that plays `pieces`.
pub(crate) fn play(
    pieces: Vec<Piece>,
    pace: Pace,
    ending: Ending,
    stage: Arc<Stage>,
    ticket: Ticket,
) -> Body {
    let held = pace.gate.is_some() && !pace.silent;
    let cut_off = ending == Ending::CutOff;
    let player = Player {
        pieces: pieces.into(),
        deltas: 0,
        pace,
        held,
        cut_off,
        stage,
        ticket: Some(ticket),
    };
    let frames = stream::unfold(player, |mut player| async move {
        Some((player.next().await?, player))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Player {
    async fn next(&mut self) -> Option<Result<Frame<Bytes>, CutOff>> {
        let Some(piece) = self.pieces.pop_front() else {
            return self.end().await;
        };
        let bytes = match piece {
            Piece::Frame(bytes) => {
                // An answer of fewer than two deltas has no middle; it waits before its last frame.
                self.hold(self.pieces.is_empty()).await;
                bytes
            }
            Piece::Delta(bytes) => {
                self.hold(self.deltas == 1).await;
                self.deltas += 1;
                self.delay().await;
                if self.pace.clock {
                    stamped(&bytes)
                } else {
                    bytes
                }
            }
        };
        Some(Ok(Frame::data(bytes)))
    }

    async fn delay(&self) {
        if self.pace.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.pace.delay_ms)).await;
        }
    }

    async fn hold(&mut self, here: bool) {
        if here
            && self.held
            && let Some(gate) = self.pace.gate.clone()
        {
            self.stage.pass(&gate).await;
            self.held = false;
        }
    }

    async fn end(&mut self) -> Option<Result<Frame<Bytes>, CutOff>> {
        self.ticket.take()?.sent();
        if !self.cut_off {
            return None;
        }
        // hyper drops what it has buffered when a body fails; a pending body makes it flush first.
        tokio::task::yield_now().await;
        Some(Err(CutOff))
    }
}

/// `bytes` with the time in the place of [`Pace::CLOCK`].
fn stamped(bytes: &Bytes) -> Bytes {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = format!("{:016}", now.unwrap_or_default().as_micros());
    let text = String::from_utf8_lossy(bytes);
    text.replacen(Pace::CLOCK, &now, 1).into()
}

/// `pieces` as far as `ending` lets them go.
pub(crate) fn broken_off(mut pieces: Vec<Piece>, ending: Ending, error_event: Piece) -> Vec<Piece> {
    if ending == Ending::Complete {
        return pieces;
    }
    pieces.truncate(middle(&pieces));
    match ending {
        Ending::Complete | Ending::CutOff | Ending::Unfinished => {}
        Ending::MalformedSse => pieces.push(Piece::Frame(Bytes::from_static(
            b"\x00\xff<html>502 Bad Gateway</html>\r\r\n\n",
        ))),
        Ending::MalformedJson => {
            pieces.push(Piece::Frame(Bytes::from_static(
                b"event: content_block_delta\ndata: {\"type\": \"content_blo\n\n",
            )));
        }
        Ending::ErrorEvent => pieces.push(error_event),
    }
    pieces
}

/// Index just after the first half of the deltas.
fn middle(pieces: &[Piece]) -> usize {
    let deltas: Vec<_> = (0..pieces.len())
        .filter(|index| matches!(pieces[*index], Piece::Delta(_)))
        .collect();
    let half = deltas
        .len()
        .div_ceil(2)
        .checked_sub(1)
        .and_then(|half| deltas.get(half));
    half.map_or(pieces.len() / 2, |index| index + 1)
}
