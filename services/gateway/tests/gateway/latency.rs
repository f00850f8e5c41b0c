use crate::suite::*;
use std::time::Instant;
#[tokio::test]
#[ignore]
async fn latency() {
    let suite = Suite::start().await;
    let mut v = Vec::new();
    let mut acc = Vec::new();
    for i in 0..300 {
        let t = Instant::now();
        let (accepted, replies) = suite.say("hi").await;
        acc.push(t.elapsed());
        suite.runner.started().await;
        suite.runner.say(&accepted.run_id, text("hello"));
        suite.runner.say(&accepted.run_id, done());
        rest(replies).await;
        if i > 20 {
            v.push(t.elapsed());
        }
    }
    v.sort();
    acc.sort();
    println!(
        "roundtrip p50 {:?} p95 {:?}; accept p50 {:?}",
        v[v.len() / 2],
        v[v.len() * 95 / 100],
        acc[acc.len() / 2]
    );
}
