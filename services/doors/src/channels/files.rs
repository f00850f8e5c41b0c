//! Files that messages and deliveries have.
//!
//! What a daemon puts lies in the state directory until a message names it; then
//! it is copied into the workspace of the agent that answers, where OpenClaw has
//! such files too. What a delivery has is read from there, through no link.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures_util::{Stream, stream};
use openclaw_daemon::failure;
use openclaw_folder::ConfiguredFolder;
use openclaw_proto::channel::{AccountName, FileHead, Message, PART_LIMIT, Stored};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;
use uuid::Uuid;

use super::{Channels, Refused};

/// Where files wait for their message, in the state directory.
const WAITING: &str = "channels/incoming";

/// Where they are for the agent, in its workspace.
const INBOUND: &str = "media/inbound";

/// A message may come so much later than its files.
pub(super) const PATIENCE: Duration = Duration::from_secs(3600);

/// Bytes of a megabyte, as channels count them.
pub(super) const MEGABYTE: u64 = 1024 * 1024;

/// Megabytes of one account's files that wait for their messages. They come before it
/// is known who sends them.
const WAITING_MB: u64 = 1024;

/// Bytes of a name, and of its extension, that are kept: with an id between
/// them they are shorter than a file's name may be.
const NAME: usize = 60;

/// Only for their owner.
const PRIVATE_FILE: u32 = 0o600;

/// Why a file is not kept, or not there.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// It was not put, or too long ago.
    #[error("there is no file {0:?}; put it again")]
    Missing(String),
    /// It is larger than what is sent.
    #[error("the file is larger than the {0} MB that are sent")]
    TooLargeToSend(u64),
    /// A delivery has no such file any more.
    #[error("the delivery has no such file, or it is not there any more")]
    Gone,
    /// It is larger than it may be.
    #[error("the file is larger than channels.{channel}.mediaMaxMb ({limit} MB)")]
    TooLarge {
        /// The channel.
        channel: String,
        /// Its limit.
        limit: u64,
    },
    /// It cannot be put into the workspace, where an agent writes too.
    #[error(transparent)]
    Place(#[from] openclaw_folder::Error),
    /// So much waits for its message already.
    #[error("{0} MB of files wait for their messages already; send it again later")]
    TooMuch(u64),
    /// The disk refuses.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// What was to be done.
        operation: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

pub(super) fn io_fault(
    operation: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> FileFault {
    let path = path.to_owned();
    move |source| FileFault::Io {
        operation,
        path,
        source,
    }
}

/// A file that is being put. It is gone when it is not kept.
pub(crate) struct Waiting {
    id: String,
    path: PathBuf,
    file: File,
    size: u64,
    channel: String,
    limit_mb: u64,
    is_kept: bool,
}

impl Waiting {
    /// Adds a part.
    pub(crate) async fn add(&mut self, content: &[u8]) -> Result<(), FileFault> {
        self.size += content.len() as u64;
        if self.size > self.limit_mb.saturating_mul(MEGABYTE) {
            return Err(self.too_large());
        }
        let written = self.file.write_all(content).await;
        written.map_err(io_fault("write", &self.path))
    }

    /// Makes it durable.
    pub(crate) async fn keep(mut self) -> Result<Stored, FileFault> {
        let synced = async {
            self.file.flush().await?;
            self.file.sync_all().await
        };
        synced.await.map_err(io_fault("write", &self.path))?;
        self.is_kept = true;
        Ok(Stored {
            file_id: self.id.clone(),
            size: self.size,
        })
    }

    fn too_large(&self) -> FileFault {
        FileFault::TooLarge {
            channel: self.channel.clone(),
            limit: self.limit_mb,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_kept {
            // What stays is removed within the hour.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Channels {
    /// Begins to take a file.
    pub(crate) async fn new_file(&self, head: &FileHead) -> Result<Waiting, Refused> {
        let settings = self.core.configuration.settings();
        let (canonical, account) = Self::account_that_is_on(&settings, &head.account)?;
        let id = Uuid::new_v4().to_string();
        let folder = self.waiting(&canonical);
        let made = fs::create_dir_all(&folder).await;
        made.map_err(io_fault("make the folder", &folder))?;
        let held = folder.clone();
        let held = tokio::task::spawn_blocking(move || bytes_in(&held)).await;
        let held = held.map_err(|_| Refused::Stopping)?;
        if held.map_err(io_fault("read the folder", &folder))? > WAITING_MB * MEGABYTE {
            return Err(FileFault::TooMuch(WAITING_MB).into());
        }
        let path = folder.join(&id);
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE_FILE)
            .open(&path)
            .await
            .map_err(io_fault("make", &path))?;
        let waiting = Waiting {
            id,
            path,
            file,
            size: 0,
            channel: canonical.channel,
            limit_mb: account.media_max_mb,
            is_kept: false,
        };
        if head.size > waiting.limit_mb.saturating_mul(MEGABYTE) {
            return Err(waiting.too_large().into());
        }
        Ok(waiting)
    }

    pub(super) fn waiting(&self, account: &AccountName) -> PathBuf {
        let state = &self.core.configuration.settings().paths.state;
        let name = match account.account.as_str() {
            "" => ".default",
            name => name,
        };
        state.join(WAITING).join(&account.channel).join(name)
    }

    /// Copies the files of a message into the workspace; where each is beneath it.
    pub(super) async fn taken_files(
        &self,
        account: &AccountName,
        message: &Message,
        workspace: Option<ConfiguredFolder>,
    ) -> Result<Vec<Option<String>>, Refused> {
        let folder = self.waiting(account);
        let mut wanted = Vec::new();
        for attachment in &message.attachments {
            wanted.push(match attachment.file_id.as_str() {
                "" => None,
                id if Uuid::try_parse(id).is_ok() => {
                    Some((id.to_owned(), folder.join(id), attachment.name.clone()))
                }
                id => return Err(FileFault::Missing(id.to_owned()).into()),
            });
        }
        let (Some(workspace), true) = (workspace, wanted.iter().any(Option::is_some)) else {
            return Ok(wanted.iter().map(|_| None).collect());
        };
        let copy = move || {
            let each = wanted.into_iter();
            let placed = each.map(|it| it.map_or(Ok(None), |it| placed(&workspace, it)));
            placed.collect::<Result<Vec<_>, _>>()
        };
        let copied = tokio::task::spawn_blocking(copy).await;
        let copied = copied.map_err(|_| Refused::Stopping)?;
        Ok(copied?)
    }

    /// Removes what a message had, which is where it belongs by now.
    pub(super) async fn forget_files(&self, account: &AccountName, message: &Message) {
        for attachment in &message.attachments {
            if Uuid::try_parse(&attachment.file_id).is_ok() {
                let path = self.waiting(account).join(&attachment.file_id);
                // What stays is removed within the hour.
                let _ = fs::remove_file(path).await;
            }
        }
    }

    /// Removes files that no message named.
    pub(super) async fn sweep_files(&self) {
        let root = self.core.configuration.settings().paths.state.join(WAITING);
        let swept = tokio::task::spawn_blocking(move || sweep(&root, 2)).await;
        if let Ok(Err(error)) = swept
            && error.kind() != io::ErrorKind::NotFound
        {
            failure::report("remove files that no message named", &error);
        }
    }

    /// The content of a file that a delivery has, in parts.
    pub async fn fetch_file(
        &self,
        named: AccountName,
        delivery: u64,
        index: usize,
    ) -> Result<impl Stream<Item = Result<Vec<u8>, FileFault>> + Send + use<>, Refused> {
        let settings = self.core.configuration.settings();
        let (canonical, account) = Self::account_that_is_on(&settings, &named)?;
        let place = (canonical.channel.clone(), canonical.account);
        let found = self.core.outbox.file(place, delivery, index).await?;
        let (agent, path) = found.ok_or(FileFault::Gone)?;
        let folder = match agent.as_str() {
            // No agent says it, but the owner.
            "" => self.sent().into(),
            agent => settings
                .agent(agent)
                .ok_or(FileFault::Gone)?
                .workspace
                .clone(),
        };
        let limit = account.media_max_mb.saturating_mul(MEGABYTE);
        let opened = tokio::task::spawn_blocking(move || open_beneath(&folder, &path)).await;
        let opened = opened.map_err(|_| Refused::Stopping)?;
        let file = opened.ok_or(FileFault::Gone)?;
        let reading = Some((file, limit));
        Ok(stream::unfold(reading, |reading| async move {
            let (mut file, left) = reading?;
            let read = tokio::task::spawn_blocking(move || {
                let part = (PART_LIMIT as u64).min(left);
                let mut content = Vec::new();
                let read = (&mut file).take(part).read_to_end(&mut content);
                read.map(|_| (file, content))
            });
            match read.await.ok()? {
                Ok((_, content)) if content.is_empty() => None,
                Ok((file, content)) => {
                    let left = left - content.len() as u64;
                    Some((Ok(content), Some((file, left))))
                }
                Err(source) => {
                    let fault = io_fault("read", Path::new("a delivery's file"))(source);
                    Some((Err(fault), None))
                }
            }
        }))
    }
}

fn open_beneath(folder: &ConfiguredFolder, path: &str) -> Option<std::fs::File> {
    let (file, _) = folder.open().ok()??.open_file(path).ok()??;
    Some(file)
}

/// Copies a file that waits into the workspace; where it is beneath it. `None`: an agent left
/// something there that is in the way. The message goes without the file then, and is not held up.
fn placed(
    workspace: &ConfiguredFolder,
    wanted: (String, PathBuf, String),
) -> Result<Option<String>, FileFault> {
    match copied(workspace, wanted) {
        Err(FileFault::Place(error)) if error.kind() != io::ErrorKind::StorageFull => {
            failure::report("put a file that came into the workspace", &error);
            Ok(None)
        }
        copied => copied.map(Some),
    }
}

/// Copies a file that waits into the workspace; where it is beneath it.
fn copied(
    workspace: &ConfiguredFolder,
    (id, from, name): (String, PathBuf, String),
) -> Result<String, FileFault> {
    let mut source = match std::fs::File::open(&from) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(FileFault::Missing(id));
        }
        Err(error) => return Err(io_fault("open", &from)(error)),
    };
    put_inbound(workspace, &name, &mut source)
}

/// Writes what `source` has where an agent finds what came with messages; where that
/// is beneath the workspace.
pub(crate) fn put_inbound(
    workspace: &ConfiguredFolder,
    name: &str,
    source: &mut impl io::Read,
) -> Result<String, FileFault> {
    let place = workspace.join(INBOUND);
    let folder = workspace.open_or_create()?.create_folder(INBOUND)?;
    let name = file_name(name);
    let made = folder.create_file(&name, PRIVATE_FILE)?;
    let taken = || io_fault("make a file in", &place)(io::ErrorKind::AlreadyExists.into());
    let mut target = made.ok_or_else(taken)?;
    let copied = io::copy(source, &mut target).and_then(|_| target.sync_all());
    copied.map_err(io_fault("write a file in", &place))?;
    Ok(format!("{INBOUND}/{name}"))
}

/// A name that no other file has, with what is harmless of the given one.
fn file_name(given: &str) -> String {
    let id = Uuid::new_v4();
    let plain = |text: &str| -> String {
        let kept = text
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_".contains(*c));
        let mut length = 0;
        kept.take_while(|c| {
            length += c.len_utf8();
            length <= NAME
        })
        .collect()
    };
    let given = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, extension) = match given.rsplit_once('.') {
        Some((stem, extension)) => (plain(stem), plain(extension)),
        None => (plain(given), String::new()),
    };
    match (stem.as_str(), extension.as_str()) {
        ("", "") => id.to_string(),
        (stem, "") => format!("{stem}---{id}"),
        ("", extension) => format!("{id}.{extension}"),
        (stem, extension) => format!("{stem}---{id}.{extension}"),
    }
}

/// Bytes of all files in `folder`.
fn bytes_in(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for entry in std::fs::read_dir(folder)? {
        // One that is gone by now takes nothing.
        let size = entry?.metadata().map_or(0, |status| status.len());
        bytes = bytes.saturating_add(size);
    }
    Ok(bytes)
}

/// Removes old files `depth` folders below `root`.
fn sweep(root: &Path, depth: usize) -> io::Result<()> {
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        let status = entry.metadata()?;
        if depth > 0 && status.is_dir() {
            sweep(&entry.path(), depth - 1)?;
        } else if status.is_file() {
            let age = SystemTime::now().duration_since(status.modified()?);
            if age.is_ok_and(|age| age > PATIENCE) {
                std::fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_keeps_what_is_harmless() {
        for (given, begins, ends) in [
            ("Holiday photo.JPG", "Holidayphoto---", ".JPG"),
            ("../../etc/passwd", "passwd---", ""),
            (".bashrc", "", ".bashrc"),
            ("a\n[b].t x", "ab---", ".tx"),
            ("", "", ""),
            (&format!("{0}.{0}", "語".repeat(90)), "語", "語"),
        ] {
            let name = file_name(given);
            assert!(
                name.starts_with(begins) && name.ends_with(ends),
                "{given}: {name}"
            );
            assert!(!name.contains('/') && !name.contains(".."), "{name}");
            assert!(name.len() <= 255, "{name}");
        }
        assert_ne!(file_name("a.b"), file_name("a.b"));
    }

    type Plant = fn(&Path, &Path);

    /// What an agent may leave where its files are put.
    #[test]
    fn placed_file_goes_through_nothing_that_an_agent_left() {
        let root = tempfile::tempdir().unwrap();
        let (outside, waits) = (root.path().join("outside"), root.path().join("waits"));
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(&waits, "came").unwrap();
        let wanted = || (String::new(), waits.clone(), "a.png".to_owned());
        let plant: [(&str, Plant); 4] = [
            ("link", |place, outside| {
                std::os::unix::fs::symlink(outside, place).unwrap();
            }),
            ("link below", |place, outside| {
                std::fs::create_dir(place).unwrap();
                std::os::unix::fs::symlink(outside, place.join("inbound")).unwrap();
            }),
            ("file", |place, _| std::fs::write(place, "x").unwrap()),
            ("FIFO", |place, _| {
                let mode = nix::sys::stat::Mode::S_IRWXU;
                nix::unistd::mkfifo(place, mode).unwrap();
            }),
        ];
        for (name, plant) in plant {
            let workspace = root.path().join(name);
            std::fs::create_dir(&workspace).unwrap();
            plant(&workspace.join("media"), &outside);
            assert_eq!(
                placed(&workspace.clone().into(), wanted()).unwrap(),
                None,
                "{name}"
            );
        }
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        let gone = (String::new(), root.path().join("gone"), String::new());
        let gone = placed(&root.path().into(), gone);
        assert!(matches!(gone, Err(FileFault::Missing(_))), "{gone:?}");
        let path = placed(&root.path().into(), wanted()).unwrap().unwrap();
        assert_eq!(std::fs::read(root.path().join(path)).unwrap(), b"came");
    }

    #[test]
    fn sweep_removes_what_is_old_and_keeps_the_rest() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("telegram/.default");
        std::fs::create_dir_all(&folder).unwrap();
        for (name, age) in [("old", PATIENCE * 2), ("new", PATIENCE / 2)] {
            let file = std::fs::File::create(folder.join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        std::fs::write(folder.join("new"), "1234").unwrap();
        assert_eq!(bytes_in(&folder).unwrap(), 4);
        sweep(root.path(), 2).unwrap();
        assert!(!folder.join("old").exists() && folder.join("new").exists());
    }
}
