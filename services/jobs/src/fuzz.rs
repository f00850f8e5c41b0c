//! Jobs as clients describe them.

use serde_json::{Map, Value};

use super::Job;

/// 2026-11-21 09:00 UTC, a Saturday.
const NOW: i64 = 1_795_251_600_000;

/// Some weeks after.
const LATER: i64 = NOW + 4_000_000_000;

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
    let due = ran.fall_due(LATER);
    let in_order = due.windows(2).all(|two| two[0].until_ms < two[1].at_ms);
    assert!(in_order, "{due:?}");
    assert!(ran.next_ms().is_none_or(|next| next > LATER), "{ran:?}");
}
