//! Who wants to talk on a channel, and who may.

use std::time::Duration;

use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::{PairedPeer as Peer, PairingRequest as Request};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// How long a code holds, as in OpenClaw.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Codes that hold at once for an account, as in OpenClaw.
pub(crate) const REQUESTS: i64 = 3;

/// Characters of a name that are kept.
const NAME_LENGTH: usize = 100;

/// The answer to somebody who wants to talk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairingAnswer {
    /// A code; nobody told them before.
    New(Request),
    /// Nothing: they were told.
    Waits,
    /// Nothing: enough others wait.
    Full,
}

/// The result of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// The request, which is over, and whether its peer is now the owner.
    Done(Request, bool),
    /// No such code holds.
    Unknown,
}

/// Somebody wants to talk, and is told `code` if nobody told them one yet.
pub fn ask(
    connection: &Connection,
    request: Request,
    now_ms: i64,
) -> rusqlite::Result<PairingAnswer> {
    tidy(connection, now_ms)?;
    let (channel, account) = (&request.account.channel, &request.account.account);
    let waiting: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM channel_requests WHERE channel = ?1 AND account = ?2",
        )?
        .query_row([channel, account], |row| row.get(0))?;
    let waits: bool = connection
        .prepare_cached(
            "SELECT count(*) > 0 FROM channel_requests
             WHERE channel = ?1 AND account = ?2 AND peer = ?3",
        )?
        .query_row([channel, account, &request.peer], |row| row.get(0))?;
    if waits {
        return Ok(PairingAnswer::Waits);
    }
    if waiting >= REQUESTS {
        return Ok(PairingAnswer::Full);
    }
    let name: String = request.name.chars().take(NAME_LENGTH).collect();
    connection.execute(
        "INSERT INTO channel_requests VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![channel, account, request.peer, request.code, name, now_ms],
    )?;
    Ok(PairingAnswer::New(Request {
        name,
        created_ms: now_ms,
        ..request
    }))
}

/// Whether `peer` would be told a code now. Only reads: strangers by the thousand cost no writing.
pub fn may_ask(
    connection: &Connection,
    of: &AccountName,
    peer: &str,
    now_ms: i64,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT count(*) < ?5 AND ifnull(max(peer = ?3), 0) = 0 FROM channel_requests
             WHERE channel = ?1 AND account = ?2 AND created_ms > ?4",
        )?
        .query_row(
            params![of.channel, of.account, peer, since(now_ms), REQUESTS],
            |row| row.get(0),
        )
}

/// Lets in whoever was told `code`. The first one is the owner.
pub fn approve(connection: &Connection, code: &str, now_ms: i64) -> rusqlite::Result<Decided> {
    let Some(request) = take(connection, code, now_ms)? else {
        return Ok(Decided::Unknown);
    };
    let sql = "SELECT count(*) = 0 FROM channel_peers WHERE is_owner = 1";
    let is_owner: bool = connection.query_row(sql, [], |row| row.get(0))?;
    connection.execute(
        "INSERT OR REPLACE INTO channel_peers VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            request.account.channel,
            request.account.account,
            request.peer,
            request.name,
            is_owner,
            now_ms
        ],
    )?;
    Ok(Decided::Done(request, is_owner))
}

/// Refuses the person who was told `code`; they may ask again.
pub fn deny(connection: &Connection, code: &str, now_ms: i64) -> rusqlite::Result<Decided> {
    let request = take(connection, code, now_ms)?;
    Ok(request.map_or(Decided::Unknown, |request| Decided::Done(request, false)))
}

fn take(connection: &Connection, code: &str, now_ms: i64) -> rusqlite::Result<Option<Request>> {
    tidy(connection, now_ms)?;
    connection
        .query_row(
            "DELETE FROM channel_requests WHERE code = upper(trim(?1))
             RETURNING channel, account, peer, code, name, created_ms",
            [code],
            request,
        )
        .optional()
}

/// The peers that wait, the earliest first.
pub fn requests(connection: &Connection, now_ms: i64) -> rusqlite::Result<Vec<Request>> {
    let mut statement = connection.prepare(
        "SELECT channel, account, peer, code, name, created_ms FROM channel_requests
         WHERE created_ms > ?1 ORDER BY created_ms",
    )?;
    let rows = statement.query_map([since(now_ms)], request)?;
    rows.collect()
}

/// The peers that may talk.
pub fn peers(connection: &Connection) -> rusqlite::Result<Vec<Peer>> {
    let mut statement = connection.prepare(
        "SELECT channel, account, peer, name, is_owner, approved_ms FROM channel_peers
         ORDER BY approved_ms",
    )?;
    let rows = statement.query_map([], paired)?;
    rows.collect()
}

/// Takes back that `peer` may talk to the account `of`; None: nobody let them in.
pub fn revoke(
    connection: &Connection,
    of: &AccountName,
    peer: &str,
) -> rusqlite::Result<Option<Peer>> {
    connection
        .query_row(
            "DELETE FROM channel_peers WHERE channel = ?1 AND account = ?2 AND peer = ?3
             RETURNING channel, account, peer, name, is_owner, approved_ms",
            [&of.channel, &of.account, peer],
            paired,
        )
        .optional()
}

/// The rights of a peer by its pairings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerPairing {
    /// It may talk to the account.
    pub is_paired: bool,
    /// It owns the assistant, by a pairing with any account of the channel.
    pub is_owner: bool,
    /// Anybody owns the assistant by such a pairing.
    pub has_owner: bool,
}

/// The rights of a peer by the pairings of its channel with the account `of`.
pub fn of_peer(
    connection: &Connection,
    of: &AccountName,
    peer: &str,
) -> rusqlite::Result<PeerPairing> {
    connection
        .prepare_cached(
            "SELECT ifnull(max(account = ?2 AND peer = ?3), 0),
                ifnull(max(peer = ?3 AND is_owner), 0),
                (SELECT count(*) > 0 FROM channel_peers WHERE is_owner = 1)
             FROM channel_peers WHERE channel = ?1",
        )?
        .query_row([&of.channel, &of.account, peer], |row| {
            Ok(PeerPairing {
                is_paired: row.get(0)?,
                is_owner: row.get(1)?,
                has_owner: row.get(2)?,
            })
        })
}

/// Forgets codes that hold no more.
pub(super) fn tidy(connection: &Connection, now_ms: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM channel_requests WHERE created_ms <= ?1";
    connection
        .prepare_cached(sql)?
        .execute([since(now_ms)])
        .map(drop)
}

fn since(now_ms: i64) -> i64 {
    now_ms - PATIENCE.as_millis() as i64
}

fn account(row: &Row<'_>) -> rusqlite::Result<AccountName> {
    Ok(AccountName {
        channel: row.get(0)?,
        account: row.get(1)?,
    })
}

fn request(row: &Row<'_>) -> rusqlite::Result<Request> {
    Ok(Request {
        account: account(row)?,
        peer: row.get(2)?,
        code: row.get(3)?,
        name: row.get(4)?,
        created_ms: row.get(5)?,
    })
}

fn paired(row: &Row<'_>) -> rusqlite::Result<Peer> {
    Ok(Peer {
        account: account(row)?,
        peer: row.get(2)?,
        name: row.get(3)?,
        is_owner: row.get(4)?,
        approved_ms: row.get(5)?,
    })
}
