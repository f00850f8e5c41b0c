//! `export`: write sessions so that OpenClaw imports them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};
use openclaw_proto::sessions::{Exported, Named};
use openclaw_terminal::{Failure, output, words};
use serde_json::json;
use tokio_stream::StreamExt as _;

use crate::cli;
use openclaw_connection::{self as connection, Gateway};

/// Conversations are nobody else's business.
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

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
    must_be_empty(&arguments.to)?;
    let written = connection::runtime()?.block_on(receive(&paths, arguments))?;
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

fn must_be_empty(folder: &Path) -> Result<(), Failure> {
    if folder.is_symlink() {
        let problem = format!("{} is a link, of whoever may write there", folder.display());
        return Err(Failure::usage(problem).hint("name the folder that it leads to"));
    }
    let mut listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let context = format!("cannot use {}", folder.display());
            return Err(anyhow::Error::new(error).context(context).into());
        }
    };
    if listing.next().is_none() {
        return Ok(());
    }
    let problem = format!("{} is not empty; nothing is overwritten", folder.display());
    Err(Failure::usage(problem).hint("name a folder that is not there yet"))
}

async fn receive(paths: &Paths, arguments: &cli::Export) -> Result<Written, Failure> {
    let gateway = Gateway::at(paths);
    let named = Named {
        session: &arguments.session,
        agent_id: &arguments.agent,
    };
    let parts = gateway.sessions.export(named).await;
    let parts = parts.map_err(|status| gateway.failure(&status))?;
    let mut parts = std::pin::pin!(parts);
    let mut written = Written::default();
    let mut open: Option<(PathBuf, File)> = None;
    while let Some(part) = parts.next().await {
        match part.map_err(|status| gateway.failure(&status))? {
            Exported::File(name) => {
                finish(open.take())?;
                open = Some(create(&arguments.to, &name)?);
                written.files += 1;
            }
            Exported::Chunk(bytes) => {
                let Some((path, file)) = &mut open else {
                    return Err(Failure::new("the gateway sent bytes of no file"));
                };
                file.write_all(&bytes)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                written.bytes += bytes.len() as u64;
            }
        }
    }
    finish(open)?;
    Ok(written)
}

/// Creates a file below `folder`; a name that leads elsewhere is refused.
fn create(folder: &Path, name: &str) -> Result<(PathBuf, File), Failure> {
    let relative = Path::new(name);
    let is_plain = |part| matches!(part, Component::Normal(_));
    if !relative.components().all(is_plain) {
        return Err(Failure::new(format!("the gateway named the file {name:?}")));
    }
    let path = folder.join(relative);
    let context = || format!("cannot create {}", path.display());
    let parent = path.parent().unwrap_or(folder);
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_DIR)
        .create(parent)
        .with_context(context)?;
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE_FILE)
        .open(&path)
        .with_context(context)?;
    Ok((path, file))
}

fn finish(open: Option<(PathBuf, File)>) -> Result<(), Failure> {
    let Some((path, file)) = open else {
        return Ok(());
    };
    file.sync_all()
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}
