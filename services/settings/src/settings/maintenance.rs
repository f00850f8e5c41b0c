//! `session.maintenance`: what becomes of old sessions and of their files.

use std::time::Duration;

use crate::keys::maintenance::{Age, Bytes, Maintenance as Written, MaintenanceMode, OrNever};

/// What becomes of sessions that are too old or too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// Whether it is done or only said.
    pub mode: MaintenanceMode,
    /// How long nothing may have happened in one.
    pub prune_after: Duration,
    /// The same for those of a dashboard; `None`: as the others.
    pub dashboards_after: Option<Duration>,
    /// The same for isolated runs of jobs, which are removed then.
    pub runs_after: Option<Duration>,
    /// The most of one agent that are not archived.
    pub max_entries: u64,
    /// Those in which something happened so lately stay.
    pub preserve_recent: Option<Duration>,
    /// How long archives of transcripts are kept; `None`: for ever.
    pub archives_for: Option<Duration>,
    /// What the files of an agent's sessions may take.
    pub disk: Option<DiskBudget>,
}

/// What files may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskBudget {
    /// Bytes, above which something is removed,
    pub most: u64,
    /// until no more than these are left.
    pub target: u64,
}

impl Maintenance {
    /// What is done with old sessions; `runs_after` is of isolated runs of jobs and
    /// holds also where nothing else does. None: nothing.
    pub(super) fn of(written: Option<&Written>, runs_after: OrNever<Age>) -> Option<Self> {
        let runs_after = age(runs_after);
        let base = match written {
            Some(written) => Self::whole(written),
            None => Self::runs_alone(runs_after?),
        };
        Some(Self { runs_after, ..base })
    }

    fn runs_alone(after: Duration) -> Self {
        Self {
            mode: MaintenanceMode::Enforce,
            prune_after: Duration::MAX,
            dashboards_after: None,
            runs_after: Some(after),
            max_entries: u64::from(u32::MAX),
            preserve_recent: None,
            archives_for: None,
            disk: None,
        }
    }

    fn whole(written: &Written) -> Self {
        let OrNever(most) = written.max_disk_bytes;
        let target = written.high_water_bytes.map(|Bytes(target)| target);
        Self {
            mode: written.mode,
            prune_after: written.prune_after.0,
            dashboards_after: age(written.archive_dashboard_after),
            runs_after: None,
            max_entries: written.max_entries,
            preserve_recent: age(written.preserve_recent),
            archives_for: age(written.reset_archive_retention),
            disk: most.map(|Bytes(most)| DiskBudget {
                most,
                target: match target {
                    Some(target) if target > 0 => target.min(most),
                    _ => (most / 5 * 4).max(1).min(most),
                },
            }),
        }
    }
}

fn age(OrNever(age): OrNever<Age>) -> Option<Duration> {
    age.map(|Age(age)| age)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn days(days: u64) -> Duration {
        Duration::from_secs(days * 24 * 60 * 60)
    }

    fn of(written: Value) -> Maintenance {
        let written = serde_json::from_value(written).unwrap();
        Maintenance::of(Some(&written), OrNever(None)).unwrap()
    }

    #[test]
    fn runs_of_jobs_go_where_nothing_else_does() {
        let day = OrNever(Some(Age(days(1))));
        let alone = Maintenance::of(None, day).unwrap();
        assert_eq!(alone.runs_after, Some(days(1)));
        assert_eq!((alone.dashboards_after, alone.disk), (None, None));
        assert_eq!(Maintenance::of(None, OrNever(None)), None);
    }

    #[test]
    fn maintenance_what_is_not_said_is_as_in_openclaw() {
        let unset = of(json!({}));
        assert_eq!(unset.mode, MaintenanceMode::Enforce);
        assert_eq!(unset.prune_after, days(30));
        assert_eq!(unset.dashboards_after, Some(days(7)));
        assert_eq!(unset.max_entries, 5000);
        assert_eq!((unset.preserve_recent, unset.archives_for), (None, None));
        assert_eq!(unset.disk.unwrap().most, 10 << 30);
        assert_eq!(unset.disk.unwrap().target, (10 << 30) / 5 * 4);
    }

    #[test]
    fn bounds_are_as_written() {
        let set = of(json!({
            "mode": "warn", "pruneAfter": "2h", "archiveDashboardAfter": false,
            "maxEntries": 7, "preserveRecent": "1d", "resetArchiveRetention": 3,
            "maxDiskBytes": "1mb", "highWaterBytes": "2mb",
        }));
        assert_eq!(set.mode, MaintenanceMode::Warn);
        assert_eq!(set.prune_after, Duration::from_secs(7200));
        assert_eq!((set.dashboards_after, set.max_entries), (None, 7));
        assert_eq!(set.preserve_recent, Some(days(1)));
        assert_eq!(set.archives_for, Some(days(3)));
        let budget = |most, target| Some(DiskBudget { most, target });
        assert_eq!(set.disk, budget(1 << 20, 1 << 20));
        assert_eq!(of(json!({"maxDiskBytes": "0"})).disk, None);
        let zero = json!({"maxDiskBytes": 1000, "highWaterBytes": 0});
        assert_eq!(of(zero).disk, budget(1000, 800));
    }
}
