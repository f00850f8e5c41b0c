//! What a message says, and whether it says it to the bot.

use super::Reader;
use crate::types::{Entity, Line, Location, Message};

/// The words of a message.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Without the bot's name where that only called it.
    pub(super) text: String,
    pub(super) is_to_bot: bool,
}

impl Reader {
    pub(super) fn words(&self, message: &Message) -> Words {
        let (text, entities) = if message.text.is_empty() {
            (&message.caption, &message.caption_entities)
        } else {
            (&message.text, &message.entities)
        };
        let mut words = Words {
            text: text.clone(),
            is_to_bot: self.has_name(text),
        };
        for entity in entities {
            self.look_at(entity, text, &mut words);
        }
        let beside = beside_text(message);
        if !words.text.is_empty() && !beside.is_empty() {
            words.text.push('\n');
        }
        words.text.push_str(&beside);
        words.text = words.text.trim().to_owned();
        words
    }

    fn look_at(&self, entity: &Entity, text: &str, words: &mut Words) {
        let Some(piece) = piece(text, entity) else {
            return;
        };
        let own = format!("@{}", self.bot_name).to_lowercase();
        match entity.kind.as_str() {
            "mention" if piece.to_lowercase() == own => {
                words.is_to_bot = true;
                // Elsewhere it is part of a sentence.
                if entity.offset == 0 {
                    words.text = text[piece.len()..]
                        .trim_start_matches([',', ':'])
                        .to_owned();
                }
            }
            "text_mention" if entity.user.as_ref().is_some_and(|it| it.id == self.bot_id) => {
                words.is_to_bot = true;
            }
            "bot_command" if entity.offset == 0 => match piece.split_once('@') {
                None => words.is_to_bot = true,
                Some((command, name)) if name.eq_ignore_ascii_case(&self.bot_name) => {
                    words.is_to_bot = true;
                    words.text = format!("{command}{}", &text[piece.len()..]);
                }
                Some(_) => {}
            },
            _ => {}
        }
    }

    /// Whether one of the agents is named in `text`.
    fn has_name(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let is_word = |it: Option<char>| !it.is_some_and(char::is_alphanumeric);
        self.options
            .names
            .iter()
            .filter(|name| !name.is_empty())
            .any(|name| {
                let name = name.to_lowercase();
                lower.match_indices(&name).any(|(at, found)| {
                    is_word(lower[..at].chars().next_back())
                        && is_word(lower[at + found.len()..].chars().next())
                })
            })
    }
}

/// The piece of `text` that `entity` is about.
fn piece<'a>(text: &'a str, entity: &Entity) -> Option<&'a str> {
    let begin = openclaw_channel::rich::beginning(text, entity.offset).len();
    let rest = &text[begin..];
    let piece = openclaw_channel::rich::beginning(rest, entity.length);
    (!piece.is_empty()).then_some(piece)
}

/// What is said of what a message has that is neither words nor a file.
fn beside_text(message: &Message) -> String {
    if let Some(sticker) = &message.sticker {
        return format!("[sticker {}]", sticker.emoji);
    }
    if let Some(venue) = &message.venue {
        let Location {
            latitude,
            longitude,
        } = venue.location;
        let (title, address) = (&venue.title, &venue.address);
        return format!("[venue {title}, {address}, {latitude}, {longitude}]");
    }
    if let Some(place) = &message.location {
        return format!("[location {}, {}]", place.latitude, place.longitude);
    }
    if let Some(contact) = &message.contact {
        return format!("[contact {} {}]", contact.first_name, contact.phone_number);
    }
    if let Some(poll) = &message.poll {
        return format!("[poll {}: {}]", poll.question, listed(&poll.options));
    }
    if let Some(list) = &message.checklist {
        return format!("[checklist {}: {}]", list.title, listed(&list.tasks));
    }
    if let Some(dice) = &message.dice {
        return format!("[dice {} {}]", dice.emoji, dice.value);
    }
    if let Some(game) = &message.game {
        return format!("[game {}]", game.title);
    }
    if let Some(invoice) = &message.invoice {
        return format!("[invoice {}]", invoice.title);
    }
    let without_content = [
        ("story", message.story),
        ("paid media", message.paid_media),
        ("giveaway", message.giveaway),
        ("giveaway that is over", message.giveaway_winners),
    ];
    let found = without_content.iter().find(|(_, it)| it.is_some());
    found.map_or_else(String::new, |(name, _)| {
        format!("[{name}, the content of which cannot be had]")
    })
}

fn listed(lines: &[Line]) -> String {
    let texts: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
    texts.join(" | ")
}
