//! The memory daemon: what the assistant knows at the start of a conversation,
//! what it finds, and what it keeps.
//!
//! The Markdown files in an agent's workspace are the truth, and the index in
//! memory is built from them at every start. [`run`] is the whole program; its
//! caller owns the sockets and the end.

mod agents;
mod analysis;
mod bootstrap;
mod error;
mod index;
mod note;
mod passage;
mod search;
mod service;
mod source;
mod store;
mod worker;
mod workspace;

use std::sync::Arc;

use openclaw_daemon::{Configuration, Daemon};
use openclaw_proto::MESSAGE_LIMIT;
use openclaw_proto::wire::memory::memory_server::MemoryServer;
use tokio_util::task::AbortOnDropHandle;
use tonic::service::Routes;

use agents::Agents;
use service::Service;
use worker::Worker;

/// The name the health service knows the daemon by.
const SERVICE: &str = "openclaw.memory.v1.Memory";

/// Serves openclaw.memory.v1.Memory until shutdown.
///
/// Workspaces are indexed beside, so that readiness does not wait for them.
pub async fn run(mut daemon: Daemon) -> anyhow::Result<()> {
    let configuration = daemon.configuration.clone();
    let agents = Arc::new(Agents::new(configuration.clone()));
    let worker = Worker::new(Arc::clone(&agents), daemon.notifier.clone());
    let indexing = tokio::spawn(index(configuration, worker.clone()));
    let _indexing = AbortOnDropHandle::new(indexing);
    let server = MemoryServer::new(Service::new(agents, worker))
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    // Calls that are being answered are waited for by the server itself, and
    // there is no other work that must end.
    let drained = std::future::ready(());
    openclaw_daemon::serve(&mut daemon, SERVICE, Routes::new(server), drained).await
}

/// Indexes every workspace now and whenever the configuration changes.
async fn index(mut configuration: Configuration, worker: Worker) {
    loop {
        worker.catch_up_with_all();
        if !configuration.changed().await {
            return;
        }
    }
}
