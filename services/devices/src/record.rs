//! Devices as the tables have them, and as clients are told of them.

use openclaw_proto::device_admin::{self, Profile};
use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value, json};

/// What a device says of itself, shown to whoever decides.
pub type Facts = Map<String, Value>;

/// A device that waits for somebody to decide.
#[derive(Debug, Clone)]
pub struct Pending {
    /// What it is approved by. Another wish of the device has another.
    pub request_id: String,
    /// The hash of its public key.
    pub device_id: String,
    /// What it wants to be.
    pub role: String,
    /// Its Ed25519 key, as it sent it: base64url, base64 or PEM.
    pub public_key: String,
    /// What it wants to do.
    pub scopes: Vec<String>,
    /// What it says of itself.
    pub facts: Facts,
    /// When it asked, in Unix milliseconds.
    pub created_ms: i64,
}

/// A paired device with all its roles.
#[derive(Debug, Clone)]
pub struct Paired {
    /// The hash of its public key.
    pub device_id: String,
    public_key: String,
    facts: Facts,
    created_ms: i64,
    approved_ms: i64,
    roles: Vec<RoleToken>,
}

#[derive(Debug, Clone)]
struct RoleToken {
    role: String,
    scopes: Vec<String>,
    created_ms: i64,
    issued_ms: Option<i64>,
    revoked_ms: Option<i64>,
    last_used_ms: Option<i64>,
}

impl Pending {
    /// Whether nothing that is shown to whoever decides is different. When it
    /// came and which id it has is not asked for by the device.
    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        self.device_id == other.device_id
            && self.role == other.role
            && self.public_key == other.public_key
            && self.scopes == other.scopes
            && self.facts == other.facts
    }

    /// False when it does not wait any more.
    pub(super) fn remove(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let request = [&self.request_id];
        let removed = connection.execute("DELETE FROM pairings WHERE request_id = ?1", request)?;
        Ok(removed > 0)
    }

    pub(super) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .execute(
                "INSERT OR REPLACE INTO pairings (request_id, device_id, role, public_key, \
                 scopes, facts, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    self.request_id,
                    self.device_id,
                    self.role,
                    self.public_key,
                    text(&self.scopes),
                    Value::Object(self.facts.clone()).to_string(),
                    self.created_ms,
                ],
            )
            .map(|_| ())
    }

    pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        let mut statement = connection.prepare(
            "SELECT request_id, device_id, role, public_key, scopes, facts, created_ms \
             FROM pairings ORDER BY created_ms",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(Self {
                request_id: row.get(0)?,
                device_id: row.get(1)?,
                role: row.get(2)?,
                public_key: row.get(3)?,
                scopes: list(&row.get::<_, String>(4)?),
                facts: facts(&row.get::<_, String>(5)?),
                created_ms: row.get(6)?,
            })
        })?;
        rows.collect()
    }

    /// As `device.pair.list` and `device.pair.requested` have it.
    pub fn to_json(&self) -> Value {
        let mut value = self.facts.clone();
        value.insert("requestId".to_owned(), json!(self.request_id));
        value.insert("deviceId".to_owned(), json!(self.device_id));
        value.insert("publicKey".to_owned(), json!(self.public_key));
        value.insert("role".to_owned(), json!(self.role));
        value.insert("roles".to_owned(), json!([self.role]));
        value.insert("scopes".to_owned(), json!(self.scopes));
        value.insert("ts".to_owned(), json!(self.created_ms));
        Value::Object(value)
    }
}

impl Paired {
    pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        let mut statement = connection.prepare(
            "SELECT device_id, public_key, facts, created_ms, approved_ms, role, scopes, \
             issued_ms, revoked_ms, last_used_ms FROM devices ORDER BY device_id, role",
        )?;
        let mut all: Vec<Self> = Vec::new();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let role = RoleToken::read(row)?;
            let device_id: String = row.get(0)?;
            match all.last_mut().filter(|it| it.device_id == device_id) {
                Some(device) => device.roles.push(role),
                None => all.push(Self {
                    device_id,
                    public_key: row.get(1)?,
                    facts: facts(&row.get::<_, String>(2)?),
                    created_ms: row.get(3)?,
                    approved_ms: row.get(4)?,
                    roles: vec![role],
                }),
            }
        }
        Ok(all)
    }

    /// As `device.pair.list` has it. No token is in it.
    pub fn to_json(&self) -> Value {
        let roles: Vec<&str> = self.roles.iter().map(|it| it.role.as_str()).collect();
        let mut scopes: Vec<&String> = self.roles.iter().flat_map(|it| &it.scopes).collect();
        scopes.sort();
        scopes.dedup();
        let mut value = self.facts.clone();
        value.insert("deviceId".to_owned(), json!(self.device_id));
        value.insert("publicKey".to_owned(), json!(self.public_key));
        value.insert("role".to_owned(), json!(roles.first()));
        value.insert("roles".to_owned(), json!(roles));
        value.insert("scopes".to_owned(), json!(scopes));
        value.insert("createdAtMs".to_owned(), json!(self.created_ms));
        value.insert("approvedAtMs".to_owned(), json!(self.approved_ms));
        let tokens: Vec<Value> = self.roles.iter().map(RoleToken::to_json).collect();
        value.insert("tokens".to_owned(), Value::Array(tokens));
        Value::Object(value)
    }
}

impl Paired {
    /// The roles that it is paired for.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(|it| it.role.as_str())
    }
}

impl From<Pending> for device_admin::Pending {
    fn from(pending: Pending) -> Self {
        Self {
            request_id: pending.request_id,
            device_id: pending.device_id,
            role: pending.role,
            scopes: pending.scopes,
            profile: profile(&pending.facts),
            created_ms: pending.created_ms,
        }
    }
}

impl From<Paired> for device_admin::Paired {
    fn from(paired: Paired) -> Self {
        let role = |token: RoleToken| device_admin::Role {
            role: token.role,
            scopes: token.scopes,
            revoked_ms: token.revoked_ms,
            last_used_ms: token.last_used_ms,
        };
        Self {
            device_id: paired.device_id,
            profile: profile(&paired.facts),
            approved_ms: paired.approved_ms,
            roles: paired.roles.into_iter().map(role).collect(),
        }
    }
}

/// What of it people tell devices apart by.
fn profile(facts: &Facts) -> Profile {
    let fact = |name: &str| facts.get(name).and_then(Value::as_str).map(str::to_owned);
    Profile {
        name: fact("displayName")
            .or_else(|| fact("clientId"))
            .unwrap_or_default(),
        platform: fact("platform").unwrap_or_default(),
        address: fact("remoteIp").unwrap_or_default(),
    }
}

impl RoleToken {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            role: row.get(5)?,
            scopes: list(&row.get::<_, String>(6)?),
            created_ms: row.get(3)?,
            issued_ms: row.get(7)?,
            revoked_ms: row.get(8)?,
            last_used_ms: row.get(9)?,
        })
    }

    fn to_json(&self) -> Value {
        let mut value = Map::new();
        value.insert("role".to_owned(), json!(self.role));
        value.insert("scopes".to_owned(), json!(self.scopes));
        value.insert("createdAtMs".to_owned(), json!(self.created_ms));
        for (name, at_ms) in [
            ("rotatedAtMs", self.issued_ms),
            ("revokedAtMs", self.revoked_ms),
            ("lastUsedAtMs", self.last_used_ms),
        ] {
            value.extend(at_ms.map(|at_ms| (name.to_owned(), json!(at_ms))));
        }
        Value::Object(value)
    }
}

fn facts(text: &str) -> Facts {
    serde_json::from_str(text).unwrap_or_default()
}

/// The scopes that a table names.
pub(super) fn list(scopes: &str) -> Vec<String> {
    serde_json::from_str(scopes).unwrap_or_default()
}

/// Scopes as a table has them.
pub(super) fn text(scopes: &[String]) -> String {
    serde_json::json!(scopes).to_string()
}
