//! Sessions as they go over the wire. A list of thousands is made of rows that
//! were encoded when their session changed.

use bytes::{Bytes, BytesMut};
use prost::Message as _;

use super::{Page, Session, State};
use crate::invalid::Invalid;
use crate::wire::gateway as wire;

/// `ListSessionsResponse` of sessions.proto. Its sessions stay as they are on
/// the wire, where a message is a length and bytes.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ListSessionsResponse {
    /// Each a `Session`.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub sessions: Vec<Bytes>,
    /// How many there are without limit and offset.
    #[prost(uint32, tag = "2")]
    pub total: u32,
}

/// A session, encoded. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(Bytes);

/// A [`Page`] that is passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// The latest first.
    pub rows: Vec<Row>,
    /// How many there are without limit and offset.
    pub total: u32,
}

impl Row {
    /// The row of `session`.
    pub fn new(session: Session) -> Self {
        Self(wire::Session::from(session).encode_to_vec().into())
    }

    /// The same session in another state. Of a field that comes twice the last
    /// one counts (Protocol Buffers, encoding).
    #[must_use]
    pub fn with_state(&self, state: State) -> Self {
        let only = wire::Session {
            state: wire::SessionState::from(state).into(),
            ..wire::Session::default()
        };
        let mut row = BytesMut::with_capacity(self.0.len() + only.encoded_len());
        row.extend_from_slice(&self.0);
        row.extend_from_slice(&only.encode_to_vec());
        Self(row.freeze())
    }

    /// The session.
    ///
    /// # Errors
    /// It is none.
    pub fn session(&self) -> Result<Session, Invalid> {
        let session = wire::Session::decode(self.0.clone());
        session.map(Into::into).map_err(|error| {
            Invalid::because("ListSessionsResponse", "sessions", error.to_string())
        })
    }
}

impl From<Row> for Bytes {
    fn from(row: Row) -> Self {
        row.0
    }
}

impl From<Bytes> for Row {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl Rows {
    /// The sessions.
    ///
    /// # Errors
    /// One of them is none.
    pub fn page(&self) -> Result<Page, Invalid> {
        let sessions = self.rows.iter().map(Row::session);
        Ok(Page {
            sessions: sessions.collect::<Result<_, _>>()?,
            total: self.total,
        })
    }
}

impl From<Rows> for ListSessionsResponse {
    fn from(rows: Rows) -> Self {
        Self {
            sessions: rows.rows.into_iter().map(|row| row.0).collect(),
            total: rows.total,
        }
    }
}

impl From<ListSessionsResponse> for Rows {
    fn from(response: ListSessionsResponse) -> Self {
        Self {
            rows: response.sessions.into_iter().map(Row).collect(),
            total: response.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session {
            key: "agent:main:main".to_owned(),
            updated_at_ms: 7,
            state: State::Idle,
            last_status: "done".to_owned(),
            ..Session::default()
        }
    }

    #[test]
    fn row_is_its_session_in_the_state_said_last() {
        let row = Row::new(session());
        assert_eq!(row.session(), Ok(session()));
        let active = Session {
            state: State::Active,
            ..session()
        };
        let there = row.with_state(State::Compacting).with_state(State::Active);
        assert_eq!(there.session(), Ok(active));
    }

    #[test]
    fn row_what_is_no_session_is_refused() {
        let rows = Rows::from(ListSessionsResponse {
            sessions: vec![Bytes::from_static(b"\x0a\xff")],
            total: 1,
        });
        assert!(rows.page().is_err());
    }
}
