//! The session that `--session` names: as `sessions` does.

use openclaw_proto::call::{Patience, RefusalCode};
use openclaw_terminal::{Failure, output};

use crate::connection::{Gateway, PATIENCE};
use crate::sessions;

/// The session that was named.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Its key, as far as it is known; empty: the main session.
    pub(crate) key: String,
    /// The name, when there is no session that it means.
    pub(crate) new: Option<String>,
    /// What may have been meant instead of that.
    pub(crate) near: Option<String>,
}

impl Named {
    /// Says what may have been meant instead of a session that is still to begin.
    pub(crate) fn tell_near(&self) {
        if let (Some(_), Some(near)) = (&self.new, &self.near) {
            output::stderr_line(&format!("hint: {}", output::line(near)));
        }
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
            new: Some(text.trim().to_owned()).filter(|name| !["", "main"].contains(&name.as_str())),
            near: sessions::remedy(&error).map(str::to_owned),
        }),
        Err(error) => Err(sessions::failure(gateway, &error)),
    }
}

/// Says that the message began a session.
pub(super) fn tell_new(name: &str, key: &str) {
    output::stderr_line(&format!(
        "note: there was no session {:?}; {} begins with this message",
        output::line(name),
        output::line(key)
    ));
}
