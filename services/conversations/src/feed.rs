//! What happened for good, with its numbers, as the ledger keeps it.
//!
//! What becomes of a run is in the run's own row, which is written anyway: a
//! number there costs a few bytes, a row of its own would cost a page of the
//! ledger with each of the run's three changes. Everything else has a row in
//! `events`. [`page`] puts both together again, in the order of the numbers.

mod numbers;
mod prune;
mod rows;

use openclaw_proto::event;
use openclaw_proto::feed::{Ended, Event};

pub use openclaw_proto::feed::Kind;

pub use prune::prune;
pub use rows::{Page, page};

pub(crate) use numbers::{Numbers, begin_anew, epoch};
pub(crate) use rows::MessageRow;

/// The numbers of this gateway's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Names the series of numbers; another one: the ledger was made anew.
    pub epoch: String,
    /// Higher numbers are this gateway's.
    pub start: u64,
    /// The last number that was given by the time it began to serve.
    pub last: u64,
}

/// Why not everything after a number can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What has a higher number can be.
    pub through: u64,
    /// Why, for people.
    pub reason: &'static str,
}

/// What is missing after the number `after`. Where that is a client's, `last` is
/// the last number so far, and it is looked whether it can be one of them.
pub fn missing(
    connection: &rusqlite::Connection,
    series: &Series,
    after: u64,
    last: Option<u64>,
) -> rusqlite::Result<Option<Missing>> {
    let pruned = numbers::pruned(connection)?;
    if after < pruned {
        return Ok(Some(Missing {
            through: pruned,
            reason: "the events after that number are not kept any more",
        }));
    }
    let Some(last) = last else {
        return Ok(None);
    };
    if after > last {
        return Ok(Some(Missing {
            through: last,
            reason: "there is no event of that number",
        }));
    }
    let is_lost = after > pruned && after < series.start && !rows::is_kept(connection, after)?;
    Ok(is_lost.then_some(Missing {
        through: after,
        reason: "the machine lost power before that event was on the disk",
    }))
}

/// Things that happened together, in a row of their own or in a run's.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// The agent.
    pub agent_id: String,
    /// The session.
    pub session_key: String,
    /// The run; empty: of none.
    pub run_id: String,
    /// When, in Unix milliseconds.
    pub at_ms: i64,
    /// What, in its order.
    pub kinds: Vec<Kind>,
}

impl Happening {
    /// With their numbers, of which `last` is the last.
    pub(crate) fn numbered(self, last: u64) -> impl Iterator<Item = Event> {
        let first = (last + 1).saturating_sub(self.kinds.len() as u64);
        let Self {
            agent_id,
            session_key,
            run_id,
            at_ms,
            kinds,
        } = self;
        (first..).zip(kinds).map(move |(sequence, kind)| Event {
            sequence,
            at_ms,
            agent_id: agent_id.clone(),
            session_key: session_key.clone(),
            run_id: run_id.clone(),
            kind,
        })
    }
}

/// What a run's turn took, as its row of `turns` has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bill {
    /// The resources that its processes used.
    pub(crate) resources: Option<event::Resources>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost_usd: Option<f64>,
}

/// The end of a run.
pub(crate) fn ended(state: &str, outcome: Option<&event::Kind>, bill: Bill) -> Kind {
    Kind::RunEnded(Box::new(Ended {
        resources: bill.resources,
        input_tokens: bill.input_tokens,
        output_tokens: bill.output_tokens,
        cost_usd: bill.cost_usd,
        ..Ended::of(state, outcome)
    }))
}
