//! What a channel is, to the part of a daemon that every channel shares.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use openclaw_proto::channel::{Abilities, Attachment, Outcome, Person, Place, Settings, What};
use openclaw_proto::outbox::{Delivery, Outcome as Delivered};

use crate::health::Board;
use crate::link::Link;
use crate::progress::Progress;
use crate::spool::Spool;

/// A provider of messages, and an account there.
pub trait Provider: Send + Sync + 'static {
    /// What it can.
    fn abilities(&self) -> Abilities;

    /// Takes other settings, before it receives with them. What it cannot take is
    /// told by name ([`Board`]).
    fn configure(&self, settings: &Settings);

    /// Puts what comes into the spool, and tells its provider that it came after
    /// that. Ended and begun again when the settings change; returns when there is
    /// nothing more to be received with these.
    fn receive(&self, spool: Arc<Spool>) -> impl Future<Output = ()> + Send;

    /// What an update means; nothing, where it is of no kind that is handed in.
    /// An error says why it cannot be read, for the journal.
    fn read(&self, raw: &str) -> Result<Option<Incoming>, String>;

    /// The content of a file that came.
    fn fetch(
        &self,
        file: &IncomingFile,
    ) -> impl Future<Output = Result<BoxStream<'static, Result<Bytes, String>>, FetchError>> + Send;

    /// The gateway has it; what it said.
    fn taken(&self, incoming: &Incoming, outcome: &Outcome) -> impl Future<Output = ()> + Send;

    /// Says something there, from the part on that nobody took yet, and records
    /// each part that was taken.
    fn deliver(
        &self,
        delivery: &Delivery,
        progress: &mut Progress,
        link: &Link,
    ) -> impl Future<Output = Delivered> + Send;

    /// Shows that somebody is being answered, and what is said meanwhile, until the
    /// run is over.
    fn attend_run(&self, delivery: Delivery, link: Link) -> impl Future<Output = ()> + Send;

    /// Where it tells how it does.
    fn board(&self) -> &Board;
}

/// What an update means.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// Where.
    pub place: Place,
    /// Who.
    pub sender: Person,
    /// When, in Unix milliseconds; 0: unknown.
    pub sent_ms: i64,
    /// What.
    pub what: What,
    /// Files that are to be had for it.
    pub files: Vec<IncomingFile>,
    /// It waits for nothing: a stop.
    pub is_urgent: bool,
    /// What comes right after it with the same name is the same message.
    pub burst: Option<String>,
    /// For the provider itself.
    pub reference: String,
}

/// A file that came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IncomingFile {
    /// What the provider calls it; empty: it cannot be had.
    pub reference: String,
    /// As far as it is known; why it is missing, if it is.
    pub attachment: Attachment,
}

/// Why a file that came is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchError {
    /// It will never be, for people.
    Missing(String),
    /// It may be later.
    Later {
        /// Why it is not now.
        why: String,
        /// How long the provider wants not to be asked, where it says so.
        after: Option<Duration>,
    },
}
