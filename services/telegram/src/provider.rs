//! Telegram as a [`Provider`].

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use openclaw_channel::health::Board;
use openclaw_channel::progress::Progress;
use openclaw_channel::provider::{FetchError, Incoming, IncomingFile};
use openclaw_channel::spool::Spool;
use openclaw_channel::{Link, Provider};
use openclaw_proto::channel::{Abilities, Outcome, Settings, What};
use openclaw_proto::outbox::{Delivery, Outcome as Delivered};
use serde_json::json;

use crate::api::Error;
use crate::bot::{Bot, number, reaction};
use crate::settings::TEXT_LIMIT;
use crate::{live, poll, send};

impl Provider for Bot {
    fn abilities(&self) -> Abilities {
        Abilities {
            can_edit: true,
            has_buttons: true,
            has_threads: true,
            has_reactions: true,
            can_send_files: true,
            text_limit: u32::try_from(TEXT_LIMIT).unwrap_or(u32::MAX),
            markdown: "html".to_owned(),
        }
    }

    fn configure(&self, settings: &Settings) {
        self.take_settings(settings);
    }

    async fn receive(&self, spool: Arc<Spool>) {
        poll::receive(self, &spool).await;
    }

    fn read(&self, raw: &str) -> Result<Option<Incoming>, String> {
        self.moved.look_at(raw);
        let mut incoming = self.reader().read(raw)?;
        if let Some(incoming) = &mut incoming {
            if let What::Message(message) = &incoming.what {
                self.saw(&incoming.place.id, &message.provider_ids);
            }
            // Of what is urgent, a press is answered without a message.
            if incoming.is_urgent && matches!(incoming.what, What::Message(_)) {
                self.pace.hurry(&incoming.place.id);
            }
            incoming.place.former_id = self.moved.former(&incoming.place.id).unwrap_or_default();
        }
        Ok(incoming)
    }

    async fn fetch(
        &self,
        file: &IncomingFile,
    ) -> Result<BoxStream<'static, Result<Bytes, String>>, FetchError> {
        let judged = |error: Error| {
            if error.is_passing() {
                FetchError::Later {
                    after: error.retry_after(),
                    why: error.to_string(),
                }
            } else {
                FetchError::Missing(error.to_string())
            }
        };
        let later = |why| FetchError::Later { why, after: None };
        let api = self.api().map_err(later)?;
        let asked = json!({"file_id": file.reference});
        let found = api.call("getFile", &asked).await.map_err(judged)?;
        let Some(path) = found["file_path"].as_str() else {
            return Err(FetchError::Missing(
                "Telegram does not say where it is".into(),
            ));
        };
        if path.starts_with('/') {
            // A place on that server's own disk, with the token in it.
            return Err(FetchError::Missing(
                "the Bot API server (channels.telegram.apiRoot) runs with --local and gives files \
                 to programs on its own disk alone; without --local it gives them out"
                    .into(),
            ));
        }
        api.file(path).await.map_err(judged)
    }

    async fn taken(&self, incoming: &Incoming, outcome: &Outcome) {
        if !matches!(outcome, Outcome::Ignored(_)) {
            self.moved.is_used(&incoming.place.former_id);
        }
        match (&incoming.what, outcome) {
            (What::Press(_), outcome) => {
                let text = match outcome {
                    Outcome::Answered { text } => text.as_str(),
                    _ => "",
                };
                // Telegram takes 200 characters.
                let text = openclaw_channel::rich::beginning(text, 200);
                let answer = json!({"callback_query_id": incoming.reference, "text": text});
                self.quietly("answerCallbackQuery", answer).await;
            }
            (What::Message(said), Outcome::Taken(_)) => {
                let emoji = self.reader().options.ack_reaction.clone();
                if let Some(id) = said.provider_ids.first().filter(|_| !emoji.is_empty()) {
                    let shown = json!({"chat_id": incoming.place.id, "message_id": number(id),
                        "reaction": reaction(&emoji)});
                    self.quietly("setMessageReaction", shown).await;
                }
            }
            _ => {}
        }
    }

    async fn deliver(
        &self,
        delivery: &Delivery,
        progress: &mut Progress,
        link: &Link,
    ) -> Delivered {
        send::deliver(self, delivery, progress, link).await
    }

    async fn attend_run(&self, delivery: Delivery, link: Link) {
        live::attend(self, &delivery, &link).await;
    }

    fn board(&self) -> &Board {
        &self.board
    }
}
