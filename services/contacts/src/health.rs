//! How an account does, judged: what `status` and `doctor` say of it.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_proto::channel::{Connection, Health};
use openclaw_proto::channel_admin::AccountState;
use openclaw_terminal::{output, words};

use crate::name::Named;

/// Groups that are named; the others are counted.
const GROUPS: usize = 5;

/// Whether messages come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// They do.
    Well,
    /// They do, but not in all places that the configuration lists.
    Partly,
    /// The configuration has the account off.
    Off,
    /// Not now, but its daemon expects them to.
    Unsteady,
    /// They do not until somebody does something.
    Broken,
}

/// What is said of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which account: `channel telegram`.
    pub name: String,
    /// Whether messages come and go.
    pub condition: Condition,
    /// What is the case.
    pub detail: String,
    /// What to do, where something is to be done.
    pub fix: Option<String>,
}

impl Finding {
    /// Whether nothing has to be done about it.
    #[must_use]
    pub fn is_well(&self) -> bool {
        matches!(self.condition, Condition::Well | Condition::Off)
    }

    /// What is said of an account in that state, now.
    pub fn of(state: &AccountState) -> Self {
        Self::at(state, crate::gateway::now_ms())
    }

    fn at(state: &AccountState, now_ms: i64) -> Self {
        let named = Named::of(&state.account, state.is_default);
        let (condition, detail, fix) = judged(state, &named, now_ms);
        Self {
            name: format!("channel {}", crate::gateway::shown(&state.account)),
            condition,
            detail,
            fix,
        }
    }
}

fn judged(state: &AccountState, named: &Named, now_ms: i64) -> (Condition, String, Option<String>) {
    if !state.is_enabled {
        return (Condition::Off, "off (enabled: false)".to_owned(), None);
    }
    if state.attended_since_ms.is_none() && !state.missing_token.is_empty() {
        let detail = format!(
            "no daemon attends it: {}",
            output::line(&state.missing_token)
        );
        let name = named.shown();
        let fix = format!(
            "openclawctl channels add {name} takes a token and starts its daemon; where that has \
             one of its own, openclawctl channels logs {name} says why it ended"
        );
        return (Condition::Broken, detail, Some(fix));
    }
    if state.attended_since_ms.is_none() {
        let detail = "no daemon attends it: nothing comes in or goes out".to_owned();
        let logs = format!("; openclawctl channels logs {}", named.shown());
        let fix = format!("{}{logs} says why it ended, if it ran", named.start());
        return (Condition::Broken, detail, Some(fix));
    }
    let connecting = Health::default();
    let health = state.health.as_ref().unwrap_or(&connecting);
    let detail = details(health, now_ms);
    if health.state == Connection::Connected
        && let Some((unanswered, fix)) = unanswered(state, named)
    {
        let detail = format!("{detail}; {unanswered}");
        return (Condition::Partly, detail, Some(fix));
    }
    let logs = || Some(format!("openclawctl channels logs {}", named.shown()));
    match health.state {
        Connection::Connected => (Condition::Well, detail, None),
        // What helps is in what the daemon says; these are the commands for it.
        Connection::Refused => {
            let fix = format!(
                "openclawctl channels login {} takes another token",
                named.shown()
            );
            (Condition::Broken, detail, Some(fix))
        }
        Connection::Conflict => (Condition::Broken, detail, logs()),
        Connection::Connecting | Connection::Waiting => (Condition::Unsteady, detail, logs()),
    }
}

/// That groups are listed where nobody is answered, and the ways out.
fn unanswered(state: &AccountState, named: &Named) -> Option<(String, String)> {
    let groups = match state.unanswered_groups.as_slice() {
        [] => return None,
        groups => groups.iter().take(GROUPS).map(|it| output::line(it)),
    };
    let groups: Vec<String> = groups.collect();
    let more = match state.unanswered_groups.len() - groups.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let listed = groups.join(", ");
    let detail = format!(
        "nobody is answered in the listed groups {listed}{more}: groupPolicy is allowlist, and \
         neither groupAllowFrom nor a group's allowFrom names anybody (who is paired is not)"
    );
    let key = if named.is_default() {
        format!("channels.{}", named.channel)
    } else {
        format!("channels.{}.accounts.{}", named.channel, named.account)
    };
    let fix = format!(
        "openclawctl config set {key}.groupAllowFrom '[ID]' with the ids of those who may talk, or \
         openclawctl config set {key}.groupPolicy open for everybody there"
    );
    Some((detail, fix))
}

/// What the configuration lacks for the account, in a line.
pub(crate) fn lacking(state: &AccountState) -> Option<String> {
    if state.attended_since_ms.is_none() {
        let missing = Some(output::line(&state.missing_token));
        return missing.filter(|it| !it.is_empty());
    }
    let named = Named::of(&state.account, state.is_default);
    unanswered(state, &named).map(|(unanswered, _)| unanswered)
}

/// The time of day here.
fn local(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    at.to_zoned(TimeZone::system())
        .strftime("%H:%M:%S")
        .to_string()
}

/// Its state, name, last contact, what waits, and its last error, in one line.
fn details(health: &Health, now_ms: i64) -> String {
    let mut line = health.state.as_str().to_owned();
    if !health.identity.is_empty() {
        line.push_str(&format!(" as {}", output::line(&health.identity)));
    }
    for more in lines(health, now_ms) {
        line.push_str(&format!("; {more}"));
    }
    line
}

/// What there is to say beside its state and name.
pub(crate) fn lines(health: &Health, now_ms: i64) -> Vec<String> {
    let mut lines = Vec::new();
    let left_ms = health.waiting_until_ms.saturating_sub(now_ms);
    if health.state == Connection::Waiting && left_ms > 0 {
        let left = words::duration(Duration::from_millis(left_ms.unsigned_abs()));
        let until = local(health.waiting_until_ms);
        lines.push(format!("rate limited until {until} ({left})"));
    }
    if health.last_contact_ms != 0 {
        let ago = words::ago(health.last_contact_ms, now_ms);
        lines.push(format!("the provider answered {ago}"));
    }
    if health.backlog != 0 {
        let updates = words::count(health.backlog, "update");
        lines.push(format!("{updates} came and not handed in yet"));
    }
    if !health.last_error.is_empty() {
        let ago = words::ago(health.last_error_ms, now_ms);
        let error = output::line(&health.last_error);
        lines.push(format!("last error, {ago}: {error}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::AccountName;

    use super::*;

    fn state(health: Option<Health>) -> AccountState {
        AccountState {
            account: AccountName {
                channel: "telegram".to_owned(),
                account: "work".to_owned(),
            },
            is_default: false,
            is_enabled: true,
            attended_since_ms: health.as_ref().map(|_| 1),
            health,
            missing_token: String::new(),
            unanswered_groups: Vec::new(),
        }
    }

    #[test]
    fn account_that_nobody_attends_is_broken_and_says_what_starts_it() {
        let found = Finding::at(&state(None), 0);
        assert_eq!(found.name, "channel telegram:work");
        assert_eq!(found.condition, Condition::Broken);
        let fix = found.fix.unwrap();
        assert!(
            fix.contains("systemctl --user start openclaw-telegram@work.service"),
            "{fix}"
        );
        assert!(fix.contains("openclawctl start"), "{fix}");
        let off = AccountState {
            is_enabled: false,
            ..state(None)
        };
        assert_eq!(Finding::at(&off, 0).condition, Condition::Off);
    }

    #[test]
    fn account_without_a_token_is_led_to_one() {
        let without = AccountState {
            missing_token: "its token refers to ${WORK}, which is not set".to_owned(),
            ..state(None)
        };
        let found = Finding::at(&without, 0);
        assert_eq!(found.condition, Condition::Broken);
        assert!(found.detail.contains("${WORK}"), "{}", found.detail);
        let fix = found.fix.unwrap();
        assert!(fix.contains("channels add telegram:work"), "{fix}");
        assert!(!fix.contains("openclawctl start"), "{fix}");
        // Its daemon has one that the configuration does not know of.
        let health = Health {
            state: Connection::Connected,
            ..Health::default()
        };
        let attended = AccountState {
            missing_token: without.missing_token,
            ..state(Some(health))
        };
        assert_eq!(Finding::at(&attended, 0).condition, Condition::Well);
    }

    #[test]
    fn groups_where_nobody_is_answered_are_told_with_the_ways_out() {
        let health = Health {
            state: Connection::Connected,
            ..Health::default()
        };
        let groups = (1..8).map(|it| format!("-{it}"));
        let found = AccountState {
            unanswered_groups: groups.collect(),
            ..state(Some(health))
        };
        let found = Finding::at(&found, 0);
        assert_eq!(found.condition, Condition::Partly);
        let named = "-1, -2, -3, -4, -5 and 2 more: groupPolicy is allowlist";
        assert!(found.detail.contains(named), "{}", found.detail);
        let fix = found.fix.unwrap();
        let key = "channels.telegram.accounts.work.groupAllowFrom";
        assert!(
            fix.contains(key) && fix.contains("groupPolicy open"),
            "{fix}"
        );
    }

    #[test]
    fn account_is_judged_by_what_its_daemon_says() {
        for (connection, condition) in [
            (Connection::Connected, Condition::Well),
            (Connection::Connecting, Condition::Unsteady),
            (Connection::Waiting, Condition::Unsteady),
            (Connection::Refused, Condition::Broken),
            (Connection::Conflict, Condition::Broken),
        ] {
            let found = Finding::at(
                &state(Some(Health {
                    state: connection,
                    identity: "@bot".to_owned(),
                    last_contact_ms: 1,
                    last_error: "no\nway".to_owned(),
                    backlog: 2,
                    ..Health::default()
                })),
                5_000,
            );
            assert_eq!(found.condition, condition, "{connection:?}");
            assert_eq!(found.fix.is_none(), condition == Condition::Well);
            let begins = format!("{} as @bot; the provider answered", connection.as_str());
            assert!(found.detail.starts_with(&begins), "{}", found.detail);
            assert!(found.detail.contains("2 updates"), "{}", found.detail);
            assert!(!found.detail.contains('\n'), "{}", found.detail);
        }
    }

    #[test]
    fn account_that_is_rate_limited_says_until_when() {
        let health = Health {
            state: Connection::Waiting,
            waiting_until_ms: 95_000,
            last_error: "Telegram wants fewer requests".to_owned(),
            ..Health::default()
        };
        let detail = |now_ms| Finding::at(&state(Some(health.clone())), now_ms).detail;
        let waiting = detail(5_000);
        assert!(
            waiting.starts_with("waiting; rate limited until "),
            "{waiting}"
        );
        assert!(
            waiting.contains(":35 (1 min 30 s); last error"),
            "{waiting}"
        );
        assert!(!detail(96_000).contains("until"), "{}", detail(96_000));
    }

    #[test]
    fn refused_token_leads_to_the_login() {
        let refused = Health {
            state: Connection::Refused,
            ..Health::default()
        };
        let fix = Finding::at(&state(Some(refused)), 0).fix.unwrap();
        assert!(fix.contains("channels login telegram:work"), "{fix}");
    }
}
