//! `export`: write sessions so that OpenClaw imports them.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::sessions::{Exported, Named};
use openclaw_terminal::{Failure, output, words};
use serde_json::json;
use tokio_stream::StreamExt as _;

use crate::cli;
use openclaw_connection::{self as connection, Gateway};
use target::{Open, Target};

mod target;

/// What was written.
#[derive(Debug, Default)]
struct Written {
    files: u64,
    bytes: u64,
}

/// Writes the sessions into a folder that is empty or not there.
pub(crate) fn execute(
    arguments: &cli::Export,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let settings = openclaw_settings::load_usable(environment)?;
    let mut target = Target::look(settings.folder(arguments.to.clone()))?;
    let received = connection::runtime()?.block_on(receive(&paths, arguments, &mut target));
    if received.is_err() {
        target.take_back();
    }
    let written = received?;
    if arguments.json {
        output::document(&json!({
            "to": arguments.to,
            "files": written.files,
            "bytes": written.bytes,
        }))?;
    } else {
        output::stdout_line(&format!(
            "wrote {} to {}",
            words::count(written.files, "file"),
            arguments.to.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn receive(
    paths: &Paths,
    arguments: &cli::Export,
    target: &mut Target,
) -> Result<Written, Failure> {
    let gateway = Gateway::at(paths);
    let named = Named {
        session: &arguments.session,
        agent_id: &arguments.agent,
    };
    let parts = gateway.sessions.export(named).await;
    let parts = parts.map_err(|status| gateway.failure(&status))?;
    let mut parts = std::pin::pin!(parts);
    let mut written = Written::default();
    let mut open: Option<Open> = None;
    while let Some(part) = parts.next().await {
        match part.map_err(|status| gateway.failure(&status))? {
            Exported::File(name) => {
                open.take().map_or(Ok(()), Open::finish)?;
                open = Some(target.create(&name)?);
                written.files += 1;
            }
            Exported::Chunk(bytes) => {
                let Some(open) = &mut open else {
                    return Err(Failure::new("the gateway sent bytes of no file"));
                };
                open.write(&bytes)?;
                written.bytes += bytes.len() as u64;
            }
        }
    }
    open.map_or(Ok(()), Open::finish)?;
    Ok(written)
}
