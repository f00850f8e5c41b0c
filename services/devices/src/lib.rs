//! Paired devices, their tokens (of which only a hash is kept), and devices that want to be paired.

mod record;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_conversations::database::{Database, Fault};
use openclaw_protocol::client::Role;
use openclaw_protocol::device::hex;
use openclaw_protocol::scope::covers;
use openclaw_sessions::now_ms;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use uuid::Uuid;

pub use record::{Facts, Paired, Pending};
use record::{list, text};

/// Bytes of a device token: 43 characters of base64url.
const TOKEN_LENGTH: usize = 32;

/// Devices that may wait for somebody to decide. The oldest make room.
const PENDING_LIMIT: usize = 64;

/// How long a device may wait, in milliseconds.
const PENDING_MS: i64 = 60 * 60 * 1000;

/// A device that wants to be paired.
#[derive(Debug, Clone)]
pub struct DeviceRequest {
    /// The hash of its public key.
    pub device_id: String,
    /// Its Ed25519 key, as it sent it: base64url, base64 or PEM.
    pub public_key: String,
    /// What it wants to be.
    pub role: Role,
    /// What it wants to do.
    pub scopes: Vec<String>,
    /// What it says of itself.
    pub facts: Facts,
}

/// What a device may do, as a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// What it is.
    pub role: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// Whether it has a token of its own.
    pub has_token: bool,
}

/// A token, known to nobody else from now on.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// The secret; only its hash is kept.
    pub token: String,
    /// What it is good for.
    pub scopes: Vec<String>,
    /// When it was made, in Unix milliseconds.
    pub at_ms: i64,
}

/// The devices.
#[derive(Debug, Clone)]
pub struct Devices(Database);

impl Devices {
    /// The devices in the tables of `database`.
    pub fn new(database: Database) -> Self {
        Self(database)
    }

    /// The scopes that `token` is good for; None when it is not this device's.
    pub async fn check(
        &self,
        device_id: &str,
        role: Role,
        token: &str,
    ) -> Result<Option<Vec<String>>, Fault> {
        let (id, hash) = (device_id.to_owned(), hash(token));
        self.0
            .call("check a device token", move |connection| {
                let found: Option<(Option<String>, String)> = connection
                    .query_row(
                        "SELECT token_hash, scopes FROM devices \
                         WHERE device_id = ?1 AND role = ?2 AND revoked_ms IS NULL",
                        params![id, role.as_str()],
                        |row| Ok((row.get(0)?, row.get(1)?)),
                    )
                    .optional()?;
                // Comparing hashes in plain time tells nothing of the token.
                let matches = |(known, scopes): (Option<String>, String)| {
                    (known.as_deref() == Some(&hash)).then(|| list(&scopes))
                };
                let scopes = found.and_then(matches);
                if scopes.is_some() {
                    touch(connection, &id, role)?;
                }
                Ok(scopes)
            })
            .await
    }

    /// What the device is paired for.
    pub async fn grants(&self, device_id: &str) -> Result<Vec<Grant>, Fault> {
        let id = device_id.to_owned();
        self.0
            .read("look a device up", move |connection| {
                let mut statement = connection.prepare(
                    "SELECT role, scopes, token_hash IS NOT NULL OR revoked_ms IS NOT NULL \
                         FROM devices WHERE device_id = ?1",
                )?;
                let rows = statement.query_map([id], |row| {
                    Ok(Grant {
                        role: row.get(0)?,
                        scopes: list(&row.get::<_, String>(1)?),
                        has_token: row.get(2)?,
                    })
                })?;
                rows.collect()
            })
            .await
    }

    /// Pairs a device without asking anybody, and gives it a token. What it
    /// was paired for before it keeps.
    pub async fn pair(&self, wish: DeviceRequest) -> Result<NewToken, Fault> {
        let token = new_token();
        self.0
            .call("pair a device", move |connection| {
                forget_wish(connection, &wish.device_id, wish.role.as_str())?;
                approve(connection, &wish.into(), Some(token))
            })
            .await
    }

    /// Notes that a device wants to be paired; returns the request. One that asks for anything else
    /// than before is a new request with an id of its own, and the old id is unknown from then on:
    /// whoever approves an id gets what he saw under it.
    pub async fn wish(&self, wish: DeviceRequest) -> Result<Pending, Fault> {
        self.0
            .call("note a device", move |connection| {
                let now = now_ms();
                connection.execute(
                    "DELETE FROM pairings WHERE created_ms < ?1",
                    [now - PENDING_MS],
                )?;
                let mut pending = Pending::from(wish);
                let waiting = Pending::all(connection)?;
                let same = waiting.into_iter().find(|it| it.asks_the_same(&pending));
                pending.request_id = match same {
                    Some(same) => same.request_id,
                    None => Uuid::new_v4().to_string(),
                };
                pending.insert(connection)?;
                connection.execute(
                    "DELETE FROM pairings WHERE request_id NOT IN \
                     (SELECT request_id FROM pairings ORDER BY created_ms DESC LIMIT ?1)",
                    [PENDING_LIMIT as i64],
                )?;
                Ok(pending)
            })
            .await
    }

    /// Devices that wait and devices that are paired.
    pub async fn list(&self) -> Result<(Vec<Pending>, Vec<Paired>), Fault> {
        self.0
            .read("list devices", |connection| {
                Ok((Pending::all(connection)?, Paired::all(connection)?))
            })
            .await
    }

    /// The request, if it still waits.
    pub async fn pending(&self, request_id: &str) -> Result<Option<Pending>, Fault> {
        let id = request_id.to_owned();
        let all = self.0.read("look a request up", Pending::all).await?;
        Ok(all.into_iter().find(|pending| pending.request_id == id))
    }

    /// Pairs the device of a request. It gets its token when it connects.
    /// `None`: the request does not wait any more.
    pub async fn approve(&self, pending: Pending) -> Result<Option<Paired>, Fault> {
        self.0
            .call("pair a device", move |connection| {
                if !pending.remove(connection)? {
                    return Ok(None);
                }
                approve(connection, &pending, None)?;
                let all = Paired::all(connection)?;
                Ok(all.into_iter().find(|it| it.device_id == pending.device_id))
            })
            .await
    }

    /// Forgets a request; false when it does not wait any more.
    pub async fn reject(&self, pending: Pending) -> Result<bool, Fault> {
        self.0
            .call("refuse a device", move |connection| {
                pending.remove(connection)
            })
            .await
    }

    /// Forgets a device; false when it is not known.
    pub async fn remove(&self, device_id: &str) -> Result<bool, Fault> {
        let id = device_id.to_owned();
        self.0
            .call("remove a device", move |connection| {
                Ok(connection.execute("DELETE FROM devices WHERE device_id = ?1", [id])? > 0)
            })
            .await
    }

    /// Gives a device a name; false when it is not known.
    pub async fn rename(&self, device_id: &str, label: &str) -> Result<bool, Fault> {
        let (id, label) = (device_id.to_owned(), label.to_owned());
        self.0
            .call("rename a device", move |connection| {
                let renamed = connection.execute(
                    "UPDATE devices SET facts = json_set(facts, '$.displayName', ?2) \
                     WHERE device_id = ?1",
                    [id, label],
                )?;
                Ok(renamed > 0)
            })
            .await
    }

    /// A new token for a device and role, for `scopes` at most; the old one is
    /// no good any more. None when the device is not paired for the role.
    pub async fn rotate(
        &self,
        device_id: &str,
        role: &str,
        scopes: Option<Vec<String>>,
    ) -> Result<Option<NewToken>, Fault> {
        let (id, role, token) = (device_id.to_owned(), role.to_owned(), new_token());
        self.0
            .call("rotate a device token", move |connection| {
                let Some(known) = scopes_of(connection, &id, &role)? else {
                    return Ok(None);
                };
                // Rotating never gives more than pairing gave.
                let scopes = match scopes {
                    Some(wanted) if covers(&known, &wanted) => wanted,
                    _ => known,
                };
                let at_ms = now_ms();
                connection.execute(
                    "UPDATE devices SET token_hash = ?3, issued_ms = ?4, revoked_ms = NULL, \
                     scopes = ?5 WHERE device_id = ?1 AND role = ?2",
                    params![id, role, hash(&token), at_ms, text(&scopes)],
                )?;
                Ok(Some(NewToken {
                    token,
                    scopes,
                    at_ms,
                }))
            })
            .await
    }

    /// A device's token is no good any more; None when there is no such device.
    pub async fn revoke(&self, device_id: &str, role: &str) -> Result<Option<i64>, Fault> {
        let (id, role) = (device_id.to_owned(), role.to_owned());
        self.0
            .call("revoke a device token", move |connection| {
                let at_ms = now_ms();
                let revoked = connection.execute(
                    "UPDATE devices SET token_hash = NULL, revoked_ms = ?3 \
                     WHERE device_id = ?1 AND role = ?2",
                    params![id, role, at_ms],
                )?;
                Ok((revoked > 0).then_some(at_ms))
            })
            .await
    }
}

fn approve(
    connection: &Connection,
    wish: &Pending,
    token: Option<String>,
) -> rusqlite::Result<NewToken> {
    let at_ms = now_ms();
    let mut scopes = scopes_of(connection, &wish.device_id, &wish.role)?.unwrap_or_default();
    for scope in &wish.scopes {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    let token_hash = token.as_deref().map(hash);
    connection.execute(
        "INSERT INTO devices (device_id, role, public_key, scopes, facts, token_hash, created_ms, \
         approved_ms, issued_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8) \
         ON CONFLICT (device_id, role) DO UPDATE SET scopes = ?4, facts = ?5, \
         token_hash = coalesce(?6, token_hash), approved_ms = ?7, \
         issued_ms = coalesce(?8, issued_ms), revoked_ms = NULL",
        params![
            wish.device_id,
            wish.role,
            wish.public_key,
            text(&scopes),
            Value::Object(wish.facts.clone()).to_string(),
            token_hash,
            at_ms,
            token.as_ref().map(|_| at_ms),
        ],
    )?;
    Ok(NewToken {
        token: token.unwrap_or_default(),
        scopes,
        at_ms,
    })
}

fn scopes_of(
    connection: &Connection,
    device_id: &str,
    role: &str,
) -> rusqlite::Result<Option<Vec<String>>> {
    let found: Option<String> = connection
        .query_row(
            "SELECT scopes FROM devices WHERE device_id = ?1 AND role = ?2",
            [device_id, role],
            |row| row.get(0),
        )
        .optional()?;
    Ok(found.map(|scopes| list(&scopes)))
}

fn touch(connection: &Connection, device_id: &str, role: Role) -> rusqlite::Result<()> {
    connection
        .execute(
            "UPDATE devices SET last_used_ms = ?3 WHERE device_id = ?1 AND role = ?2",
            params![device_id, role.as_str(), now_ms()],
        )
        .map(|_| ())
}

fn forget_wish(connection: &Connection, device_id: &str, role: &str) -> rusqlite::Result<()> {
    connection
        .execute(
            "DELETE FROM pairings WHERE device_id = ?1 AND role = ?2",
            [device_id, role],
        )
        .map(|_| ())
}

impl From<DeviceRequest> for Pending {
    fn from(wish: DeviceRequest) -> Self {
        Self {
            request_id: String::new(),
            device_id: wish.device_id,
            role: wish.role.as_str().to_owned(),
            public_key: wish.public_key,
            scopes: wish.scopes,
            facts: wish.facts,
            created_ms: now_ms(),
        }
    }
}

/// A token of the kernel's random numbers. Without them there is a UUID of
/// theirs in it still, and the hash of nothing opens no door.
fn new_token() -> String {
    let mut bytes = [0; TOKEN_LENGTH];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        let (first, second) = bytes.split_at_mut(TOKEN_LENGTH / 2);
        first.copy_from_slice(Uuid::new_v4().as_bytes());
        second.copy_from_slice(Uuid::new_v4().as_bytes());
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

fn hash(token: &str) -> String {
    hex(digest(&SHA256, token.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests;
