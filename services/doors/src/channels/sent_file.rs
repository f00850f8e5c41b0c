//! Files that the owner sends: they lie in the state directory from when they
//! are sent until their delivery is over.

use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use openclaw_daemon::failure;
use openclaw_inbound::mime_type;
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::SentFile;
use openclaw_proto::outbox::DeliveredFile;
use openclaw_runs::outbox;
use tokio::fs;
use uuid::Uuid;

use super::files::{FileFault, MEGABYTE, PATIENCE, io_fault};
use super::{Channels, Refused};

/// Where they are, in the state directory.
const SENT: &str = "channels/outgoing";

/// Megabytes of one: what every channel takes.
const LIMIT_MB: u64 = 20;

/// A file that a delivery has.
pub(super) struct Sent {
    /// Its name in the folder of all of them.
    pub(super) id: String,
    pub(super) file: DeliveredFile,
}

impl Channels {
    /// Where files are that the owner sends.
    pub(super) fn sent(&self) -> PathBuf {
        let settings = self.core.configuration.settings();
        settings.paths.state.join(SENT)
    }

    /// Takes a file that was put for `account`, to be sent.
    pub(super) async fn sent_file(
        &self,
        account: &AccountName,
        file: SentFile,
    ) -> Result<Sent, Refused> {
        let SentFile { file_id, name } = file;
        if Uuid::try_parse(&file_id).is_err() {
            return Err(FileFault::Missing(file_id).into());
        }
        let name: String = name
            .chars()
            .filter(|it| !it.is_control() && *it != '/')
            .collect();
        if name.is_empty() {
            return Err(Refused::Invalid("the file has no name".to_owned()));
        }
        let from = self.waiting(account).join(&file_id);
        let size = match fs::metadata(&from).await {
            Ok(found) => found.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FileFault::Missing(file_id).into());
            }
            Err(error) => return Err(io_fault("open", &from)(error).into()),
        };
        if size > LIMIT_MB * MEGABYTE {
            return Err(FileFault::TooLargeToSend(LIMIT_MB).into());
        }
        let folder = self.sent();
        let made = fs::create_dir_all(&folder).await;
        made.map_err(io_fault("make the folder", &folder))?;
        let moved = fs::rename(&from, folder.join(&file_id)).await;
        moved.map_err(io_fault("move", &from))?;
        let file = DeliveredFile {
            mime_type: mime_type(&name).to_owned(),
            name,
            size,
            is_voice: false,
        };
        Ok(Sent { id: file_id, file })
    }

    /// Removes files whose deliveries are over.
    pub(super) async fn sweep_sent(&self) {
        if let Err(error) = self.swept_sent().await {
            failure::report("remove files that were sent", &error);
        }
    }

    async fn swept_sent(&self) -> Result<(), Refused> {
        let folder = self.sent();
        let failed = || io_fault("read the folder", &folder);
        let mut entries = match fs::read_dir(&folder).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(failed())?,
        };
        while let Some(entry) = entries.next_entry().await.map_err(failed())? {
            let path = entry.path();
            let status = entry.metadata().await.map_err(failed())?;
            let age = status
                .modified()
                .map(|at| SystemTime::now().duration_since(at));
            // One that was just sent may not be in the outbox yet.
            if !age.is_ok_and(|age| age.is_ok_and(|age| age > PATIENCE)) {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let find =
                move |connection: &rusqlite::Connection| outbox::has_open_file(connection, &name);
            let is_open = self.core.database.read("look up a file that is sent", find);
            if !is_open.await? {
                fs::remove_file(&path)
                    .await
                    .map_err(io_fault("remove", &path))?;
            }
        }
        Ok(())
    }
}
