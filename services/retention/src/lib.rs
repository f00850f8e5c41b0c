//! Which sessions of an agent are too old or too many (`session.maintenance`):
//! OpenClaw's rules. Nothing is changed here.
//!
//! A conversation is archived: it stays where it is and is said to be so. What
//! only a program needed (jobs, hooks, subagents) is taken out of the index.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use openclaw_sessions::store::{SessionEntry, Store};

/// How long the session of a model's probe is kept when there are too many, as
/// in OpenClaw.
const PROBE: Duration = Duration::from_secs(24 * 60 * 60);

/// Up to so many sessions the bound is kept to the letter;
const STRICT: usize = 49;

/// beyond that it may be passed by so many, or by one tenth, before it is
/// restored at once.
const SLACK: usize = 25;

/// What sessions there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How long nothing may have happened in one.
    pub prune_after: Duration,
    /// The same for those of a dashboard.
    pub dashboards_after: Option<Duration>,
    /// The same for isolated runs of jobs (`cron.sessionRetention`).
    pub runs_after: Option<Duration>,
    /// The most that are not archived.
    pub max_entries: usize,
    /// Conversations in which something happened so lately stay.
    pub preserve_recent: Option<Duration>,
}

/// Why a session is archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nothing happened in it for long.
    Age,
    /// The same, in one of a dashboard.
    Dashboard,
    /// There are too many, and it is the oldest.
    Count,
}

impl Reason {
    /// OpenClaw's `archiveReason`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Age => "age-retention",
            Self::Dashboard => "stale-dashboard",
            Self::Count => "active-session-cap",
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The keys of sessions to be archived.
    pub archive: Vec<(String, Reason)>,
    /// The keys of those to be removed.
    pub remove: Vec<String>,
    /// When the next one is too old, in Unix milliseconds.
    pub next_ms: Option<i64>,
}

impl Plan {
    /// Whether there is nothing to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.archive.is_empty() && self.remove.is_empty()
    }
}

/// What is looked at one after the other, as long as it is as it was.
struct Work<'a> {
    left: BTreeMap<&'a str, &'a SessionEntry>,
    plan: Plan,
}

impl Policy {
    /// What is to be done with the sessions of `store` at `now_ms`. Those of
    /// `busy`, where a message waits or is answered, stay.
    #[must_use]
    pub fn plan(&self, store: &Store, busy: &BTreeSet<String>, now_ms: i64) -> Plan {
        let is_open = |entry: &SessionEntry| entry.archived_at().is_none();
        let left = store.sessions().filter(|(_, entry)| is_open(entry));
        let mut work = Work {
            left: left.collect(),
            plan: Plan::default(),
        };
        let may_change = |key: &str, entry: &SessionEntry| {
            !busy.contains(key) && !is_protected(key, entry) && !self.is_recent(key, entry, now_ms)
        };
        if work.left.len() >= self.high_water() {
            work.take(Reason::Count, |key, entry| {
                let is_stale = is_before(entry.updated_at(), now_ms, PROBE);
                is_probe(rest(key)) && is_stale && may_change(key, entry)
            });
        }
        if let Some(after) = self.dashboards_after {
            work.take(Reason::Dashboard, |key, entry| {
                let is_stale = is_before(activity(entry), now_ms, after);
                rest(key).starts_with("dashboard:") && is_stale && may_change(key, entry)
            });
        }
        if let Some(after) = self.runs_after {
            work.take(Reason::Age, |key, entry| {
                let is_stale = is_before(entry.updated_at(), now_ms, after);
                is_of_run(rest(key)) && is_stale && may_change(key, entry)
            });
        }
        work.take(Reason::Age, |key, entry| {
            is_before(entry.updated_at(), now_ms, self.prune_after) && may_change(key, entry)
        });
        if work.left.len() >= self.high_water() {
            let surplus = work.left.len() - self.max_entries;
            let mut oldest: Vec<(i64, &str)> = work
                .left
                .iter()
                .filter(|(key, entry)| may_change(key, entry))
                .map(|(key, entry)| (activity(entry), *key))
                .collect();
            oldest.sort_unstable();
            let oldest: BTreeSet<&str> = oldest.iter().take(surplus).map(|it| it.1).collect();
            work.take(Reason::Count, |key, _| oldest.contains(key));
        }
        work.plan.next_ms = self.next(&work.left, busy);
        work.plan
    }

    /// From how many sessions on their number is brought down to the bound.
    fn high_water(&self) -> usize {
        match self.max_entries {
            most if most <= STRICT => most + 1,
            most => most + SLACK.max(most.div_ceil(10)),
        }
    }

    fn is_recent(&self, key: &str, entry: &SessionEntry, now_ms: i64) -> bool {
        let last = activity(entry);
        let is_within = |window| last > 0 && !is_before(last, now_ms, window);
        !is_synthetic(rest(key)) && self.preserve_recent.is_some_and(is_within)
    }

    /// When the next of `left` is too old.
    fn next(&self, left: &BTreeMap<&str, &SessionEntry>, busy: &BTreeSet<String>) -> Option<i64> {
        let at = |(key, entry): (&&str, &&SessionEntry)| {
            if busy.contains(*key) || is_protected(key, entry) || entry.updated_at() <= 0 {
                return None;
            }
            let pruned = after(entry.updated_at(), self.prune_after);
            let is_dashboard = rest(key).starts_with("dashboard:");
            let archived = self.dashboards_after.filter(|_| is_dashboard);
            let archived = archived.map_or(i64::MAX, |window| after(activity(entry), window));
            let ran = self.runs_after.filter(|_| is_of_run(rest(key)));
            let ran = ran.map_or(i64::MAX, |window| after(entry.updated_at(), window));
            let kept = self.preserve_recent.filter(|_| !is_synthetic(rest(key)));
            let kept = kept.map_or(0, |window| after(activity(entry), window));
            let first = pruned.min(archived).min(ran).max(kept);
            Some(first).filter(|at| *at < i64::MAX)
        };
        left.iter().filter_map(at).min()
    }
}

impl<'a> Work<'a> {
    /// Takes those that `is_meant`.
    fn take(&mut self, reason: Reason, is_meant: impl Fn(&str, &SessionEntry) -> bool) {
        let meant = |(key, entry): &(&&'a str, &&'a SessionEntry)| is_meant(key, entry);
        let meant: Vec<&str> = self.left.iter().filter(meant).map(|it| *it.0).collect();
        for key in meant {
            self.left.remove(key);
            if is_synthetic(rest(key)) {
                self.plan.remove.push(key.to_owned())
            } else {
                self.plan.archive.push((key.to_owned(), reason))
            }
        }
    }
}

/// Whether the session was archived because there were too many, so that it may
/// go where its file is too much.
#[must_use]
pub fn may_be_evicted(key: &str, entry: &SessionEntry, busy: &BTreeSet<String>) -> bool {
    entry.archived_at().is_some()
        && entry.text("archiveReason") == Some(Reason::Count.word())
        && !busy.contains(key)
        && !is_protected(key, entry)
}

/// The last time that anything happened in the session, in Unix milliseconds.
#[must_use]
pub fn activity(entry: &SessionEntry) -> i64 {
    let fields = ["lastInteractionAt", "lastActivityAt", "sessionStartedAt"];
    let times = fields.iter().filter_map(|field| entry.get::<i64>(field));
    times.fold(entry.updated_at(), i64::max).max(0)
}

/// Whether `at_ms` is further back than `window`; a time that is not known is
/// not.
fn is_before(at_ms: i64, now_ms: i64, window: Duration) -> bool {
    at_ms > 0 && after(at_ms, window) <= now_ms
}

/// The first millisecond after `window`.
fn after(at_ms: i64, window: Duration) -> i64 {
    let window = i64::try_from(window.as_millis()).unwrap_or(i64::MAX);
    at_ms.saturating_add(window).saturating_add(1)
}

/// What follows the agent in a key.
fn rest(key: &str) -> &str {
    let named = key.strip_prefix("agent:");
    named
        .and_then(|named| named.split_once(':'))
        .map_or(key, |(_, rest)| rest)
}

/// Whether a program alone needed the session.
fn is_synthetic(rest: &str) -> bool {
    let prefixes = [
        "subagent:",
        "acp:",
        "cron:",
        "acp-bridge:",
        "hook:",
        "node:",
    ];
    prefixes.iter().any(|prefix| rest.starts_with(prefix))
        || rest == "heartbeat"
        || rest.ends_with(":heartbeat")
        || rest.contains(":heartbeat:")
        || is_probe(rest)
}

/// Whether an isolated run of a job made it.
fn is_of_run(rest: &str) -> bool {
    rest.starts_with("cron:")
}

/// Whether it is a probe of a model.
fn is_probe(rest: &str) -> bool {
    let id = rest.strip_prefix("explicit:model-run-");
    id.is_some_and(|id| id.len() == 36 && uuid::Uuid::try_parse(id).is_ok())
}

/// Whether the session stays however old it is: the main one, one that somebody
/// pinned or that runs, and those that messages from outside come to.
fn is_protected(key: &str, entry: &SessionEntry) -> bool {
    let rest = rest(key);
    let has = |field| entry.get::<serde_json::Value>(field).is_some();
    let is_set = |field| entry.get::<bool>(field) == Some(true);
    if has("pinnedAt") && !rest.starts_with("subagent:") && entry.text("spawnedBy").is_none() {
        return true;
    }
    if is_set("modelSelectionLocked") || entry.text("status") == Some("running") {
        return true;
    }
    !is_synthetic(rest) && (is_primary(key, rest) || is_of_channel(rest) || is_of_group(entry))
}

fn is_primary(key: &str, rest: &str) -> bool {
    key == "global" || (rest == "main" && key != rest)
}

/// Whether messages of a channel find the session by its key.
fn is_of_channel(rest: &str) -> bool {
    const CHATS: [&str; 5] = ["direct", "dm", "group", "channel", "room"];
    let parts: Vec<&str> = rest.split(':').collect();
    let is_chat = |at: usize| {
        let kind = parts.get(at).is_some_and(|part| CHATS.contains(part));
        kind && parts.get(at + 1).is_some_and(|id| !id.is_empty())
    };
    let is_thread = rest
        .split_once(":thread:")
        .is_some_and(|(_, id)| !id.is_empty());
    is_thread
        || (parts[0] == "direct" && is_chat(0))
        || (!parts[0].is_empty() && (is_chat(1) || (parts.len() >= 4 && is_chat(2))))
}

fn is_of_group(entry: &SessionEntry) -> bool {
    let delivery: Option<serde_json::Value> = entry.get("delivery");
    let origin: Option<serde_json::Value> = entry.get("origin");
    let kind = entry.text("chatType").map(str::to_owned).or_else(|| {
        let origin = origin.as_ref()?.get("chatType")?;
        origin.as_str().map(str::to_owned)
    });
    delivery.is_some_and(|delivery| delivery["kind"] == "external")
        || kind.is_some_and(|kind| ["group", "channel", "thread"].contains(&kind.as_str()))
}

#[cfg(test)]
mod tests;
