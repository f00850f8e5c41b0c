//! Numbers of messages in private chats, which a bot's chats there count together: the
//! last one that is known, kept over restarts. All that the bot said has a lower one or
//! this, but for what it was killed over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the file is called.
const FILE: &str = "last-number";

/// The last numbers that are known.
#[derive(Debug)]
pub(crate) struct Numbers {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The bot that they are of.
    bot: String,
    /// Of what it said itself; None: that is not known.
    own: Option<i64>,
    /// Of what others said.
    seen: i64,
}

impl Numbers {
    /// Those that are kept in `folder`.
    pub(crate) fn open(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let kept = text.trim().split_once(':').and_then(|(bot, number)| {
            Some(State {
                bot: bot.to_owned(),
                own: Some(number.parse().ok()?),
                seen: 0,
            })
        });
        Self {
            path,
            state: Mutex::new(kept.unwrap_or_default()),
        }
    }

    /// The last one; None: what the bot said itself may have later ones.
    pub(crate) fn last(&self, bot: &str) -> Option<i64> {
        let state = self.of(bot);
        state.own.map(|own| own.max(state.seen))
    }

    /// Somebody said the messages `ids` in `chat`.
    pub(crate) fn saw(&self, bot: &str, chat: &str, ids: &[String]) {
        if let Some(last) = last(chat, ids) {
            let mut state = self.of(bot);
            state.seen = state.seen.max(last);
        }
    }

    /// The bot said them.
    pub(crate) fn said(&self, bot: &str, chat: &str, ids: &[String]) {
        let Some(last) = last(chat, ids) else { return };
        let mut state = self.of(bot);
        if state.own.is_some_and(|own| own >= last) {
            return;
        }
        state.own = Some(last);
        if let Err(error) = self.keep(&state) {
            // A lower one would name messages that stand there as what may stand there.
            state.own = None;
            let _ = fs::remove_file(&self.path);
            tracing::warn!("cannot keep the number of the last message: {error}");
        }
    }

    fn keep(&self, state: &State) -> io::Result<()> {
        let beside = self.path.with_extension("new");
        let own = state.own.unwrap_or_default();
        fs::write(&beside, format!("{}:{own}", state.bot))?;
        fs::rename(&beside, &self.path)
    }

    fn of(&self, bot: &str) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bot != bot {
            *state = State {
                bot: bot.to_owned(),
                ..State::default()
            };
        }
        state
    }
}

/// The last of `ids`, if `chat` is a private one.
fn last(chat: &str, ids: &[String]) -> Option<i64> {
    let is_private = chat.parse::<i64>().is_ok_and(|id| id > 0);
    let numbers = ids.iter().filter_map(|id| id.parse().ok());
    numbers.max().filter(|_| is_private)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known_from_what_the_bot_said_on() {
        let folder = tempfile::tempdir().unwrap();
        let ids = |id: &str| vec![id.to_owned()];
        let numbers = Numbers::open(folder.path());
        numbers.saw("1", "7", &ids("11"));
        assert_eq!(numbers.last("1"), None, "it may have said more");
        numbers.said("1", "-7", &ids("900"));
        assert_eq!(numbers.last("1"), None, "groups count apart");
        numbers.said("1", "7", &ids("10"));
        assert_eq!(numbers.last("1"), Some(11));
        let again = Numbers::open(folder.path());
        assert_eq!(again.last("1"), Some(10));
        again.said("1", "8", &ids("9"));
        again.saw("1", "8", &ids("13"));
        assert_eq!(again.last("1"), Some(13));
        assert_eq!(again.last("2"), None, "another bot counts apart");
        assert_eq!(again.last("1"), None, "and what it had said was forgotten");
        fs::write(folder.path().join(FILE), "1:").unwrap();
        assert_eq!(Numbers::open(folder.path()).last("1"), None);
    }
}
