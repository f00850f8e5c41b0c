//! The gateway: the front door of the suite and the owner of sessions, runs
//! and their ledger. It runs no subprocess and holds no model key.

mod settings;

use std::sync::Arc;

use openclaw_conversations::storage::{Fault, Storage};
use openclaw_daemon::Daemon;
use openclaw_doors::{
    ChannelAdminService, ChannelsService, Classes, Doors, EventsService, GatewayService,
    OutboxService, ScheduleService, SessionsService, WebSocket,
};
use openclaw_proto::MESSAGE_LIMIT;
use openclaw_proto::wire::channel::channels_server::ChannelsServer;
use openclaw_proto::wire::gateway::channel_admin_server::ChannelAdminServer;
use openclaw_proto::wire::gateway::device_admin_server::DeviceAdminServer;
use openclaw_proto::wire::gateway::events_server::EventsServer;
use openclaw_proto::wire::gateway::gateway_server::{GatewayServer, SERVICE_NAME};
use openclaw_proto::wire::gateway::outbox_server::OutboxServer;
use openclaw_proto::wire::gateway::schedule_server::ScheduleServer;
use openclaw_proto::wire::gateway::sessions_server::SessionsServer;
use openclaw_runs::Core;
use openclaw_schedule::Schedule;
use openclaw_websocket::Server;
use tokio_util::task::AbortOnDropHandle;
use tonic::service::Routes;

pub use settings::load;

/// Serves the gateway on the socket `control`, and on the TCP sockets `http`
/// and `cli` when they were passed, until `daemon.shutdown`, then
/// waits for the turns and writes what is not on disk yet.
pub async fn run(mut daemon: Daemon) -> anyhow::Result<()> {
    let configuration = daemon.configuration.clone();
    let (storage, thread, open_runs) = match Storage::start(configuration.clone()) {
        Ok(started) => started,
        Err(fault) => return Err(not_opened(fault, &daemon)),
    };
    let core = Core::new(configuration, storage.clone(), daemon.notifier.clone());
    let doors = Doors::new(Arc::clone(&core), Schedule::new(&core));
    let server = Server::new(Arc::clone(&core), Arc::clone(&doors));
    core.take_up(open_runs).await;
    let reload = Arc::clone(&core).follow_configuration();
    let _reload = AbortOnDropHandle::new(tokio::spawn(reload));

    let running = Arc::clone(&doors.schedule).run();
    let _running = AbortOnDropHandle::new(tokio::spawn(running));
    let pruning = Arc::clone(&core.feed).prune_now_and_then();
    let _pruning = AbortOnDropHandle::new(tokio::spawn(pruning));
    let tidying = Arc::clone(&core.outbox).tidy_now_and_then();
    let _tidying = AbortOnDropHandle::new(tokio::spawn(tidying));
    let forgetting = Arc::clone(&doors.channels).tidy_now_and_then();
    let _forgetting = AbortOnDropHandle::new(tokio::spawn(forgetting));
    let removing = Arc::clone(&doors.channels).end_removed();
    let _removing = AbortOnDropHandle::new(tokio::spawn(removing));
    let secret = Arc::clone(&server).follow_secret();
    let _secret = AbortOnDropHandle::new(tokio::spawn(secret));
    let websocket: Arc<dyn WebSocket> = Arc::<Server>::clone(&server);
    let shutdown = daemon.shutdown.clone();
    let activity = daemon.activity.clone();
    let listeners = &mut daemon.listeners;
    let open = openclaw_doors::open(&doors, &websocket, listeners, shutdown, &activity)?;
    let (working, schedule) = (Arc::clone(&core), Arc::clone(&doors.schedule));
    activity.busy_while(move || working.is_busy() || schedule.needs_gateway());
    let routes = routes(&doors, &server);
    let front = Arc::clone(&doors.front);
    let guests = Arc::new(move |uid| front.settings().gateway.channel_uids.contains(&uid));
    let drain = async move {
        doors.channels.close();
        core.drain().await;
        server.close();
        open.close().await;
    };
    let served =
        openclaw_daemon::serve_guests(&mut daemon, SERVICE_NAME, routes, drain, guests).await;
    storage.stop(thread).await;
    served
}

/// What is served on the control socket, each with what its class lets in.
fn routes(doors: &Arc<Doors>, server: &Arc<Server>) -> Routes {
    let door = GatewayServer::new(GatewayService(Arc::clone(doors)))
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let sessions = SessionsServer::new(SessionsService(Arc::clone(doors)))
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let events = EventsServer::new(EventsService(Arc::clone(doors)))
        .max_encoding_message_size(MESSAGE_LIMIT);
    let outbox = OutboxServer::new(OutboxService(Arc::clone(doors)))
        .max_encoding_message_size(MESSAGE_LIMIT);
    let channels = ChannelsServer::new(ChannelsService(Arc::clone(doors)))
        .max_decoding_message_size(MESSAGE_LIMIT);
    let schedule = ScheduleServer::new(ScheduleService(Arc::clone(doors)))
        .max_encoding_message_size(MESSAGE_LIMIT);
    let of_channels = ChannelAdminServer::new(ChannelAdminService(Arc::clone(doors)));
    let of_devices = DeviceAdminServer::new(server.device_admin());
    let front = &doors.front;
    Routes::new(Classes::around(door, Arc::clone(front)))
        .add_service(Classes::around(sessions, Arc::clone(front)))
        .add_service(Classes::around(events, Arc::clone(front)))
        .add_service(Classes::around(outbox, Arc::clone(front)))
        .add_service(Classes::around(schedule, Arc::clone(front)))
        .add_service(Classes::around(channels, Arc::clone(front)))
        .add_service(Classes::around(of_channels, Arc::clone(front)))
        .add_service(Classes::around(of_devices, Arc::clone(front)))
}

fn not_opened(fault: Fault, daemon: &Daemon) -> anyhow::Error {
    let is_lasting = fault.is_lasting();
    let error = anyhow::Error::from(fault).context("open the state directory");
    if is_lasting {
        daemon.cannot_start(error)
    } else {
        error
    }
}
