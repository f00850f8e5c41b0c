//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

use openclaw_channel::rich::{Rich, read};
use openclaw_proto::channel::What;

use crate::html::html;
use crate::read::Reader;
use crate::settings::Options;

const BOT: i64 = 7;

/// Files that one of Telegram's messages can have here.
const FILES: usize = 7;

/// Telegram's updates: read, left out or unreadable; what is read is the same again, and
/// the bot does not hear itself.
pub fn telegram_update(raw: &str) {
    let options = Options {
        names: vec!["Ada".to_owned(), "\u{130}".to_owned()],
        ..Options::default()
    };
    let reader = Reader {
        bot_id: BOT,
        bot_name: "bot".to_owned(),
        options,
    };
    let read = reader.read(raw);
    assert_eq!(format!("{read:?}"), format!("{:?}", reader.read(raw)));
    let Ok(Some(incoming)) = read else {
        return;
    };
    assert!(incoming.files.len() <= FILES);
    if let What::Message(message) = &incoming.what {
        assert_ne!(incoming.sender.id, BOT.to_string());
        assert!(!message.text.is_empty() || !incoming.files.is_empty());
        assert_eq!(message.text.trim(), message.text);
    }
}

/// What is said, in Markdown, after the most units of a message on a line of their own: no
/// part is longer, and each is well-formed HTML that says its text.
pub fn telegram_text(text: &str) {
    let (limit, text) = text.split_once('\n').unwrap_or(("", text));
    let limit = limit.trim().parse::<u16>().unwrap_or(40).into();
    let whole = read(text);
    for part in whole.split(limit) {
        assert!(part.units() <= limit.max(2), "{part:?}");
        assert!(!part.is_blank());
        says(&html(&part), &part);
    }
}

/// Tags are closed in their order, and what stands between them is the text of `part`.
fn says(html: &str, part: &Rich) {
    let mut open = Vec::new();
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, after) = after.split_once('>').expect("a tag is closed");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{html}"),
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
        rest = after;
    }
    text.push_str(rest);
    assert!(open.is_empty(), "{html}");
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    for (written, said) in plain {
        text = text.replace(written, said);
    }
    assert_eq!(text, part.text(), "{html}");
}
