//! A channel daemon without a channel, to be killed: takes deliveries of the
//! channel `test` from the socket that it is given, "sends" each by a line in a
//! file, and reports it unless it is to keep silent.
//!
//! `channel SOCKET SENT LEASE_MS report|silent`

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_proto::outbox::{Client, Kind, Outcome, Report, Wanted};

/// Before it asks a gateway again that is gone.
const PAUSE: Duration = Duration::from_millis(50);

/// The arguments are not these.
const USAGE: u8 = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [socket, sent, lease_ms, mode] = arguments.as_slice() else {
        return ExitCode::from(USAGE);
    };
    let client = Client::new(socket.into());
    let wanted = Wanted {
        channel: "test".to_owned(),
        account: String::new(),
        lease_ms: lease_ms.parse().unwrap_or_default(),
    };
    loop {
        if let Ok(deliveries) = client.take(wanted.clone()).await {
            let mut deliveries = std::pin::pin!(deliveries);
            while let Some(Ok(delivery)) = deliveries.next().await {
                if delivery.kind == Kind::Typing {
                    continue;
                }
                let line = format!("{} {} {}\n", delivery.id, delivery.attempt, delivery.run_id);
                let file = OpenOptions::new().append(true).create(true).open(sent);
                let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
                if written.is_err() || mode == "silent" {
                    continue;
                }
                let report = Report {
                    id: delivery.id,
                    attempt: delivery.attempt,
                    outcome: Outcome::Delivered(vec![format!("m{}", delivery.id)]),
                };
                // What is not heard comes again.
                let _ = client.report(report).await;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
