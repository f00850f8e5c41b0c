//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use openclaw_proto::channel::{Abilities, HandIn, What};
use openclaw_proto::wire::channel as wire;
use openclaw_settings::keys::channels::Account;
use prost::Message as _;
use tempfile::TempDir;

use super::*;

/// Bytes of a button's data that a provider takes.
const DATA: usize = 64;

/// Lines of what the agent is told of the channel.
const ABOUT: usize = 5;

/// A workspace with two files, and what an agent may leave beside them.
static WORKSPACE: LazyLock<TempDir> = LazyLock::new(|| {
    let root = tempfile::tempdir().expect("a temporary folder");
    let workspace = root.path().join("w");
    std::fs::create_dir_all(workspace.join("s")).expect("a folder");
    for name in ["secret", "w/a.png", "w/s/b.ogg"] {
        std::fs::write(root.path().join(name), "1").expect("a file");
    }
    for (target, name) in [("../secret", "l"), ("..", "u"), ("/etc/passwd", "p")] {
        symlink(target, workspace.join(name)).expect("a link");
    }
    root
});

/// The reply of an agent: no button of its own decides or hides what it says, and no file
/// is named but those of the workspace.
pub fn reply(text: &str) {
    let asked = asked_for(text);
    for button in asked.buttons.iter().flatten() {
        assert!(button.data.len() <= DATA && button.url.is_empty());
        assert_eq!(decision_of(&button.data), None, "{button:?}");
        assert_eq!(said_by(&button.data), Some(button.text.as_str()));
    }
    let workspace = WORKSPACE.path().join("w");
    let taken = with_files(&asked.text, &workspace);
    assert_eq!(taken.paths.len(), taken.files.len());
    for path in &taken.paths {
        let known = ["a.png", "s/b.ogg"].map(Path::new);
        assert!(known.contains(&Path::new(path)), "{path}");
    }
}

/// What a channel daemon hands in: a stranger stays one, and what the agent is told of it
/// has no line that the sender's names or the chat's title made.
pub fn hand_in(bytes: &[u8]) {
    let Ok(request) = wire::HandInRequest::decode(bytes) else {
        return;
    };
    let Ok(hand_in) = HandIn::try_from(request) else {
        return;
    };
    let again = HandIn::try_from(wire::HandInRequest::from(hand_in.clone()));
    assert_eq!(again.expect("it may be handed in again"), hand_in);
    let account: Account = serde_json::from_str("{}").expect("an account");
    let facts = Facts {
        channel: &hand_in.account.channel,
        account: &hand_in.account.account,
        is_default_account: true,
        chat: hand_in.place.chat,
        chat_id: &hand_in.place.id,
        thread: hand_in.place.thread.as_deref(),
        sender: &hand_in.sender.id,
        is_bot: hand_in.sender.is_bot,
        is_to_bot: true,
    };
    let verdict = judge(&account, &facts, Known::default());
    assert!(!matches!(verdict, Verdict::Allow { .. }), "{verdict:?}");
    let told = about("telegram", &Abilities::default(), &hand_in.place);
    assert!(told.lines().count() <= ABOUT, "{told:?}");
    match &hand_in.what {
        What::Message(message) => _ = said(&hand_in, message, &[]),
        What::Press(press) => {
            let both = (decision_of(&press.data), said_by(&press.data));
            assert!(!matches!(both, (Some(_), Some(_))), "{both:?}");
        }
        What::Reaction(_) | What::Membership(_) => {}
    }
}
