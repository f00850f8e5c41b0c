//! Five hundred kills. `TORTURE_SEED` repeats those of an earlier run.

use std::time::Duration;

use torture::{Ground, Plan, torture};

const KILLS: usize = 500;
/// Three minutes, of which the kills are at most two on an idle machine.
const LIMIT: Duration = Duration::from_secs(180);

#[tokio::test]
async fn five_hundred_kills_lose_nothing() {
    let seed = match std::env::var("TORTURE_SEED") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => fastrand::u64(..),
    };
    println!("seed {seed}");
    let ground = Ground::own().await.unwrap();
    let report = tokio::time::timeout(LIMIT, torture(&ground, &Plan::new(seed, KILLS))).await;
    let report = report.unwrap_or_else(|_| panic!("not within {LIMIT:?}, seed {seed}"));
    let report = report.unwrap();
    println!("{report}");
    assert!(report.wrong.is_empty(), "seed {seed}: {report}");
}
