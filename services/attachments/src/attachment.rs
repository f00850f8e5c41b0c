//! Files that go with a message: given to the gateway first, then said in the text.

use std::path::PathBuf;

use openclaw_config::Environment;
use openclaw_proto::call::CallError;
use openclaw_proto::gateway::{ATTACHMENT_LIMIT, Client, Message};
use openclaw_terminal::{Failure, output, words};

use crate::content::Content;
use crate::named::named;

/// Bytes of one file.
pub const LIMIT: u64 = ATTACHMENT_LIMIT as u64;

/// Reads the files at `paths`.
///
/// # Errors
/// One cannot be had, or is not taken.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Content>, Failure> {
    let read = paths.iter().map(|path| Content::read(path, LIMIT));
    read.collect()
}

/// The files that `text` names.
///
/// # Errors
/// One cannot be had, or is not taken.
pub fn of_text(text: &str, environment: &Environment) -> Result<Vec<Content>, Failure> {
    let home = environment.get("HOME").map(PathBuf::from);
    // Without a folder to be in, there are no relative paths.
    let folder = std::env::current_dir().unwrap_or_default();
    read(&named(text, &folder, home.as_deref()))
}

/// Gives `files` to the agent that answers `message`, whose text says so then.
///
/// # Errors
/// One cannot be had, or is not taken.
pub async fn put(
    client: &Client,
    failure: impl Fn(&CallError) -> Failure,
    message: &mut Message,
    files: Vec<Content>,
) -> Result<(), Failure> {
    for Content { name, bytes } in files {
        let size = words::bytes(bytes.len() as u64);
        let (session, agent) = (&message.session_key, &message.agent_id);
        let put = client.put_attachment(session, agent, &name, bytes);
        let attached = put.await.map_err(|error| failure(&error))?;
        output::stderr_faint_line(&format!("attached {} ({size})", output::line(&name)));
        if !message.text.is_empty() {
            message.text.push_str("\n\n");
        }
        message.text.push_str(&attached.words);
    }
    Ok(())
}
