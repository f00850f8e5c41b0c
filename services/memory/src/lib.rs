//! The memory daemon: what the assistant knows at the start of a conversation,
//! what it finds, and what it keeps.
//!
//! The files are the truth: Markdown in an agent's workspace, folders the
//! configuration adds, and transcripts of conversations. The index is made of
//! them and can be deleted at any time. [`run`] is the whole program; its
//! caller owns the sockets and the end.

mod agents;
mod bootstrap;
mod compact;
mod embedding;
mod error;
mod index;
mod indexer;
mod intake;
mod note;
mod question;
mod recall;
mod service;
pub mod shared;
mod source;
mod store;
mod transcript;
mod watch;
mod worker;
mod workspace;
mod writers;

use std::sync::Arc;

use openclaw_daemon::{Configuration, Daemon, Notifier};
use openclaw_proto::MESSAGE_LIMIT;
use openclaw_proto::wire::memory::memory_server::MemoryServer;
use tokio_util::task::AbortOnDropHandle;
use tonic::service::Routes;

use agents::Agents;
use embedding::Hub;
use service::Service;
use worker::Worker;

/// The name the health service knows the daemon by.
const SERVICE: &str = "openclaw.memory.v1.Memory";

/// Serves openclaw.memory.v1.Memory until shutdown.
///
/// Workspaces are indexed beside, so that readiness does not wait for them.
pub async fn run(mut daemon: Daemon) -> anyhow::Result<()> {
    let configuration = daemon.configuration.clone();
    let table = shared::table(&daemon.environment);
    if table.is_none() {
        tracing::warn!(
            "the table of word vectors is not installed; only keywords are searched \
             (packaging/install puts it into share/openclaw)"
        );
    }
    let agents = Arc::new(Agents::new(
        configuration.clone(),
        table,
        Worker::default(),
        Hub::default(),
    ));
    agents.follow();
    let following = follow(configuration, Arc::clone(&agents));
    let _following = AbortOnDropHandle::new(tokio::spawn(following));
    let report = report(Arc::clone(&agents), daemon.notifier.clone());
    let _report = AbortOnDropHandle::new(tokio::spawn(report));
    let working = Arc::clone(&agents);
    let is_busy = move || working.worker().is_busy() || working.hub().is_asked();
    daemon.activity.busy_while(is_busy);
    let server = MemoryServer::new(Service::new(Arc::clone(&agents)))
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    // Calls that are being answered are waited for by the server itself; what
    // is indexed only in memory is written.
    let drained = async move {
        let closed = tokio::task::spawn_blocking(move || agents.close());
        // It can only end by a panic, which ends the process.
        let _ = closed.await;
    };
    openclaw_daemon::serve(&mut daemon, SERVICE, Routes::new(server), drained).await
}

/// Follows the configuration.
async fn follow(mut configuration: Configuration, agents: Arc<Agents>) {
    while configuration.changed().await {
        agents.follow();
    }
}

/// Keeps the status line true.
async fn report(agents: Arc<Agents>, notifier: Notifier) {
    let mut configuration = agents.configuration().clone();
    loop {
        let (files, passages) = service::size(&agents);
        let mut line = format!(
            "{}, {} indexed",
            count(files, "file"),
            count(passages, "passage")
        );
        if !configuration.problem().is_empty() {
            line.push_str("; the configuration file has a mistake and is not used");
        }
        notifier.status(&line);
        let more = tokio::select! {
            () = agents.worker().progressed() => true,
            changed = configuration.changed() => changed,
        };
        if !more {
            return;
        }
    }
}

fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}
