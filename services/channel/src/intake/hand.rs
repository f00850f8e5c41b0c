//! Handing in one message, with its files.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use openclaw_proto::call::RefusalCode;
use openclaw_proto::channel::{
    Answer, Attachment, FileHead, HandIn, HandedIn, Outcome, PutError, What,
};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::burst::{Chat, one};
use super::{Intake, Item};
use crate::link::{self, Pauses};
use crate::provider::{FetchError, IncomingFile, Provider};
use openclaw_daemon::configuration::now_ms;

/// Attempts at a file that the provider does not give now.
const FETCH_ATTEMPTS: u32 = 4;
/// The wait after the first of them; it doubles with each one.
const FETCH_PAUSE: Duration = Duration::from_millis(500);
/// The longest that its message waits where the provider names a time.
const LONGEST_FETCH_PAUSE: Duration = Duration::from_secs(60);

impl<P: Provider> Intake<P> {
    /// Hands in `group` as one message, until the gateway has it.
    pub(super) async fn hand_in(&self, group: Vec<Item>, chat: &Arc<Chat>) {
        let keys: Vec<String> = group.iter().map(|item| item.key.clone()).collect();
        if keys.len() > 1
            && self.merged.group(&keys[0]).is_none()
            && let Err(error) = self.record(keys.clone()).await
        {
            // Each by itself is right too.
            let operation = "record what becomes one message, handing each in by itself";
            openclaw_daemon::failure::report(operation, &error);
            for item in group {
                Box::pin(self.hand_in(vec![item], chat)).await;
            }
            return;
        }
        let is_taken = match one(group) {
            Some(item) => self.hand_in_one(item, chat).await,
            None => false,
        };
        self.spool.done(&keys);
        if !is_taken {
            self.merged.forget(&keys[0]);
        }
    }

    /// Records that these become one message; other chats do not wait for the disk.
    async fn record(&self, keys: Vec<String>) -> io::Result<()> {
        let merged = Arc::clone(&self.merged);
        let recorded = spawn_blocking(move || merged.record(&keys, now_ms())).await;
        recorded.map_err(io::Error::other)?
    }

    /// Whether the gateway took it, and will know it again.
    async fn hand_in_one(&self, item: Item, chat: &Chat) -> bool {
        let incoming = item.incoming;
        let mut pauses = Pauses::default();
        let mut was_refused = false;
        let mut what = with_waiting(&incoming.what, &incoming.files);
        loop {
            let request = HandIn {
                account: self.link.account.clone(),
                key: item.key.clone(),
                place: incoming.place.clone(),
                sender: incoming.sender.clone(),
                sent_ms: incoming.sent_ms,
                what: what.clone(),
            };
            let error = match self.link.channels.hand_in(request).await {
                Ok(Answer::HandedIn(HandedIn { outcome, .. })) => {
                    self.know(&incoming.place.id, &outcome);
                    self.provider.taken(&incoming, &outcome).await;
                    return !matches!(outcome, Outcome::Ignored(_));
                }
                Ok(Answer::FilesWanted) => {
                    what = self.with_files(&incoming.what, &incoming.files, chat).await;
                    continue;
                }
                Err(error) => error,
            };
            if error.is_refused(RefusalCode::NotFound) && !incoming.files.is_empty() {
                // The gateway keeps a file that no message names for an hour.
                if was_refused {
                    pauses.wait("hand in what came", &error).await;
                }
                was_refused = true;
                what = self.with_files(&incoming.what, &incoming.files, chat).await;
            } else if link::is_final(&error) {
                let key = &item.key;
                tracing::warn!(
                    key,
                    "the gateway does not take an update: {error}; it is dropped"
                );
                return false;
            } else {
                pauses.wait("hand in what came", &error).await;
            }
        }
    }

    /// `what` with the files that the gateway has now.
    async fn with_files(&self, what: &What, files: &[IncomingFile], chat: &Chat) -> What {
        let mut what = what.clone();
        if let What::Message(message) = &mut what {
            for file in files {
                let attachment = tokio::select! {
                    attachment = self.pass_on(file) => attachment,
                    () = chat.until_hurried() => missing(file, "it was stopped before it came"),
                };
                message.attachments.push(attachment);
            }
        }
        what
    }

    /// Gives a file from the provider to the gateway.
    async fn pass_on(&self, file: &IncomingFile) -> Attachment {
        if file.reference.is_empty() {
            return file.attachment.clone();
        }
        let mut pauses = Pauses::default();
        let mut pause = FETCH_PAUSE;
        let mut attempt = 1;
        loop {
            let mut wanted = Duration::ZERO;
            let why = match self.provider.fetch(file).await {
                Err(FetchError::Missing(why)) => return missing(file, &why),
                Err(FetchError::Later { why, after }) => {
                    wanted = after.unwrap_or_default().min(LONGEST_FETCH_PAUSE);
                    why
                }
                Ok(content) => {
                    let put = self.link.channels.put_file(self.head(file), content);
                    match put.await {
                        Ok(stored) => {
                            return Attachment {
                                file_id: stored.file_id,
                                size: stored.size,
                                ..file.attachment.clone()
                            };
                        }
                        Err(PutError::Content(why)) => why,
                        Err(PutError::Call(error)) if is_about_the_file(error.code()) => {
                            return missing(file, &error.to_string());
                        }
                        Err(PutError::Call(error)) => {
                            pauses
                                .wait("give the gateway a file that came", &error)
                                .await;
                            continue;
                        }
                    }
                }
            };
            if attempt == FETCH_ATTEMPTS {
                return missing(file, &why);
            }
            attempt += 1;
            sleep(pause.max(wanted)).await;
            pause *= 2;
        }
    }

    fn head(&self, file: &IncomingFile) -> FileHead {
        FileHead {
            account: self.link.account.clone(),
            name: file.attachment.name.clone(),
            mime_type: file.attachment.mime_type.clone(),
            size: file.attachment.size,
        }
    }
}

/// `what` with files that nobody fetched yet: who may not talk, or called nobody, has none
/// fetched.
fn with_waiting(what: &What, files: &[IncomingFile]) -> What {
    let mut what = what.clone();
    if let What::Message(message) = &mut what {
        message
            .attachments
            .extend(files.iter().map(|file| Attachment {
                is_waiting: !file.reference.is_empty(),
                ..file.attachment.clone()
            }));
    }
    what
}

fn is_about_the_file(code: Option<RefusalCode>) -> bool {
    matches!(
        code,
        Some(RefusalCode::ResourceExhausted | RefusalCode::InvalidArgument)
    )
}

fn missing(file: &IncomingFile, why: &str) -> Attachment {
    tracing::warn!("a file that came cannot be had: {why}; the message goes on without it");
    Attachment {
        missing: why.to_owned(),
        ..file.attachment.clone()
    }
}
