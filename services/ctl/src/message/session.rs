//! The session that `--session` names: as `sessions` does.

use std::time::Duration;

use tokio::time::sleep;
use tonic::{Code, Status};

use crate::connection::{self, Gateway};
use crate::failure::Failure;
use crate::output;
use crate::sessions;

/// Attempts at a gateway that is just started again; with the waits between
/// them some seconds.
const ATTEMPTS: u32 = 10;
/// The wait between two attempts.
const WAIT: Duration = Duration::from_millis(300);

/// The session that was named.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Its key, as far as it is known; empty: the main session.
    pub(super) key: String,
    /// The name, when there is no session that it means.
    pub(super) new: Option<String>,
}

/// The session that `text` names: by its key in any form, its id or the
/// beginning of it, or its label. What names none is the key of a new session.
pub(super) async fn find(gateway: &Gateway, text: &str, agent: &str) -> Result<Named, Failure> {
    match get(gateway, text, agent).await {
        Ok(key) => Ok(Named { key, new: None }),
        Err(status) if status.code() == Code::NotFound => Ok(Named {
            key: text.to_owned(),
            // The main session is always there, whether or not anything was
            // said in it.
            new: Some(text.trim().to_owned()).filter(|name| !["", "main"].contains(&name.as_str())),
        }),
        Err(status) => Err(sessions::failure(gateway, &status)),
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

async fn get(gateway: &Gateway, text: &str, agent: &str) -> Result<String, Status> {
    let mut attempt = 1;
    loop {
        let found = gateway
            .sessions
            .get(sessions::named(text, Some(agent)))
            .await;
        match found {
            Ok((session, _)) => return Ok(session.key),
            Err(status)
                if attempt < ATTEMPTS
                    && connection::is_broken(&status)
                    && !connection::is_absent(&status) => {}
            Err(status) => return Err(status),
        }
        attempt += 1;
        sleep(WAIT).await;
    }
}
