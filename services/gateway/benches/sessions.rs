//! Listing 10,000 sessions and opening a transcript of 1,000,000 entries,
//! through the gateway's socket.
//!
//! `cargo bench -p openclaw-gateway --bench sessions`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark is a program that prints and may fail"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use openclaw_config::{Environment, Paths};
use openclaw_daemon::configuration::Owner;
use openclaw_daemon::{Activity, Daemon, LastWord, Notifier};
use openclaw_proto::sessions::{Client, Named, Part, Query};
use tokio_util::sync::CancellationToken;

const SESSIONS: usize = 10_000;
const ENTRIES: usize = 1_000_000;
const ATTEMPTS: usize = 11;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(measure());
}

async fn measure() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let environment: Environment = [
        (
            "OPENCLAW_STATE_DIR",
            dir.path().to_str().unwrap().to_owned(),
        ),
        (
            "OPENCLAW_RUNTIME_DIR",
            dir.path().join("run").to_str().unwrap().to_owned(),
        ),
    ]
    .into_iter()
    .collect();
    let paths = Paths::resolve(&environment).unwrap();
    many(&paths.sessions("main"));
    std::fs::create_dir(dir.path().join("run")).unwrap();
    let listener = UnixListener::bind(paths.gateway_socket()).unwrap();
    let (_owner, configuration) = Owner::new(openclaw_settings::load(&environment).unwrap());
    let shutdown = CancellationToken::new();
    let daemon = Daemon {
        configuration,
        environment,
        listeners: [("control", listener)].into_iter().collect(),
        notifier: Notifier::default(),
        shutdown: shutdown.clone(),
        activity: Activity::default(),
        last_word: LastWord::default(),
    };
    let gateway = tokio::spawn(openclaw_gateway::run(daemon));
    let client = Client::new(paths.gateway_socket());
    println!("first list, which counts: {:?}", list(&client).await);
    let mut times = Vec::new();
    for _ in 0..ATTEMPTS {
        times.push(list(&client).await);
    }
    times.sort();
    println!(
        "{SESSIONS} sessions: median {:?} (20 ms wanted)",
        times[ATTEMPTS / 2]
    );
    let named = Named {
        session: "long",
        agent_id: "",
    };
    let mut times = Vec::new();
    for _ in 0..ATTEMPTS {
        let started = Instant::now();
        let reading = client.read(
            named,
            Part {
                limit: 50,
                all: true,
                ..Part::default()
            },
        );
        assert_eq!(reading.await.unwrap().items.len(), 50);
        times.push(started.elapsed());
    }
    times.sort();
    println!(
        "newest 50 of {ENTRIES} entries: median {:?}",
        times[ATTEMPTS / 2]
    );
    shutdown.cancel();
    gateway.await.unwrap().unwrap();
}

async fn list(client: &Client) -> Duration {
    let started = Instant::now();
    let page = client.list(Query::default()).await.unwrap();
    let took = started.elapsed();
    assert_eq!(page.sessions.len(), SESSIONS);
    took
}

/// Sessions of two messages each, and one that is long.
fn many(sessions: &Path) {
    std::fs::create_dir_all(sessions).unwrap();
    let mut index = String::from("{");
    for n in 0..SESSIONS {
        let (key, entries) = if n == 0 {
            ("long".to_owned(), ENTRIES)
        } else {
            (format!("s{n}"), 2)
        };
        transcript(&sessions.join(format!("id-{n}.jsonl")), n, entries);
        let comma = if n == 0 { "" } else { "," };
        write!(
            index,
            r#"{comma}"agent:main:{key}":{{"sessionId":"id-{n}","updatedAt":{},"sessionStartedAt":1795219200000,"lastChannel":"cli","model":"claude-sonnet-5","modelProvider":"anthropic","inputTokens":1200,"outputTokens":300,"totalTokens":1500,"status":"done","chatType":"direct"}}"#,
            1_795_219_200_000_u64 + n as u64
        )
        .unwrap();
    }
    index.push('}');
    std::fs::write(sessions.join("sessions.json"), index).unwrap();
}

fn transcript(path: &Path, n: usize, entries: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    writeln!(file, r#"{{"type":"session","version":3,"id":"id-{n}","timestamp":"2026-11-21T00:00:00.000Z","cwd":"/w"}}"#).unwrap();
    let mut parent = "null".to_owned();
    for entry in 0..entries {
        writeln!(file, r#"{{"type":"message","id":"{entry:08x}","parentId":{parent},"timestamp":"2026-11-21T00:00:00.000Z","message":{{"role":"user","content":"message {entry} of ordinary length","timestamp":1795219200000}}}}"#).unwrap();
        parent = format!("\"{entry:08x}\"");
    }
    file.flush().unwrap();
}
