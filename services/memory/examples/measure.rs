#![allow(clippy::all, clippy::unwrap_used, clippy::print_stdout)]
//! scratch
use openclaw_proto::{memory::Client, origin::Origin};
use std::time::Instant;
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let socket = std::env::args().nth(1).unwrap();
    let rounds: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let client = Client::new(socket.into());
    let origin = Origin {
        run_id: "r".into(),
        session_key: "s".into(),
    };
    let begin = Instant::now();
    loop {
        let s = client.status().await.unwrap();
        if s.files >= std::env::args().nth(3).unwrap().parse().unwrap() {
            println!(
                "{} files {} chunks after {:?}",
                s.files,
                s.chunks,
                begin.elapsed()
            );
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let words: Vec<String> = std::fs::read_to_string("/tmp/mem-words")
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let mut times = vec![];
    let mut boots = vec![];
    let mut found = 0;
    for i in 0..rounds {
        let q = format!(
            "where did we put the {} and {} of {}",
            words[i * 7 % words.len()],
            words[i * 31 % words.len()],
            words[i * 57 % words.len()]
        );
        let t = Instant::now();
        let h = client.search(&origin, "main", &q, 6).await.unwrap();
        times.push(t.elapsed());
        found += h.len();
        let t = Instant::now();
        client.load_bootstrap(&origin, "main").await.unwrap();
        boots.push(t.elapsed());
    }
    times.sort();
    boots.sort();
    let p = |v: &Vec<std::time::Duration>, q: f64| v[((v.len() - 1) as f64 * q) as usize];
    println!(
        "search p50 {:?} p95 {:?} p99 {:?} hits {found}; bootstrap p50 {:?} p99 {:?}",
        p(&times, 0.5),
        p(&times, 0.95),
        p(&times, 0.99),
        p(&boots, 0.5),
        p(&boots, 0.99)
    );
}
