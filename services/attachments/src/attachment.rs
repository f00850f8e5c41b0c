//! Files that go with a message: given to the gateway first, then said in the text.

use std::path::{Path, PathBuf};

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
pub fn read(paths: &[PathBuf], environment: &Environment) -> Result<Vec<Content>, Failure> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let settings = openclaw_settings::load_usable(environment)?;
    let read = |path: &PathBuf| Content::read(&settings.folder(path.clone()), LIMIT);
    paths.iter().map(read).collect()
}

/// The files that `text` names. One that is hidden is only told: the text may be
/// pasted from somebody who would like to have it.
///
/// # Errors
/// One cannot be had, or is not taken.
pub fn of_text(text: &str, environment: &Environment) -> Result<Vec<Content>, Failure> {
    let home = environment.get("HOME").map(PathBuf::from);
    // Without a folder to be in, there are no relative paths.
    let folder = std::env::current_dir().unwrap_or_default();
    let mut paths = named(text, &folder, home.as_deref());
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let settings = openclaw_settings::load_usable(environment)?;
    let agents = settings.agents.values();
    let workspaces: Vec<PathBuf> = agents.map(|it| real(&it.workspace)).collect();
    paths.retain(|path| {
        let is_meant = !is_hidden(&real(path), &workspaces);
        if !is_meant {
            let path = output::line(&path.display().to_string());
            output::stderr_line(&format!(
                "not attached, because it is hidden: {path}\nhint: `openclawctl message --file` \
                 attaches it"
            ));
        }
        is_meant
    });
    read(&paths, environment)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether a name in `path` begins with a dot, as those of keys and settings do. Where
/// a workspace is says nothing of what is in it.
fn is_hidden(path: &Path, workspaces: &[PathBuf]) -> bool {
    let beneath = workspaces.iter().find_map(|it| path.strip_prefix(it).ok());
    let mut names = beneath.unwrap_or(path).components();
    names.any(|name| name.as_os_str().as_encoded_bytes().starts_with(b"."))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_hidden_where_a_name_begins_with_a_dot() {
        let workspaces = [PathBuf::from("/home/ada/.openclaw/workspace")];
        for (path, expected) in [
            ("/home/ada/.ssh/id_ed25519", true),
            ("/home/ada/work/.env", true),
            ("/home/ada/work/bed.png", false),
            ("/home/ada/.openclaw/workspace/bed.png", false),
            ("/home/ada/.openclaw/workspace/.git/config", true),
            ("/home/ada/.openclaw/openclaw.json", true),
        ] {
            assert_eq!(is_hidden(Path::new(path), &workspaces), expected, "{path}");
        }
    }
}
