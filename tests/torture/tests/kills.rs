//! Five hundred kills, and two hundred more where messages come by Telegram.
//! `TORTURE_SEED` repeats those of an earlier run.

#![cfg(test)]
#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "only #[test] functions are excepted"
)]

use std::time::Duration;

use torture::{Plan, Report, RunningSuite, torture};

const KILLS: usize = 500;
const KILLS_ON_TELEGRAM: usize = 200;
/// Between an answer and the next message: much is under way at each kill.
const REST: Duration = Duration::from_secs(5);
/// Three minutes, of which the kills are at most two on an idle machine.
const LIMIT: Duration = Duration::from_secs(180);

fn seed() -> u64 {
    let seed = match std::env::var("TORTURE_SEED") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => fastrand::u64(..),
    };
    println!("seed {seed}");
    seed
}

async fn tortured(suite: RunningSuite, plan: Plan) -> Report {
    let seed = plan.seed;
    let report = tokio::time::timeout(LIMIT, torture(&suite, &plan)).await;
    let report = report.unwrap_or_else(|_| panic!("not within {LIMIT:?}, seed {seed}"));
    let report = report.unwrap();
    println!("{report}");
    assert!(report.wrong.is_empty(), "seed {seed}: {report}");
    report
}

#[tokio::test]
async fn five_hundred_kills_lose_nothing() {
    let suite = RunningSuite::own().await.unwrap();
    tortured(suite, Plan::new(seed(), KILLS)).await;
}

#[tokio::test]
async fn kills_two_hundred_kills_lose_nothing_on_telegram() {
    let suite = RunningSuite::telegram().await.unwrap();
    let mut plan = Plan::telegram(seed(), KILLS_ON_TELEGRAM);
    plan.rest = REST;
    tortured(suite, plan).await;
}
