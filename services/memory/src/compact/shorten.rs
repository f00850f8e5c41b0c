//! A step that is too long by itself.

use openclaw_sessions::history::HistoryMessage;

use super::step::{FRAME, Item, Step};
use super::tokens::Tokens;

/// A result that is cut to less than this says nothing any more; in tokens.
const WORTH: usize = 32;

/// The step with at most `room` tokens: long texts are cut, with a mark; when
/// the calls alone are too long, the words are kept without them.
pub(super) fn shorten(step: &Step, room: usize, tokens: &Tokens) -> Vec<Item> {
    let bare = step.items.iter().map(|item| {
        let mut item = item.clone();
        text(&mut item.said).clear();
        item.tokens(tokens)
    });
    let fixed: usize = bare.sum();
    if fixed + WORTH * step.items.len() <= room {
        return cut_all(step.items.clone(), room - fixed, tokens);
    }
    let words: Vec<Item> = step.items.iter().filter_map(words).collect();
    let room = room.saturating_sub(FRAME * words.len());
    cut_all(words, room, tokens)
}

/// Shares `room` among the texts: what a short one does not need goes to the
/// longer ones.
fn cut_all(mut items: Vec<Item>, mut room: usize, tokens: &Tokens) -> Vec<Item> {
    let mut sizes: Vec<(usize, usize)> = items
        .iter_mut()
        .enumerate()
        .map(|(index, item)| (tokens.count(text(&mut item.said)), index))
        .collect();
    sizes.sort_unstable();
    let mut left = sizes.len();
    for (size, index) in sizes {
        let share = room / left;
        let text = text(&mut items[index].said);
        if size > share {
            *text = tokens.cut(text, share);
        }
        room = room.saturating_sub(size.min(share));
        left -= 1;
    }
    items
}

/// The message without its calls; nothing when it says nothing else.
fn words(item: &Item) -> Option<Item> {
    let mut item = item.clone();
    match &mut item.said {
        HistoryMessage::User { .. } => Some(item),
        HistoryMessage::Tool { .. } => None,
        HistoryMessage::Assistant { text, calls } => {
            calls.clear();
            (!text.is_empty()).then_some(item)
        }
    }
}

fn text(said: &mut HistoryMessage) -> &mut String {
    match said {
        HistoryMessage::User { text } | HistoryMessage::Assistant { text, .. } => text,
        HistoryMessage::Tool { output, .. } => output,
    }
}
