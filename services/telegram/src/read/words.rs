//! What a message says, and whether it says it to the bot.

use openclaw_escape::{is_line_end, with_line_ends};
use openclaw_proto::channel::Attachment;

use super::{Reader, name};
use crate::types::{Chat, Entity, Line, Location, Message, Origin};

/// What is said of a story.
pub(super) const STORY: &str = "[story, the content of which cannot be had]";
/// Characters of a name that are told.
const NAME: usize = 100;

/// The words of a message.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Without the bot's name where that only called it.
    pub(super) text: String,
    pub(super) is_to_bot: bool,
}

impl Reader {
    pub(super) fn words(&self, message: &Message) -> Words {
        let (text, entities) = said(message);
        let is_forwarded = message.forward_origin.is_some();
        let mut words = Words {
            text: with_links(message),
            is_to_bot: self.has_name(text),
        };
        for entity in entities {
            // Whoever forwards a command gives none.
            if !(is_forwarded && entity.kind == "bot_command") {
                self.look_at(entity, text, &mut words);
            }
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
                let rest = words.text.strip_prefix(piece);
                let around = words.text.split_once(piece).unwrap_or_default();
                let without = format!("{}{}", around.0.trim_end(), around.1.trim_start());
                if let Some(rest) = rest.filter(|_| entity.offset == 0) {
                    words.text = rest.trim_start_matches([',', ':']).to_owned();
                } else if openclaw_stop::is_stop(&without) {
                    words.text = without;
                }
            }
            "text_mention" if entity.user.as_ref().is_some_and(|it| it.id == self.bot_id) => {
                words.is_to_bot = true;
            }
            "bot_command" if entity.offset == 0 => match piece.split_once('@') {
                None => words.is_to_bot = true,
                Some((command, name)) if name.eq_ignore_ascii_case(&self.bot_name) => {
                    words.is_to_bot = true;
                    if let Some(rest) = words.text.strip_prefix(piece) {
                        words.text = format!("{command}{rest}");
                    }
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

/// The text of `message`, or what is said below its files, with its entities.
fn said(message: &Message) -> (&str, &[Entity]) {
    if message.text.is_empty() {
        (&message.caption, &message.caption_entities)
    } else {
        (&message.text, &message.entities)
    }
}

/// What `message` says, with the addresses that its words lead to and do not show.
pub(super) fn with_links(message: &Message) -> String {
    let (text, entities) = said(message);
    let mut links: Vec<_> = entities
        .iter()
        .filter(|entity| entity.kind == "text_link")
        .filter_map(|entity| {
            Some((
                begin(text, entity),
                piece(text, entity)?,
                entity.url.as_deref()?,
            ))
        })
        .filter(|(_, piece, url)| piece != url && !url.is_empty())
        .collect();
    links.sort_by_key(|(begin, ..)| *begin);
    let mut linked = String::new();
    let mut end = 0;
    for (begin, piece, url) in links {
        // Links do not overlap; what says so is left as it is.
        if begin >= end {
            let url: String = url.chars().filter(|it| !it.is_control()).collect();
            linked.push_str(&text[end..begin]);
            linked.push_str(&format!("[{piece}]({url})"));
            end = begin + piece.len();
        }
    }
    linked + &text[end..]
}

/// `text` as somebody else's words, which were forwarded: none of its lines passes for
/// one of whoever forwards it, and none for a command.
pub(super) fn forwarded(origin: &Origin, text: &str) -> String {
    let from = format!("[Forwarded from {}]", author(origin));
    if text.is_empty() {
        return from;
    }
    format!("{from}\n> {}", with_line_ends(text, "\n> "))
}

/// Who said first what was forwarded, in people's words.
pub(super) fn author(origin: &Origin) -> String {
    let user = origin.sender_user.as_ref();
    let chats = [&origin.chat, &origin.sender_chat];
    let chat = chats.into_iter().flatten().next();
    let names = [
        user.map(name).unwrap_or_default(),
        user.map(|it| it.username.clone()).unwrap_or_default(),
        origin.sender_user_name.clone(),
        chat.map(|it| it.title.clone()).unwrap_or_default(),
        chat.map(|it| it.username.clone()).unwrap_or_default(),
    ];
    let mut names = names.iter().map(|it| one_line(it));
    let author = names.find(|it| !it.is_empty());
    let author = author.unwrap_or_else(|| "somebody".to_owned());
    match one_line(&origin.author_signature) {
        signature if signature.is_empty() => author,
        signature => format!("{author}, signed {signature}"),
    }
}

/// What people call `chat`, or whoever it is with.
pub(super) fn called(chat: &Chat) -> String {
    let person = format!("{} {}", chat.first_name, chat.last_name);
    let names = [&chat.title, &person, &chat.username];
    let mut names = names.into_iter().map(|it| one_line(it));
    let name = names.find(|it| !it.is_empty());
    name.unwrap_or_else(|| "somebody".to_owned())
}

/// The beginning of `text`, as a name.
fn one_line(text: &str) -> String {
    let beginning: String = whole_line(text).chars().take(NAME).collect();
    beginning.trim().to_owned()
}

/// Without what would end a line or a bracket.
fn whole_line(text: &str) -> String {
    let ends = |it: &char| it.is_control() || is_line_end(*it) || "[]".contains(*it);
    let plain: String = text.chars().filter(|it| !ends(it)).collect();
    plain.trim().to_owned()
}

/// Where the piece of `text` begins that `entity` is about.
fn begin(text: &str, entity: &Entity) -> usize {
    openclaw_channel::rich::beginning(text, entity.offset).len()
}

/// The piece of `text` that `entity` is about.
fn piece<'a>(text: &'a str, entity: &Entity) -> Option<&'a str> {
    let rest = &text[begin(text, entity)..];
    let piece = openclaw_channel::rich::beginning(rest, entity.length);
    (!piece.is_empty()).then_some(piece)
}

/// What is said of what a message has that is neither words nor a file.
pub(super) fn beside_text(message: &Message) -> String {
    if let Some(sticker) = &message.sticker {
        return format!("[sticker {}]", one_line(&sticker.emoji));
    }
    if let Some(venue) = &message.venue {
        let Location {
            latitude,
            longitude,
        } = venue.location;
        let (title, address) = (one_line(&venue.title), one_line(&venue.address));
        return format!("[venue {title}, {address}, {latitude}, {longitude}]");
    }
    if let Some(place) = &message.location {
        return format!("[location {}, {}]", place.latitude, place.longitude);
    }
    if let Some(contact) = &message.contact {
        return format!(
            "[contact {} {}]",
            one_line(&contact.first_name),
            one_line(&contact.phone_number)
        );
    }
    if let Some(poll) = &message.poll {
        return format!(
            "[poll {}: {}]",
            whole_line(&poll.question),
            listed(&poll.options)
        );
    }
    if let Some(list) = &message.checklist {
        return format!(
            "[checklist {}: {}]",
            whole_line(&list.title),
            listed(&list.tasks)
        );
    }
    if let Some(dice) = &message.dice {
        return format!("[dice {} {}]", one_line(&dice.emoji), dice.value);
    }
    if let Some(game) = &message.game {
        return format!("[game {}]", one_line(&game.title));
    }
    if let Some(invoice) = &message.invoice {
        return format!("[invoice {}]", one_line(&invoice.title));
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

/// What is said of a file that is not at hand.
pub(super) fn file(attachment: &Attachment) -> String {
    format!("[{} {}]", attachment.kind, one_line(&attachment.name))
}

fn listed(lines: &[Line]) -> String {
    let texts: Vec<String> = lines.iter().map(|it| whole_line(&it.text)).collect();
    texts.join(" | ")
}
