//! Serving gRPC on the inherited control socket, from readiness to drain.

use std::convert::Infallible;
use std::future::Future;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use futures_util::stream::select_all;
use openclaw_proto::address::AT_REST;
use openclaw_settings::Settings;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::{HealthReporter, HealthService};
use tower::filter::AsyncFilterLayer;

use crate::activity;
use crate::connections::{self, Guests, ServedListener};
use crate::program::Daemon;
use crate::rest;
use crate::watchdog::{self, Probe};

/// What running work gets to end by itself. With [`CLOSE_DEADLINE`] below the
/// units' TimeoutStopSec=30s, so that the end is ours and not SIGKILL's.
const DRAIN_DEADLINE: Duration = Duration::from_secs(20);
/// What open streams get to be read to their end after that. One that follows a turn
/// which says nothing has none, and whoever connects meanwhile waits in the socket's
/// queue; its reader takes it up again at the next daemon.
const CLOSE_DEADLINE: Duration = Duration::from_millis(250);
/// Calls at once on one connection; each daemon uses one connection to each
/// other, so this bounds what one peer can make us hold.
const CALLS_PER_CONNECTION: u32 = 256;

/// Serves `routes`, named `service` for the health service, on the socket
/// `control` until shutdown, then waits for `drain` up to its deadline.
///
/// A call sees what the configuration's files said when it came.
///
/// It leaves before that when nothing was under way for as long as the settings
/// say and it is started again on demand; whoever connects then waits for the next.
///
/// Health and reflection are added. READY is sent after the first successful
/// health check through the socket itself.
pub async fn serve<S>(
    daemon: &mut Daemon<S>,
    service: &'static str,
    routes: Routes,
    drain: impl Future<Output = ()>,
) -> anyhow::Result<()>
where
    S: AsRef<Settings> + Send + Sync + 'static,
{
    serve_guests(daemon, service, routes, drain, connections::no_guests()).await
}

/// As [`serve`], for `guests` too, and for channel daemons on the socket `channels` where that was
/// passed. `routes` say what those may call.
pub async fn serve_guests<S>(
    daemon: &mut Daemon<S>,
    service: &'static str,
    routes: Routes,
    drain: impl Future<Output = ()>,
    guests: Guests,
) -> anyhow::Result<()>
where
    S: AsRef<Settings> + Send + Sync + 'static,
{
    let listener = daemon.listeners.take("control")?;
    let socket = path_of(&listener)?;
    let of_channels = daemon.listeners.take_present("channels");
    let reporter = HealthReporter::new();
    for name in ["", service] {
        reporter
            .set_service_status(name, ServingStatus::Serving)
            .await;
    }
    let stop = CancellationToken::new();
    let routes = with_health_and_reflection(routes, &reporter)?;
    let mut listeners = vec![served(listener, false)?];
    if let Some(listener) = of_channels {
        listeners.push(served(listener, true)?);
    }
    let mut server = start(listeners, routes, stop.clone(), guests, daemon);

    let mut probe = Probe::new(&socket);
    probe.check().await.context("serve the control socket")?;
    daemon.last_word.take_back();
    daemon.notifier.ready();
    let _watchdog =
        AbortOnDropHandle::new(tokio::spawn(watchdog::feed(daemon.notifier.clone(), probe)));
    let _rest = AbortOnDropHandle::new(tokio::spawn(rest::rest()));

    tokio::select! {
        result = &mut server => {
            result.context("the server task ended")??;
            anyhow::bail!("the server stopped by itself");
        }
        () = told_to_stop(daemon) => {}
    }
    for name in ["", service] {
        reporter
            .set_service_status(name, ServingStatus::NotServing)
            .await;
    }
    if tokio::time::timeout(DRAIN_DEADLINE, drain).await.is_err() {
        tracing::warn!("running work did not end in time and is left");
    }
    stop.cancel();
    match tokio::time::timeout(CLOSE_DEADLINE, &mut server).await {
        Ok(result) => result.context("the server task ended")?,
        Err(_) => {
            tracing::info!("streams of what goes on without this daemon were closed");
            Ok(())
        }
    }
}

/// Waits until the daemon is to end, or may, and tells the service manager so.
async fn told_to_stop<S: AsRef<Settings>>(daemon: &Daemon<S>) {
    tokio::select! {
        () = daemon.shutdown.cancelled() => {
            daemon.notifier.stopping();
            daemon.notifier.status("stopping: waiting for running work");
        }
        () = rest(daemon) => {
            daemon.notifier.stopping();
            daemon.notifier.status(AT_REST);
            tracing::info!("nothing is under way: leaving until somebody connects");
            daemon.shutdown.cancel();
        }
    }
}

/// Waits until the daemon may leave.
async fn rest<S: AsRef<Settings>>(daemon: &Daemon<S>) {
    if !activity::is_on_demand(&daemon.environment) {
        return std::future::pending().await;
    }
    let configuration = &daemon.configuration;
    let limit = || (*configuration.settings()).as_ref().gateway.idle_exit;
    daemon.activity.rest(limit).await;
}

type ServerTask = AbortOnDropHandle<anyhow::Result<()>>;

fn start<S>(
    listeners: Vec<ServedListener>,
    routes: Routes,
    stop: CancellationToken,
    guests: Guests,
    daemon: &Daemon<S>,
) -> ServerTask
where
    S: AsRef<Settings> + Send + Sync + 'static,
{
    let accepted = listeners.into_iter().map(|served| {
        let activity = daemon.activity.clone();
        connections::accepted(served, Arc::clone(&guests), activity).boxed()
    });
    let accepted = select_all(accepted);
    let configuration = daemon.configuration.clone();
    let caught_up = AsyncFilterLayer::new(move |call| {
        let configuration = configuration.clone();
        async move {
            configuration.catch_up().await;
            Ok::<_, Infallible>(call)
        }
    });
    let server = Server::builder()
        .layer(caught_up)
        .max_concurrent_streams(CALLS_PER_CONNECTION)
        .add_routes(routes)
        .serve_with_incoming_shutdown(accepted, stop.cancelled_owned());
    AbortOnDropHandle::new(tokio::spawn(
        async move { server.await.context("serve gRPC") },
    ))
}

fn served(listener: UnixListener, is_channel: bool) -> anyhow::Result<ServedListener> {
    listener
        .set_nonblocking(true)
        .context("make the control socket non-blocking")?;
    let listener =
        tokio::net::UnixListener::from_std(listener).context("take the control socket")?;
    Ok(ServedListener {
        listener,
        is_channel,
    })
}

fn with_health_and_reflection(routes: Routes, reporter: &HealthReporter) -> anyhow::Result<Routes> {
    let health = HealthService::from_health_reporter(reporter.clone());
    let health = tonic_health::pb::health_server::HealthServer::new(health);
    let described = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(openclaw_proto::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let reflection = described().build_v1().context("describe the services")?;
    // What Python's and older clients ask.
    let older = described()
        .build_v1alpha()
        .context("describe the services")?;
    Ok(routes
        .add_service(health)
        .add_service(reflection)
        .add_service(older))
}

fn path_of(listener: &UnixListener) -> anyhow::Result<PathBuf> {
    let address = listener.local_addr().context("name the control socket")?;
    let path = address
        .as_pathname()
        .context("the control socket has no path in the file system")?;
    Ok(path.to_owned())
}
