//! The bot of an account: what it is, and how it reaches Telegram.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_channel::health::Board;
use openclaw_channel::recent::Recent;
use openclaw_config::secret::Secret;
use openclaw_proto::channel::{Connection, Settings};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::api::{Api, Error};
use crate::chats::Chats;
use crate::moved::Moved;
use crate::numbers::Numbers;
use crate::offered::Offered;
use crate::pace::Pace;
use crate::read::Reader;
use crate::settings::Options;
use crate::shown::Live;
use crate::token;

/// Failures that are known to have been told; what is forgotten is told once more.
const TOLD: usize = 1000;
/// Says that an emoji is drawn in colours.
const COLOURED: char = '\u{fe0f}';
/// Calls that are made again later, at a time; beyond that they are left out.
const WAITING: usize = 64;
/// Attempts at each of them.
const ATTEMPTS: u32 = 4;
/// The longest that one waits for the next.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Of a failure, the UTF-16 units that it is known by.
const FAILURE: usize = 200;

/// The bot of an account.
#[derive(Debug)]
pub(crate) struct Bot {
    /// The token that the environment has for it.
    variable: Option<Secret>,
    pub(crate) folder: PathBuf,
    pub(crate) board: Board,
    pub(crate) pace: Pace,
    pub(crate) lives: Live,
    pub(crate) chats: Chats,
    pub(crate) menu: tokio::sync::Mutex<Offered>,
    /// Calls that are made again later.
    waiting: Arc<Semaphore>,
    state: Mutex<State>,
    /// Failures that chats were told.
    told: Mutex<Recent<()>>,
    /// Groups that became supergroups.
    pub(crate) moved: Moved,
    numbers: Numbers,
}

#[derive(Debug, Default)]
struct State {
    reader: Arc<Reader>,
    api: Option<Api>,
    refused: Vec<String>,
}

impl Bot {
    /// A bot that keeps what it must not forget in `folder`. `variable`: what the environment
    /// has for its token.
    pub(crate) fn new(variable: Option<Secret>, folder: PathBuf) -> Self {
        Self {
            moved: Moved::open(&folder),
            numbers: Numbers::open(&folder),
            variable,
            folder,
            board: Board::default(),
            pace: Pace::default(),
            lives: Live::default(),
            chats: Chats::default(),
            menu: tokio::sync::Mutex::default(),
            waiting: Arc::new(Semaphore::new(WAITING)),
            state: Mutex::default(),
            told: Mutex::new(Recent::new(TOLD)),
        }
    }

    /// What holds now.
    pub(crate) fn reader(&self) -> Arc<Reader> {
        Arc::clone(&self.state().reader)
    }

    /// The way to the API with the token that holds now.
    pub(crate) fn api(&self) -> Result<Api, String> {
        let options = self.reader().options.clone();
        let token = token::find(
            self.variable.as_ref(),
            options.token_file.as_deref(),
            &self.folder,
        )
        .map_err(|error| error.to_string())?;
        if let Some(api) = self.state().api.as_ref().filter(|api| api.has(&token)) {
            return Ok(api.clone());
        }
        let api = Api::new(&options, token)?;
        self.state().api = Some(api.clone());
        Ok(api)
    }

    /// Says nothing more of the bot that it was, if the token of `api` is another one's.
    pub(crate) fn becomes(&self, api: &Api) {
        let before = self.reader().bot_id;
        if before != 0 && api.bot_id() != before.to_string() {
            self.board.begin_anew();
        }
    }

    /// The bot is who getMe says.
    pub(crate) fn is(&self, me: &Value) {
        let name = me["username"].as_str().unwrap_or_default();
        {
            let mut state = self.state();
            let mut reader = (*state.reader).clone();
            if !reader.bot_name.is_empty() && reader.bot_name != name {
                tracing::warn!(
                    "the token is of another bot now: @{name}, before @{}",
                    reader.bot_name
                );
            }
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

    /// The bot's id, as its token has it; empty: there is no token.
    fn token_id(&self) -> String {
        let of = |api: &Api| api.bot_id().to_owned();
        // Each update asks; the file that has the token is not looked at for that.
        let known = self.state().api.as_ref().map(of);
        known.unwrap_or_else(|| self.api().as_ref().map(of).unwrap_or_default())
    }

    /// The last number of a message in a private chat; None: it is not known.
    pub(crate) fn last_number(&self) -> Option<i64> {
        self.numbers.last(&self.token_id())
    }

    /// The bot said the messages `ids` in `chat`.
    pub(crate) fn said(&self, chat: &str, ids: &[String]) {
        self.numbers.said(&self.token_id(), chat, ids);
    }

    /// Somebody said them.
    pub(crate) fn saw(&self, chat: &str, ids: &[String]) {
        self.numbers.saw(&self.token_id(), chat, ids);
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
        let failure = openclaw_channel::rich::beginning(failure, FAILURE);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.put(&format!("{chat}\n{failure}"), ()).is_some()
    }

    /// Takes over what is configured, and says what of it is not taken.
    pub(crate) fn take_settings(&self, settings: &Settings) {
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

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls what nothing depends on. What Telegram wants later is called again then, and
    /// nobody waits for it.
    pub(crate) async fn quietly(&self, method: &'static str, parameters: Value) {
        let api = match self.api() {
            Ok(api) => api,
            Err(why) => return tracing::debug!("{why}"),
        };
        let Err(error) = api.call(method, &parameters).await else {
            return;
        };
        tracing::debug!("{error}");
        if let Some(after) = error.retry_after()
            && let Ok(permit) = Arc::clone(&self.waiting).try_acquire_owned()
        {
            tokio::spawn(async move {
                again(&api, method, &parameters, after).await;
                drop(permit);
            });
        }
    }
}

/// Calls again after the time that Telegram named, if that is not too long.
async fn again(api: &Api, method: &str, parameters: &Value, mut after: Duration) {
    for _ in 1..ATTEMPTS {
        if after > LONGEST_WAIT {
            break;
        }
        sleep(after).await;
        let Err(error) = api.call(method, parameters).await else {
            return;
        };
        match error.retry_after() {
            Some(longer) => after = longer,
            // A press that is too old, a message that is gone.
            None => return tracing::debug!("{error}"),
        }
    }
    tracing::debug!("{method}: left out, as Telegram refused it too often or for too long");
}

/// "Not Found" is said of a token alone; "chat not found" is a 400.
fn is_of_a_chat(error: &Error) -> bool {
    error.code() == Some(404) && error.description() != "Not Found"
}

/// The one reaction `emoji`. Telegram knows none by a form that says how it is drawn.
pub(crate) fn reaction(emoji: &str) -> Value {
    let plain: String = emoji.chars().filter(|it| *it != COLOURED).collect();
    json!([{"type": "emoji", "emoji": plain.trim()}])
}

/// A message's number.
pub(crate) fn number(id: &str) -> Value {
    id.parse::<i64>().map_or(Value::Null, Value::from)
}
