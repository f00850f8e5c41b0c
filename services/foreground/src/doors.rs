//! The gateway's TCP sockets, which systemd's socket units would bind.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use openclaw_config::Environment;
use openclaw_settings::LogLevel;
use openclaw_settings::Settings;
use openclaw_terminal::Failure;
use tokio::net::TcpSocket;

use crate::log::Log;
use crate::port;

/// Clients that may wait while the gateway starts or is restarted; Backlog= of
/// the units.
const BACKLOG: u32 = 1024;
/// FileDescriptorName= of the units.
const MAIN: &str = "http";
const CLI: &str = "cli";

/// Listening sockets by name.
#[derive(Debug, Default)]
pub(crate) struct Doors(Vec<(&'static str, TcpListener)>);

impl Doors {
    /// Binds what the configuration asks for. Where nobody chose the port and
    /// somebody else has it, another user's suite or an OpenClaw that still runs
    /// perhaps, a free one is taken, and kept.
    pub(crate) fn bind(
        settings: Settings,
        environment: &Environment,
        log: &Log,
    ) -> Result<Self, Failure> {
        let settings = settings.with_gateway_secrets(environment, &BTreeMap::new())?;
        let mut doors = Self::default();
        doors.open_main(&settings, environment, log)?;
        let cli = &settings.gateway.cli;
        if cli.secret.is_some() {
            let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), cli.port);
            let bound =
                listen(address).map_err(|error| taken(address, &error, "gateway.cli.port"))?;
            doors.add(CLI, bound, log)?;
        }
        Ok(doors)
    }

    fn open_main(
        &mut self,
        settings: &Settings,
        environment: &Environment,
        log: &Log,
    ) -> Result<(), Failure> {
        let gateway = &settings.gateway;
        let address = SocketAddr::new(gateway.address, gateway.port);
        match listen(address) {
            Ok(listener) => self.add(MAIN, listener, log),
            Err(error) if gateway.port_is_chosen || error.kind() != ErrorKind::AddrInUse => {
                Err(taken(address, &error, "gateway.port"))
            }
            Err(error) => self.open_elsewhere(address, &error, settings, environment, log),
        }
    }

    /// Without any free port everything but this door works.
    fn open_elsewhere(
        &mut self,
        address: SocketAddr,
        error: &io::Error,
        settings: &Settings,
        environment: &Environment,
        log: &Log,
    ) -> Result<(), Failure> {
        let why = reason(address, error);
        let bound = port::candidates(&[settings.gateway.cli.port]).find_map(|port| {
            let listener = listen(SocketAddr::new(address.ip(), port)).ok()?;
            Some((port, listener))
        });
        let Some((port, listener)) = bound else {
            let text = format!(
                "{why}, and no other port was found free: going on without WebSocket and HTTP; \
                 gateway.port chooses one"
            );
            log.own(LogLevel::Warn, &text);
            return Ok(());
        };
        let file = settings.paths.configuration.display();
        let kept = match port::keep(port, settings, environment) {
            Ok(()) => format!("which gateway.port in {file} keeps from now on"),
            Err(failure) => format!("this time ({})", failure.text()),
        };
        let text = format!("{why}: WebSocket and HTTP are at port {port}, {kept}");
        log.own(LogLevel::Warn, &text);
        self.add(MAIN, listener, log)
    }

    fn add(&mut self, name: &'static str, listener: TcpListener, log: &Log) -> Result<(), Failure> {
        let address = listener.local_addr().map_err(anyhow::Error::from)?;
        log.own(
            LogLevel::Info,
            &format!("listening for {name} at http://{address}"),
        );
        self.0.push((name, listener));
        Ok(())
    }

    /// Copies of the sockets, to be handed over.
    pub(crate) fn hand_over(&self) -> io::Result<Vec<(&'static str, OwnedFd)>> {
        let copy = |(name, listener): &(&'static str, TcpListener)| {
            Ok((*name, OwnedFd::from(listener.try_clone()?)))
        };
        self.0.iter().map(copy).collect()
    }
}

/// Needs a runtime around it.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // Connections of the last run may linger in TIME_WAIT.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

fn taken(address: SocketAddr, error: &io::Error, key: &str) -> Failure {
    let failure = Failure::new(format!(
        "cannot listen at {address}: {}",
        reason(address, error)
    ));
    let how = format!("choose another port with {} or {key}", variable(key));
    failure.hint(match port::free(address.ip(), &[address.port()]) {
        Some(free) => format!("{how}, such as: openclawctl config set {key} {free}"),
        None => how,
    })
}

/// The variable that comes before the file.
fn variable(key: &str) -> &'static str {
    match key {
        "gateway.port" => "OPENCLAW_GATEWAY_PORT",
        _ => "OPENCLAW_CLI_PORT",
    }
}

/// Who has it, where that is what is wrong.
fn reason(address: SocketAddr, error: &io::Error) -> String {
    match port::taken(address) {
        Ok(Some(taken)) => taken.to_string(),
        _ => error.to_string(),
    }
}
