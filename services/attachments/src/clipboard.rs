//! The picture that the clipboard has: a terminal gives a program text alone.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use openclaw_terminal::Failure;

use crate::content::Content;

/// What programs print the clipboard's picture, of Wayland and of X.
const PROGRAMS: [&[&str]; 2] = [
    &["wl-paste", "--no-newline", "--type", "image/png"],
    &[
        "xclip",
        "-selection",
        "clipboard",
        "-target",
        "image/png",
        "-out",
    ],
];

/// How long a program may take: whoever holds the clipboard may not answer it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a PNG begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The picture, of at most `limit` bytes.
///
/// # Errors
/// There is none, it is too large, or no program that could tell.
pub fn picture(limit: u64) -> Result<Content, Failure> {
    let mut is_any = false;
    for words in PROGRAMS {
        let Some(bytes) = printed(words, limit + 1) else {
            continue;
        };
        is_any = true;
        if bytes.len() as u64 > limit {
            let most = limit / 1024 / 1024;
            return Err(Failure::new(format!(
                "the clipboard's picture is larger than {most} MiB"
            )));
        }
        if bytes.starts_with(PNG) {
            return Ok(Content {
                name: "clipboard.png".to_owned(),
                bytes,
            });
        }
    }
    Err(if is_any {
        Failure::new("there is no picture in the clipboard")
    } else {
        Failure::new("the clipboard cannot be read: there is neither wl-paste nor xclip")
            .hint("@PATH attaches a file")
    })
}

/// What the program prints; None: it is not there.
#[expect(
    clippy::disallowed_methods,
    reason = "the desktop's own program, of the user's own PATH: no agent"
)]
fn printed(words: &[&str], most: u64) -> Option<Vec<u8>> {
    let (program, arguments) = words.split_first()?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read is no picture, and nobody may wait for it any more.
        let _ = output.take(most).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    let bytes = receiver.recv_timeout(PATIENCE).unwrap_or_default();
    // One that has more to say is not waited for.
    let _ = child.kill();
    let _ = child.wait();
    Some(bytes)
}
