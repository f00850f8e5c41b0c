//! The bot: Telegram as a [`Provider`].

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use openclaw_channel::health::Board;
use openclaw_channel::progress::Progress;
use openclaw_channel::provider::{FetchError, Incoming, IncomingFile};
use openclaw_channel::spool::Spool;
use openclaw_channel::{Link, Provider};
use openclaw_config::Environment;
use openclaw_proto::channel::{Abilities, Connection, Outcome, Settings, What};
use openclaw_proto::outbox::{Delivery, Outcome as Delivered};
use serde_json::{Value, json};

use crate::api::{Api, Error};
use crate::live::Live;
use crate::pace::Pace;
use crate::read::Reader;
use crate::settings::{Options, TEXT_LIMIT};
use crate::token;

/// The bot of an account.
#[derive(Debug)]
pub(crate) struct Bot {
    pub(crate) environment: Environment,
    pub(crate) folder: PathBuf,
    pub(crate) board: Board,
    pub(crate) pace: Pace,
    pub(crate) lives: Live,
    state: Mutex<State>,
    /// Failures that a chat was told.
    told: Mutex<HashMap<String, HashSet<String>>>,
}

#[derive(Debug, Default)]
struct State {
    reader: Arc<Reader>,
    api: Option<Api>,
    refused: Vec<String>,
}

impl Bot {
    /// A bot that keeps what it must not forget in `folder`.
    pub(crate) fn new(environment: Environment, folder: PathBuf) -> Self {
        Self {
            environment,
            folder,
            board: Board::default(),
            pace: Pace::default(),
            lives: Live::default(),
            state: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// What holds now.
    pub(crate) fn reader(&self) -> Arc<Reader> {
        Arc::clone(&self.state().reader)
    }

    /// The way to the API with the token that holds now.
    pub(crate) fn api(&self) -> Result<Api, String> {
        let options = self.reader().options.clone();
        let token = token::find(&self.environment, options.token_file.as_deref())
            .map_err(|error| error.to_string())?;
        if let Some(api) = self.state().api.as_ref().filter(|api| api.has(&token)) {
            return Ok(api.clone());
        }
        let api = Api::new(&options, token)?;
        self.state().api = Some(api.clone());
        Ok(api)
    }

    /// The bot is who getMe says.
    pub(crate) fn is(&self, me: &Value) {
        let name = me["username"].as_str().unwrap_or_default();
        {
            let mut state = self.state();
            let mut reader = (*state.reader).clone();
            reader.bot_id = me["id"].as_i64().unwrap_or_default();
            name.clone_into(&mut reader.bot_name);
            state.reader = Arc::new(reader);
        }
        self.board.name(&format!("@{name}"));
        let mut notes = self.state().refused.clone();
        if me["can_read_all_group_messages"] == false {
            notes.push(
                "privacy mode is on: groups show only what is said to the bot; to change that, \
                 tell @BotFather /setprivacy and add the bot to the group again"
                    .to_owned(),
            );
        }
        self.board.notes(notes);
    }

    /// Says what `error` means for the whole account, if it does.
    pub(crate) fn judge(&self, error: &Error) {
        if error.is_token_refused() && error.description() != "" && !is_of_a_chat(error) {
            self.board.problem(
                Connection::Refused,
                "Telegram does not accept the token: get another from @BotFather, then run \
                 `openclawctl channels login telegram`",
            );
        }
    }

    /// Whether the chat `chat` was told of this failure before; it counts as told.
    pub(crate) fn was_told(&self, chat: &str, failure: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // Bounded: what is forgotten is told once more.
        if told.len() > 1000 {
            told.clear();
        }
        !told
            .entry(chat.to_owned())
            .or_default()
            .insert(failure.to_owned())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn quietly(&self, method: &str, parameters: Value) {
        let called = match self.api() {
            Ok(api) => api
                .call(method, &parameters)
                .await
                .map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        if let Err(why) = called {
            tracing::debug!("{why}");
        }
    }
}

/// "Not Found" is said of a token alone; "chat not found" is a 400.
fn is_of_a_chat(error: &Error) -> bool {
    error.code() == Some(404) && error.description() != "Not Found"
}

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
        let (options, refused) = Options::of(settings);
        for line in &refused {
            tracing::warn!("{line}");
        }
        self.board.notes(refused.clone());
        let mut state = self.state();
        let mut reader = (*state.reader).clone();
        reader.options = options;
        state.reader = Arc::new(reader);
        state.refused = refused;
        state.api = None;
    }

    async fn receive(&self, spool: Arc<Spool>) {
        crate::poll::receive(self, &spool).await;
    }

    fn read(&self, raw: &str) -> Result<Option<Incoming>, String> {
        self.reader().read(raw)
    }

    async fn fetch(
        &self,
        file: &IncomingFile,
    ) -> Result<BoxStream<'static, Result<Bytes, String>>, FetchError> {
        let judged = |error: Error| {
            if error.is_passing() {
                FetchError::Later(error.to_string())
            } else {
                FetchError::Missing(error.to_string())
            }
        };
        let api = self.api().map_err(FetchError::Later)?;
        let asked = json!({"file_id": file.reference});
        let found = api.call("getFile", &asked).await.map_err(judged)?;
        let Some(path) = found["file_path"].as_str() else {
            return Err(FetchError::Missing(
                "Telegram does not say where it is".into(),
            ));
        };
        api.file(path).await.map_err(judged)
    }

    async fn taken(&self, incoming: &Incoming, outcome: &Outcome) {
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
                    let reaction = json!({"chat_id": incoming.place.id, "message_id": number(id),
                        "reaction": [{"type": "emoji", "emoji": emoji}]});
                    self.quietly("setMessageReaction", reaction).await;
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
        crate::send::deliver(self, delivery, progress, link).await
    }

    async fn attend_run(&self, delivery: Delivery, link: Link) {
        crate::live::attend(self, &delivery, &link).await;
    }

    fn board(&self) -> &Board {
        &self.board
    }
}

/// A message's number.
pub(crate) fn number(id: &str) -> Value {
    id.parse::<i64>().map_or(Value::Null, Value::from)
}
