//! What confinement adds to starting a program. Measures, so it runs on request:
//! `cargo test --release -p openclaw-sandbox --test cost -- --ignored --nocapture`

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use support::{Caller, Site, callers};

const ROUNDS: usize = 200;
/// The build is not optimised where this is exceeded, or something is badly wrong.
const MOST: Duration = Duration::from_millis(20);

fn median(mut start: impl FnMut() -> Command) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let mut command = start();
            let begin = Instant::now();
            assert!(command.status().unwrap().success());
            begin.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

#[test]
#[ignore = "measures"]
fn cost_of_a_confined_start() {
    let mut rows = Vec::new();
    for caller in callers() {
        let site = Site::new(caller);
        let plain = || site.called(Command::new("/bin/true"));
        rows.push((format!("{caller:?} plain"), median(plain)));
        rows.push((
            format!("{caller:?} confined"),
            median(|| site.command("/bin/true", &[])),
        ));
        if caller == Caller::Root {
            let mut hidden = Site::new(caller);
            hidden.plan.hide = vec![hidden.path("outside"), "/root".into()];
            let row = median(|| hidden.command("/bin/true", &[]));
            rows.push((format!("{caller:?} confined, home hidden"), row));
        }
        let off = Site::new(caller).off();
        rows.push((
            format!("{caller:?} off"),
            median(|| off.command("/bin/true", &[])),
        ));
    }
    for (name, time) in &rows {
        println!("{name:<30} {:>6.2} ms", time.as_secs_f64() * 1000.0);
    }
    assert!(rows.iter().all(|(_, time)| *time < MOST));
}
