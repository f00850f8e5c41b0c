//! The gateway: the front door of the suite and the owner of sessions, runs
//! and their ledger. It runs no subprocess and holds no model key.

mod door;
mod gateway;
mod notable;
mod recovery;
mod refusal;
mod route;
mod run;
mod sessions;
mod storage;
mod turn;

use std::sync::Arc;

use anyhow::Context as _;
use openclaw_daemon::Daemon;
use openclaw_proto::MESSAGE_LIMIT;
use openclaw_proto::wire::gateway::gateway_server::{GatewayServer, SERVICE_NAME};
use openclaw_proto::wire::gateway::sessions_server::SessionsServer;
use tokio_util::task::AbortOnDropHandle;
use tonic::service::Routes;

use crate::door::{Door, SessionsDoor};
use crate::gateway::Gateway;
use crate::storage::Storage;

/// Serves the gateway on the socket `control` until `daemon.shutdown`, then
/// waits for the turns and writes what is not on disk yet.
pub async fn run(mut daemon: Daemon) -> anyhow::Result<()> {
    let configuration = daemon.configuration.clone();
    let (storage, thread, open_runs) =
        Storage::start(configuration.clone()).context("open the state directory")?;
    let gateway = Gateway::new(configuration, storage.clone(), daemon.notifier.clone());
    recovery::take_up(&gateway, open_runs).await;
    gateway.announce();
    let reload = Arc::clone(&gateway).follow_configuration();
    let _reload = AbortOnDropHandle::new(tokio::spawn(reload));

    let door = GatewayServer::new(Door(Arc::clone(&gateway)))
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let sessions = SessionsServer::new(SessionsDoor(Arc::clone(&gateway)))
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let routes = Routes::new(door).add_service(sessions);
    let drain = async move { gateway.drain().await };
    let served = openclaw_daemon::serve(&mut daemon, SERVICE_NAME, routes, drain).await;
    storage.stop(thread).await;
    served
}
