//! The session that `--session` names: as `sessions` does.

use openclaw_proto::call::{Patience, RefusalCode};
use openclaw_terminal::{Failure, output};

use crate::sessions;
use openclaw_connection::{Gateway, PATIENCE};

/// The session that was named.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Its key, as far as it is known; empty: the main session.
    pub(crate) key: String,
    /// What is known of it, when there is no session that the name means.
    pub(crate) new: Option<New>,
}

/// A session that is still to begin.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) name: String,
    /// What may have been meant instead.
    near: Option<String>,
}

impl New {
    /// Says what may have been meant instead.
    pub(crate) fn tell_near(&self) {
        if let Some(near) = &self.near {
            output::stderr_line(&format!("hint: {}", output::line(near)));
        }
    }

    /// Says that the message began it, by its `key`, and which other one there was.
    pub(super) fn tell_begun(&self, key: &str) {
        let (name, key) = (output::line(&self.name), output::line(key));
        let other = match self.other() {
            Some(other) => format!("there was {}, but no session {name:?}", output::line(other)),
            None => format!("there was no session {name:?}"),
        };
        output::stderr_line(&format!("note: {other}; {key} begins with this message"));
    }

    /// What may have been meant instead, in quotes: nobody is asked about what was done.
    fn other(&self) -> Option<&str> {
        let near = self.near.as_deref()?.strip_suffix('?')?;
        near.strip_prefix("did you mean ")
    }
}

/// The session that `text` names: by its key in any form, its id or the
/// beginning of it, or its label. What names none is the key of a new session.
pub(crate) async fn find(gateway: &Gateway, text: &str, agent: &str) -> Result<Named, Failure> {
    let get = || gateway.sessions.get(sessions::named(text, Some(agent)));
    match Patience::of(PATIENCE).call(get).await {
        Ok((session, _)) => Ok(Named {
            key: session.key,
            ..Named::default()
        }),
        Err(error) if error.is_refused(RefusalCode::NotFound) => Ok(Named {
            key: text.to_owned(),
            // The main session is always there, whether or not anything was
            // said in it.
            new: (!["", "main"].contains(&text.trim())).then(|| New {
                name: text.trim().to_owned(),
                near: sessions::remedy(&error).map(str::to_owned),
            }),
        }),
        Err(error) => Err(sessions::failure(gateway, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_other_session_is_named_and_not_asked_about() {
        let new = |near: Option<String>| New {
            name: "tn".to_owned(),
            near,
        };
        let asked = openclaw_config::nearest::question("tn", ["tm"]);
        assert_eq!(new(asked).other(), Some("\"tm\""));
        assert_eq!(new(None).other(), None);
    }
}
