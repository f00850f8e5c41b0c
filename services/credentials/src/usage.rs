//! What is known of a credential's use (seed 003 §5.3): when it failed, how
//! often, and until when it is left alone.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use openclaw_config::paths::Paths;
use openclaw_config::{parse, write};
use serde::{Deserialize, Serialize};

use crate::folder::folder;

/// The file beside the profiles; the agent-runner writes it.
pub const FILE: &str = "usage.json";

/// A credential's use. Times are in milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// When a request with it last went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<u64>,
    /// When a request with it last failed.
    #[serde(skip_serializing_if = "Option::is_none", alias = "lastFailureAt")]
    pub last_failed: Option<u64>,
    /// Failures since the last success.
    #[serde(alias = "errorCount")]
    pub failure_count: u32,
    /// Until when others are preferred.
    #[serde(skip_serializing_if = "Option::is_none", alias = "disabledUntil")]
    pub cooldown_until: Option<u64>,
    /// A login that the provider did not renew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renewal_refused: Option<RenewalRefused>,
}

/// What a provider did not renew. It is forgotten when the login is another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RenewalRefused {
    /// When the login that was to be renewed expires.
    pub expires: Option<u64>,
    /// Who refused it, and how; a line.
    pub why: String,
}

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The provider does not accept the credential, or wants to be paid.
    Refused,
    /// Too many requests, or too much work at the moment.
    Busy,
}

/// OpenClaw's cooldowns after the first, second and further failures.
const BUSY_MS: [u64; 3] = [30_000, 60_000, 300_000];
/// OpenClaw's time for a credential that is not accepted.
const REFUSED_MS: u64 = 600_000;

impl Usage {
    /// After a request that went well.
    pub fn succeeded(&mut self, now_ms: u64) {
        *self = Self {
            last_used: Some(now_ms),
            last_failed: self.last_failed,
            ..Self::default()
        };
    }

    /// After a request that failed.
    pub fn failed(&mut self, failure: Failure, now_ms: u64) {
        let index = usize::try_from(self.failure_count).unwrap_or(usize::MAX);
        let pause = match failure {
            Failure::Refused => REFUSED_MS,
            Failure::Busy => BUSY_MS[index.min(BUSY_MS.len() - 1)],
        };
        self.last_failed = Some(now_ms);
        self.failure_count = self.failure_count.saturating_add(1);
        self.cooldown_until = Some(now_ms.saturating_add(pause));
    }

    /// Whether others are preferred now.
    pub fn is_cooling(&self, now_ms: u64) -> bool {
        self.cooldown_until.is_some_and(|until| until > now_ms)
    }
}

/// Where an agent's usage is kept.
pub fn file(paths: &Paths, agent_id: &str) -> PathBuf {
    folder(paths, agent_id).join(FILE)
}

/// Usage by profile. A file that cannot be read is an empty one: nothing but
/// a pause is lost.
pub fn read(file: &Path) -> BTreeMap<String, Usage> {
    let text = parse::read(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes usage by profile.
pub fn write(file: &Path, usage: &BTreeMap<String, Usage>) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(usage)?;
    text.push('\n');
    write::atomic(file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_with_a_success() {
        let mut usage = Usage::default();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            usage.failed(Failure::Busy, 1000);
            pauses.push(usage.cooldown_until.unwrap() - 1000);
        }
        assert_eq!(pauses, [30_000, 60_000, 300_000, 300_000]);
        assert!(usage.is_cooling(300_999) && !usage.is_cooling(301_000));
        usage.succeeded(2000);
        assert_eq!((usage.failure_count, usage.is_cooling(2000)), (0, false));
        assert_eq!(
            (usage.last_used, usage.last_failed),
            (Some(2000), Some(1000))
        );
        usage.failed(Failure::Refused, 0);
        assert!(usage.is_cooling(599_999));
    }
}
