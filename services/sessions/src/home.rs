//! `sessions/default.json`: the home session as seed 000 describes it, one
//! exchange after the other whichever channel it came through.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::disk;
use crate::error::Error;
use crate::time::now_ms;

/// Seed 000's id of the only session.
const ID: &str = "home";

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HomeSession {
    /// Always the same.
    pub id: String,
    /// When the first message came, RFC 3339.
    pub created_at: String,
    /// When the last exchange was completed.
    pub updated_at: String,
    /// Oldest first.
    pub messages: Vec<Exchange>,
    /// Fields not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What was said and what was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Counts up, from 1, over all channels.
    pub id: String,
    /// Never empty.
    pub user_text: String,
    /// Empty when there is no whole answer.
    pub bot_text: String,
    /// `telegram` or `cli`.
    pub channel: String,
    /// When the user's message came, RFC 3339.
    pub sent_at: String,
    /// When the answer was whole.
    pub replied_at: String,
    /// Fields not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An exchange that has no number yet. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What the user said.
    pub user_text: String,
    /// The whole answer, or nothing.
    pub bot_text: String,
    /// Where the message came from.
    pub channel: String,
    /// When it came.
    pub sent_ms: i64,
    /// When the answer was whole.
    pub replied_ms: i64,
}

/// The document's place in the state directory.
pub fn path(state: &Path) -> PathBuf {
    state.join("sessions").join("default.json")
}

/// The document, when there was an exchange. A file that is none is kept aside
/// by the next [`record`], and counts as none here.
pub fn read(state: &Path) -> Result<Option<HomeSession>, Error> {
    let path = path(state);
    match fs::read(&path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// Adds an exchange; readers of the file see all of it or nothing.
pub fn record(state: &Path, said: Said) -> Result<Exchange, Error> {
    let path = path(state);
    let mut home = match read(state)? {
        Some(home) => home,
        None => {
            if path.exists() {
                disk::keep_aside(&path, now_ms())?;
            }
            HomeSession::begun(said.sent_ms)
        }
    };
    let exchange = Exchange {
        id: home.next_id().to_string(),
        user_text: said.user_text,
        bot_text: said.bot_text,
        channel: channel(&said.channel).to_owned(),
        sent_at: seconds(said.sent_ms),
        replied_at: seconds(said.replied_ms),
        rest: Map::new(),
    };
    home.updated_at.clone_from(&exchange.replied_at);
    home.messages.push(exchange.clone());
    let mut bytes = serde_json::to_vec_pretty(&home).map_err(|source| Error::Encode {
        path: path.clone(),
        source,
    })?;
    bytes.push(b'\n');
    disk::replace(&path, &bytes)?;
    Ok(exchange)
}

impl HomeSession {
    fn begun(at_ms: i64) -> Self {
        Self {
            id: ID.to_owned(),
            created_at: seconds(at_ms),
            updated_at: seconds(at_ms),
            messages: Vec::new(),
            rest: Map::new(),
        }
    }

    fn next_id(&self) -> u64 {
        let ids = self.messages.iter().filter_map(|said| said.id.parse().ok());
        ids.max().unwrap_or(0u64).saturating_add(1)
    }
}

/// Seed 000 knows two channels; whatever is not Telegram is at this machine.
fn channel(name: &str) -> &'static str {
    match name {
        "telegram" => "telegram",
        _ => "cli",
    }
}

/// As the document has them: to the second.
fn seconds(unix_ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.0}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of seed 000.
    const EXAMPLE: &str = r#"{
  "id": "home",
  "created_at": "2026-02-25T10:00:00Z",
  "updated_at": "2026-02-25T14:32:00Z",
  "messages": [
    {
      "id": "1",
      "user_text": "Add a task: buy groceries",
      "bot_text": "Done! I've added 'buy groceries' to your TickTick inbox.",
      "channel": "telegram",
      "sent_at": "2026-02-25T10:00:00Z",
      "replied_at": "2026-02-25T10:00:03Z"
    }
  ]
}
"#;

    fn said(text: &str, channel: &str) -> Said {
        Said {
            user_text: text.to_owned(),
            bot_text: format!("re: {text}"),
            channel: channel.to_owned(),
            sent_ms: 1_772_013_600_000,
            replied_ms: 1_772_013_603_999,
        }
    }

    #[test]
    fn a_document_of_the_seed_goes_on() {
        let state = tempfile::tempdir().unwrap();
        fs::create_dir(state.path().join("sessions")).unwrap();
        fs::write(path(state.path()), EXAMPLE).unwrap();
        let exchange = record(state.path(), said("more", "webchat")).unwrap();
        assert_eq!(
            (exchange.id.as_str(), exchange.channel.as_str()),
            ("2", "cli")
        );
        let text = fs::read_to_string(path(state.path())).unwrap();
        let before = EXAMPLE.split("    }\n").next().unwrap();
        let before = before.replace("2026-02-25T14:32:00Z", &exchange.replied_at);
        assert!(text.starts_with(&before), "{text}");
        assert_eq!(exchange.sent_at, "2026-02-25T10:00:00Z");
    }

    #[test]
    fn what_is_no_document_is_kept_aside() {
        let state = tempfile::tempdir().unwrap();
        fs::create_dir(state.path().join("sessions")).unwrap();
        fs::write(path(state.path()), "{ broken").unwrap();
        assert_eq!(read(state.path()).unwrap(), None);
        assert_eq!(record(state.path(), said("a", "cli")).unwrap().id, "1");
        let names = fs::read_dir(state.path().join("sessions")).unwrap();
        let kept = names.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("default.json.corrupt-")
        });
        assert_eq!(kept.count(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Ids count up from 1 over all channels, and nothing said is changed.
        #[test]
        fn ids_count_up_over_all_channels(
            all in proptest::collection::vec(("\\PC{1,20}", "telegram|cli|webchat"), 1..8),
        ) {
            let state = tempfile::tempdir().unwrap();
            for (text, channel) in &all {
                record(state.path(), said(text, channel)).unwrap();
            }
            let home = read(state.path()).unwrap().unwrap();
            let ids: Vec<_> = home.messages.iter().map(|said| said.id.clone()).collect();
            let expected: Vec<_> = (1..=all.len()).map(|n| n.to_string()).collect();
            prop_assert_eq!(ids, expected);
            for (exchange, (text, channel)) in home.messages.iter().zip(&all) {
                prop_assert_eq!(&exchange.user_text, text);
                prop_assert_eq!(exchange.channel == "telegram", channel == "telegram");
            }
        }
    }
}
