//! The timers that start the gateway for the job that is due next.

use std::fs;

use jiff::{SignedDuration, Timestamp};
use openclaw_proto::runner::{Alarm, Armed};
use zbus::zvariant::{Type, Value};

use super::Error;
use super::systemd::{Properties, Systemd, TARGET, is_no_unit};

/// It starts the service of its name, which is installed.
const TIMER: &str = "openclaw-schedule.timer";

/// The same, for a job that is due later and is to wake the machine: what it starts has the other
/// one's service started. That a timer starts a unit of another name can be said in files alone.
const WAKING_TIMER: &str = "openclaw-schedule-wake.timer";

/// systemd's own default is a minute.
const ACCURACY_US: u64 = 100_000;

/// CAP_WAKE_ALARM among the bits of a process's capabilities.
const WAKE_ALARM: u64 = 1 << 35;

impl Systemd {
    /// Replaces the timers by those for `alarm`, or by none. A job that is to wake the
    /// machine has one of its own where another job is due before: that one would
    /// pass while the machine sleeps.
    pub(super) async fn arm(&self, alarm: Option<Alarm>) -> Result<Armed, Error> {
        let wake_at_ms = alarm.and_then(|alarm| alarm.wake_at_ms);
        let wake_at_ms = wake_at_ms.filter(|_| may_wake());
        let is_next = |at_ms| alarm.is_some_and(|alarm| alarm.at_ms == at_ms);
        let next = alarm.map(|alarm| (alarm.at_ms, wake_at_ms == Some(alarm.at_ms)));
        let waking = wake_at_ms.filter(|at_ms| !is_next(*at_ms));
        self.replace(TIMER, next).await?;
        self.replace(WAKING_TIMER, waking.map(|at_ms| (at_ms, true)))
            .await?;
        Ok(Armed {
            is_armed: alarm.is_some(),
            wakes_system: wake_at_ms.is_some(),
        })
    }

    /// Replaces a timer by one for a time, which may wake the machine, or by none.
    async fn replace(&self, timer: &str, at: Option<(i64, bool)>) -> Result<(), Error> {
        let failed = |source| Error::Unit {
            unit: timer.to_owned(),
            source: Box::new(source),
        };
        match self.ask("StopUnit", &(timer, "replace")).await {
            Err(error) if !is_no_unit(&error) => return Err(failed(error)),
            _ => {}
        }
        let Some((at_ms, wakes_system)) = at else {
            return Ok(());
        };
        self.start_transient(timer, properties(at_ms, wakes_system))
            .await
            .map_err(failed)
    }
}

/// OnCalendar=: what it is called, and when.
#[derive(Debug, Type, Value)]
struct Calendar {
    name: String,
    time: String,
}

fn properties(at_ms: i64, wakes_system: bool) -> Properties<'static> {
    vec![
        ("Description", "Next job of the OpenClaw schedule".into()),
        (
            "TimersCalendar",
            vec![Calendar {
                name: "OnCalendar".to_owned(),
                time: calendar(at_ms),
            }]
            .into(),
        ),
        ("AccuracyUSec", ACCURACY_US.into()),
        ("RemainAfterElapse", false.into()),
        ("WakeSystem", wakes_system.into()),
        // With the suite goes what would start it again.
        ("PartOf", vec![TARGET.to_owned()].into()),
    ]
}

/// The time as systemd.time(7) has it. One that is past would never come.
fn calendar(at_ms: i64) -> String {
    let soon = Timestamp::now() + SignedDuration::from_secs(1);
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(soon).max(soon);
    at.strftime("%Y-%m-%d %H:%M:%S%.3f UTC").to_string()
}

/// Whether the manager, which started this process, may wake the machine.
fn may_wake() -> bool {
    let status = format!("/proc/{}/status", nix::unistd::getppid());
    fs::read_to_string(status).is_ok_and(|status| has_wake_alarm(&status))
}

fn has_wake_alarm(status: &str) -> bool {
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits & WAKE_ALARM != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_is_the_time_or_soon() {
        assert_eq!(calendar(4_102_444_799_250), "2099-12-31 23:59:59.250 UTC");
        assert!(calendar(1).as_str() > "2026");
    }

    #[test]
    fn has_wake_alarm_reads_the_capability() {
        assert!(has_wake_alarm("Name:\tx\nCapEff:\t0000000800000000\n"));
        assert!(!has_wake_alarm("Name:\tx\nCapEff:\t0000000000000000\n"));
        assert!(!has_wake_alarm(""));
    }
}
