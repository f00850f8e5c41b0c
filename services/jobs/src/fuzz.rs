//! Jobs as clients describe them.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::{CatchUp, Job, when};

/// 2026-11-21 09:00 UTC, a Saturday.
const NOW: i64 = 1_795_251_600_000;

/// Some weeks after.
const LATER: i64 = NOW + 4_000_000_000;

/// Of more planned times that were missed, one row stands for the older ones.
const MOST_DUE: usize = 51;

/// What a job has that the input does not say.
const TEMPLATE: &str = r#"{"name":"n","sessionTarget":"main","wakeMode":"now",
    "payload":{"kind":"systemEvent","text":"t"}}"#;

/// A line with the fields of a job, and lines with changes of it. Each is a job
/// or refused; what is kept is read the same; and a job is due after now, or not
/// at all.
pub fn schedule(text: &str) {
    let mut lines = text.lines().map(|line| {
        let fields = serde_json::from_str::<Map<String, Value>>(line);
        fields.unwrap_or_default()
    });
    let mut fields: Map<String, Value> = serde_json::from_str(TEMPLATE).expect("fields");
    fields.extend(lines.next().unwrap_or_default());
    let Ok(mut job) = Job::new("id".to_owned(), Value::Object(fields), NOW) else {
        return;
    };
    check(&job);
    for patch in lines {
        match job.patched(patch, NOW) {
            Ok(patched) => job = patched,
            Err(invalid) => assert!(!invalid.to_string().is_empty()),
        }
        check(&job);
    }
}

fn check(job: &Job) {
    assert_eq!(job.id(), "id");
    assert_eq!(job.created_ms(), NOW);
    assert!(job.next_ms().is_none_or(|next| next > NOW), "{job:?}");
    assert_eq!(Job::read(&job.stored()).as_ref(), Some(job));
    let _ = (job.to_json(), job.revision(), job.delivery_preview());
    let mut ran = job.clone();
    ran.begin(NOW);
    assert!(ran.is_running());
    ran.forget_run();
    assert_eq!(ran, *job);
    let due = ran.fall_due(LATER, CatchUp::Once);
    let in_order = due.windows(2).all(|two| two[0].until_ms < two[1].at_ms);
    assert!(in_order, "{due:?}");
    assert!(ran.next_ms().is_none_or(|next| next > LATER), "{ran:?}");
}

/// A time as people say it, in zones of all kinds: a time or the forms that there are,
/// and the same whenever it is said.
pub fn when(text: &str) {
    for name in ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"] {
        let zone = TimeZone::get(name).expect("a zone");
        let read = when::read(text, Some(zone.clone()), NOW);
        match (&read, when::read(text, Some(zone), NOW)) {
            (Ok(at), Ok(again)) => assert_eq!(*at, again),
            (Err(invalid), Err(_)) => assert!(!invalid.to_string().is_empty()),
            other => panic!("{other:?}"),
        }
    }
}

/// A job as a row of the ledger has it, maybe of another version or hand: none, or one
/// that is kept the same, and of which no more runs are due than are kept.
pub fn job_row(text: &str) {
    let Some(job) = Job::read(text) else {
        return;
    };
    let again = Job::read(&job.stored()).expect("what was kept is read");
    assert_eq!(again.stored(), job.stored());
    let _ = (job.to_json(), job.revision(), job.delivery_preview());
    let mut ran = job.clone();
    ran.begin(NOW);
    ran.forget_run();
    let due = ran.fall_due(LATER, CatchUp::Once);
    assert!(due.len() <= MOST_DUE, "{}", due.len());
}
