//! Another port, where somebody else has the configured one: another user of the
//! machine, or another program of this one.

use std::net::SocketAddr;

use openclaw_config::Environment;
use openclaw_foreground::port::{self, Taken};
use openclaw_settings::Settings;
use openclaw_terminal::{Failure, output};

use crate::arguments::Port;

/// Makes the configuration say which port is the gateway's. `keep_set`: one that
/// somebody set is his, and only told of.
pub(super) fn choose(
    wanted: Port,
    keep_set: bool,
    environment: &Environment,
) -> Result<(), Failure> {
    let settings = openclaw_settings::load(environment)?;
    match wanted {
        Port::Auto => any(&settings, keep_set, environment),
        Port::Number(number) => this(number, &settings, environment),
    }
}

fn this(number: u16, settings: &Settings, environment: &Environment) -> Result<(), Failure> {
    let address = SocketAddr::new(settings.gateway.address, number);
    if let Some(taken) = foreign(address, settings)? {
        return Err(Failure::new(taken.to_string())
            .hint("openclawctl sockets --port auto chooses one that is free"));
    }
    keep(number, settings, environment, "as you asked")
}

fn any(settings: &Settings, keep_set: bool, environment: &Environment) -> Result<(), Failure> {
    let gateway = &settings.gateway;
    let address = SocketAddr::new(gateway.address, gateway.port);
    let Some(taken) = foreign(address, settings)? else {
        return Ok(());
    };
    if keep_set && gateway.port_is_chosen {
        let text = format!(
            "warning: {taken}, and gateway.port is set to it: there will be no WebSocket and no HTTP\n\
             hint: openclawctl sockets --port auto chooses one that is free and keeps it"
        );
        text.lines().for_each(output::stderr_line);
        return Ok(());
    }
    let free = port::free(gateway.address, &[gateway.port, gateway.cli.port]);
    let free = free.ok_or_else(|| {
        Failure::new(format!("{taken}, and no other port was found free"))
            .hint("openclawctl sockets --port NUMBER chooses one")
    })?;
    keep(free, settings, environment, &format!("because {taken}"))
}

fn keep(
    number: u16,
    settings: &Settings,
    environment: &Environment,
    why: &str,
) -> Result<(), Failure> {
    port::keep(number, settings, environment)?;
    let file = settings.paths.configuration.display();
    let line = format!("gateway.port is {number} from now on ({file}), {why}");
    output::stdout_line(&line)
}

/// Who has `address`, unless it is free, or this very suite's. An address that
/// nobody can have here is no matter of its port.
fn foreign(address: SocketAddr, settings: &Settings) -> Result<Option<Taken>, Failure> {
    let Ok(Some(taken)) = port::taken(address) else {
        return Ok(None);
    };
    if taken.holder.is_some() && !taken.is_own() {
        return Ok(Some(taken));
    }
    let paths = &settings.paths;
    let suite = openclaw_connection::runtime()?.block_on(openclaw_status::ask(paths));
    let is_ours = match suite.gateway.given() {
        Some(gateway) => gateway.listens_at(address),
        // A gateway that cannot say so just now may have it.
        None => paths.gateway_socket().exists(),
    };
    Ok((!is_ours).then_some(taken))
}
