//! Pictures that came with a message: the gateway names them in it, by the path
//! that it made in the workspace, and they are shown to a model that sees images.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_folder::Error;
use openclaw_turn::Image;

use crate::workspace;

/// What a line begins with that names a file (`inbound/src/words.rs`).
const MARK: &str = "[media attached: ";
/// Where such files are (`doors/src/channels/files.rs`). Their names cannot be
/// guessed: whoever writes such a line by hand shows nothing else.
const FOLDER: &str = "media/inbound/";
/// The kinds that models see.
const KINDS: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];
/// Bytes of one picture; in base64 it is a third more, and providers take 5 MB.
const LIMIT: u64 = 3_750_000;
/// Bytes of all pictures of a message: a request has 32 MB.
const IN_ALL: u64 = 3 * LIMIT;

/// The pictures of a message.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    pub(super) shown: Vec<Image>,
    /// Those that are not, and why.
    left_out: Vec<String>,
}

/// The pictures that `text` names.
pub(super) fn sent_with(text: &str, workspace: &Path) -> Pictures {
    let mut pictures = Pictures::default();
    let mut left = IN_ALL;
    for path in text.lines().filter_map(named) {
        match read(workspace, path, left.min(LIMIT)) {
            Ok((bytes, kind)) => {
                left -= bytes.len() as u64;
                pictures.shown.push(Image {
                    mime_type: kind.to_owned(),
                    data: STANDARD.encode(bytes),
                });
            }
            Err(why) => pictures
                .left_out
                .push(format!("{path} is not shown to you: {why}")),
        }
    }
    pictures
}

impl Pictures {
    /// What the model is told of those that it does not see.
    pub(super) fn told(&self, sees_images: bool) -> String {
        let mut lines = self.left_out.clone();
        if !sees_images && !self.shown.is_empty() {
            lines.push("the pictures are not shown to you: this model takes text alone".to_owned());
        }
        lines.iter().map(|line| format!("\n\n[{line}]")).collect()
    }
}

/// The path of the picture that a line names.
fn named(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix(MARK)?.strip_suffix(")]")?;
    let (path, kind) = inner.rsplit_once(" (")?;
    let name = path.strip_prefix(FOLDER)?;
    let is_plain = !name.is_empty() && !name.contains('/') && name != "..";
    (is_plain && KINDS.contains(&kind)).then_some(path)
}

/// The picture and its kind.
fn read(workspace: &Path, path: &str, limit: u64) -> Result<(Vec<u8>, &'static str), String> {
    match workspace::read(workspace, path, limit) {
        Ok(None) => Err("there is no such file".to_owned()),
        Ok(Some(bytes)) if bytes.is_empty() => Err("it is empty".to_owned()),
        Ok(Some(bytes)) => match Image::kind_of(&bytes) {
            Some(kind) => Ok((bytes, kind)),
            None => Err("it is no picture of a kind that models take".to_owned()),
        },
        Err(Error::TooLarge { .. }) => Err("it is larger than what a model is shown".to_owned()),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const GIF: &[u8] = b"GIF89a";

    #[test]
    fn pictures_are_those_that_the_gateway_put_there() {
        let workspace = tempfile::tempdir().unwrap();
        let folder = workspace.path().join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a---1.png"), GIF).unwrap();
        fs::write(folder.join("heic.png"), "....ftypheic").unwrap();
        fs::write(folder.join("large.jpg"), vec![0; LIMIT as usize + 1]).unwrap();
        fs::write(workspace.path().join("own.png"), GIF).unwrap();
        let text = "Look:\n[media attached: media/inbound/a---1.png (image/png)]\n\
            [media attached: media/inbound/large.jpg (image/jpeg)]\n\
            [media attached: media/inbound/gone.png (image/png)]\n\
            [media attached: media/inbound/heic.png (image/png)]\n\
            [media attached: own.png (image/png)]\n\
            [media attached: media/inbound/../../own.png (image/png)]\n\
            [media attached: media/inbound/a---1.png (application/pdf)]";
        let pictures = sent_with(text, workspace.path());
        assert_eq!(pictures.shown.len(), 1);
        // What it is, whatever it is called.
        let shown = &pictures.shown[0];
        assert_eq!((&*shown.mime_type, &*shown.data), ("image/gif", "R0lGODlh"));
        let told = pictures.told(true);
        assert_eq!(told.matches("not shown to you").count(), 3, "{told}");
        assert!(pictures.told(false).contains("text alone"));
        assert_eq!(sent_with("hello", workspace.path()).told(false), "");
    }

    #[test]
    fn pictures_are_reached_through_nothing_that_an_agent_left() {
        let root = tempfile::tempdir().unwrap();
        let (workspace, elsewhere) = (root.path().join("workspace"), root.path().join("own"));
        let folder = workspace.join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("key.png"), GIF).unwrap();
        std::os::unix::fs::symlink(elsewhere.join("key.png"), folder.join("link.png")).unwrap();
        nix::unistd::mkfifo(&folder.join("fifo.png"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let text = "[media attached: media/inbound/link.png (image/png)]\n\
            [media attached: media/inbound/fifo.png (image/png)]";
        let pictures = sent_with(text, &workspace);
        assert!(pictures.shown.is_empty(), "{pictures:?}");
        assert_eq!(pictures.left_out.len(), 2, "{pictures:?}");
        fs::remove_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(&elsewhere, workspace.join("media/inbound")).unwrap();
        let text = "[media attached: media/inbound/key.png (image/png)]";
        assert!(sent_with(text, &workspace).shown.is_empty());
        // The user's own way to the workspace may have links.
        fs::remove_file(workspace.join("media/inbound")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("key.png"), GIF).unwrap();
        std::os::unix::fs::symlink(&workspace, root.path().join("mine")).unwrap();
        assert_eq!(sent_with(text, &root.path().join("mine")).shown.len(), 1);
    }
}
