//! What `openclawctl sockets` is told.

use clap::Args;

/// Arguments of `sockets`.
#[derive(Debug, Args)]
pub struct Sockets {
    /// Write nothing; exit with 1 when they are not in line
    #[arg(long)]
    pub check: bool,
    /// First have gateway.port keep this port; auto: a free one, where somebody else has the configured one
    #[arg(long, value_name = "auto|NUMBER", conflicts_with = "check", value_parser = port)]
    pub port: Option<Port>,
    /// With --port auto: say that somebody else has a port that was set, and leave it
    #[arg(long, requires = "port")]
    pub keep_set: bool,
}

/// The port that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Any that is free, where the configured one is not.
    Auto,
    /// This one.
    Number(u16),
}

fn port(text: &str) -> Result<Port, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Port::Auto),
        (_, Ok(number @ 1..)) => Ok(Port::Number(number)),
        _ => Err("give auto, or a number from 1 to 65535".to_owned()),
    }
}
