//! `export`: write sessions so that OpenClaw imports them.

use std::fs::File;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};
use openclaw_folder::{ConfiguredFolder, Error, Folder};
use openclaw_proto::sessions::{Exported, Named};
use openclaw_terminal::{Failure, output, words};
use serde_json::json;
use tokio_stream::StreamExt as _;

use crate::cli;
use openclaw_connection::{self as connection, Gateway};

/// Conversations are nobody else's business.
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
    let settings = openclaw_settings::load_usable(environment)?;
    let target = Target::look(settings.folder(arguments.to.clone()))?;
    let written = connection::runtime()?.block_on(receive(&paths, arguments, target))?;
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

/// The folder that is written into. Agents may write there too: it is opened once, and
/// everything is made beneath that, through no link.
#[derive(Debug)]
struct Target {
    place: ConfiguredFolder,
    /// None: it is not there yet.
    folder: Option<Folder>,
}

impl Target {
    /// The user's own links on the way to `place` are followed, and none of an agent's.
    fn look(place: ConfiguredFolder) -> Result<Self, Failure> {
        if place.is_symlink() {
            let problem = format!("{} is a link, of whoever may write there", place.display());
            return Err(Failure::usage(problem).hint("name the folder that it leads to"));
        }
        let folder = place.open();
        let folder = folder.with_context(|| format!("cannot use {}", place.display()))?;
        let folder = folder.map(empty).transpose()?;
        Ok(Self { place, folder })
    }

    fn folder(&mut self) -> Result<&Folder, Failure> {
        if self.folder.is_none() {
            let context = || format!("cannot create {}", self.place.display());
            let made = self.place.open_or_create().with_context(context)?;
            self.folder = Some(empty(made)?);
        }
        let missing = || Failure::new(format!("{} is gone", self.place.display()));
        self.folder.as_ref().ok_or_else(missing)
    }

    /// Creates the file `name`; a name that leads elsewhere is refused.
    fn create(&mut self, name: &str) -> Result<Open, Failure> {
        let relative = Path::new(name);
        let is_plain = |part| matches!(part, Component::Normal(_));
        if !relative.components().all(is_plain) {
            return Err(Failure::new(format!("the gateway named the file {name:?}")));
        }
        let folder = self.folder()?;
        let path = folder.path().join(relative);
        let made = make(folder, relative);
        let made = made.with_context(|| format!("cannot create {}", path.display()))?;
        let file = made.ok_or_else(|| {
            let place = path.display();
            Failure::new(format!("{place} is there already; nothing is overwritten"))
        })?;
        Ok(Open { path, file })
    }
}

fn empty(folder: Folder) -> Result<Folder, Failure> {
    let path = folder.path().display();
    let names = folder.entries(1);
    let names = names.with_context(|| format!("cannot use {path}"))?;
    if names.is_empty() {
        return Ok(folder);
    }
    let problem = format!("{path} is not empty; nothing is overwritten");
    Err(Failure::usage(problem).hint("name a folder that is not there yet"))
}

/// None: something of that name is there.
fn make(folder: &Folder, relative: &Path) -> Result<Option<File>, Error> {
    let parent = relative.parent().unwrap_or(Path::new(""));
    let parent = folder.create_folder(parent)?;
    match relative.file_name() {
        Some(name) => parent.create_file(name, PRIVATE_FILE),
        None => Ok(None),
    }
}

/// A file that is being written.
#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
}

impl Open {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(bytes);
        Ok(written.with_context(|| self.failed())?)
    }

    fn finish(self) -> Result<(), Failure> {
        Ok(self.file.sync_all().with_context(|| self.failed())?)
    }

    fn failed(&self) -> String {
        format!("cannot write {}", self.path.display())
    }
}

async fn receive(
    paths: &Paths,
    arguments: &cli::Export,
    mut target: Target,
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// An agent swaps folders while the export is under way.
    #[test]
    fn export_follows_no_link_that_an_agent_makes_meanwhile() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let (workspace, elsewhere) = (base.join("workspace"), base.join("elsewhere"));
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(elsewhere.join("agents")).unwrap();
        let to = workspace.join("out");
        let written: std::sync::Arc<[PathBuf]> = [workspace.clone()].into();
        let look =
            |path: &Path| Target::look(ConfiguredFolder::new(path.to_owned(), written.clone()));
        let mut target = look(&to).unwrap();
        target.create("agents/main/first.jsonl").unwrap();
        // In the place of a folder that was made,
        fs::rename(to.join("agents"), to.join("moved")).unwrap();
        symlink(elsewhere.join("agents"), to.join("agents")).unwrap();
        let refused = target.create("agents/main/second.jsonl").unwrap_err();
        assert!(format!("{refused:?}").contains("link"), "{refused:?}");
        // of a file,
        symlink(elsewhere.join("planted"), to.join("sessions.json")).unwrap();
        assert!(target.create("sessions.json").is_err());
        // and of the folder itself, which stays the one that was opened.
        fs::rename(&to, workspace.join("aside")).unwrap();
        symlink(&elsewhere, &to).unwrap();
        target.create("other/third.jsonl").unwrap();
        assert!(workspace.join("aside/other/third.jsonl").is_file());
        assert!(
            fs::read_dir(elsewhere.join("agents"))
                .unwrap()
                .next()
                .is_none()
        );
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
        // On the way to it there is none of an agent's either.
        symlink(&elsewhere, workspace.join("way")).unwrap();
        let way = workspace.join("way/out");
        assert!(look(&way).is_err());
        assert!(!elsewhere.join("out").exists());
        // The user's own is followed.
        symlink(&elsewhere, base.join("mine")).unwrap();
        let mut mine = look(&base.join("mine/out")).unwrap();
        mine.create("sessions.json").unwrap();
        assert!(elsewhere.join("out/sessions.json").is_file());
    }
}
