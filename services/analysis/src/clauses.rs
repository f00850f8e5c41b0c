//! Questions that ask for several things.

use super::reference::refers;
use super::sought;

/// Words that join questions.
const JOINING: [&str; 7] = ["and", "und", "et", "y", "e", "sowie", "plus"];
/// What parts questions.
const MARKS: [char; 8] = ['?', '？', ';', '；', '、', '。', '¿', ','];
/// The clauses of `text`: what is between marks and between words that join, as
/// questions that can be put alone. A text that asks for one thing is one clause.
pub fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for piece in pieces(text) {
        // "Tomorrow, where …", "the red, big one": no question of its own.
        match clauses.last_mut() {
            Some(last) if piece.is_loose || !sought::asks(last) => {
                last.push(if sought::is_spaceless(last) {
                    '、'
                } else {
                    ' '
                });
                last.push_str(&piece.text);
            }
            _ => clauses.push(piece.text),
        }
    }
    let Some((first, others)) = clauses.split_first_mut() else {
        return clauses;
    };
    for other in others {
        if !sought::asks(other) {
            // "Where are the keys and the passport?"
            let word = first.split_whitespace().next().unwrap_or_default();
            *other = format!("{word} {other}");
        }
        if let Some(subject) = subject(first, other) {
            *other = format!("{subject} {other}");
        }
    }
    clauses
}

/// A part of a text.
struct Piece {
    text: String,
    /// Whether it belongs to the one before: after a comma what does not ask.
    is_loose: bool,
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut mark = '?';
    for sentence in text.split_inclusive(MARKS) {
        let bare = sentence.trim_end_matches(MARKS);
        let mut is_loose = matches!(mark, ',' | '、') && !sought::asks(bare);
        mark = sentence.chars().next_back().unwrap_or('?');
        let mut open: Vec<&str> = Vec::new();
        let mut close = |open: &mut Vec<&str>, is_loose: bool| {
            let text = open.join(" ");
            if text.contains(char::is_alphanumeric) {
                pieces.push(Piece { text, is_loose });
            }
            open.clear();
        };
        for word in bare.split_whitespace() {
            let lower = word
                .trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase();
            if JOINING.contains(&lower.as_str()) {
                close(&mut open, is_loose);
                is_loose = false;
            } else {
                open.push(word);
            }
        }
        close(&mut open, is_loose);
    }
    pieces
}

/// What the first clause is about, where another only points to it.
fn subject(first: &str, other: &str) -> Option<String> {
    if sought::is_spaceless(first) {
        let (topic, _) = first.split_once('は')?;
        let has_own = other.contains(['は', 'が', 'の']);
        return (!has_own && !topic.is_empty()).then(|| format!("{topic}は"));
    }
    if !refers(other) {
        return None;
    }
    let words = first.split_whitespace().skip(1);
    let names = words.filter(|word| word.starts_with(char::is_uppercase));
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// Of a text that says something before it asks, what it asks: "I want to take part,
/// where do we meet?" None of one that only asks.
pub fn question_alone(text: &str) -> Option<String> {
    let pieces: Vec<&str> = text
        .split(MARKS)
        .filter(|piece| piece.contains(char::is_alphanumeric))
        .collect();
    let asking = pieces.iter().rposition(|piece| sought::asks(piece))?;
    (asking > 0).then(|| pieces[asking].trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_what_is_asked_for() {
        assert_eq!(
            clauses("Who is my doctor, and when is the appointment?"),
            ["Who is my doctor", "when is the appointment"]
        );
        assert_eq!(
            clauses("鍵はどこ？家賃はいくらで、大家は誰ですか"),
            ["鍵はどこ", "家賃はいくらで", "大家は誰ですか"]
        );
        assert_eq!(clauses("Where is the key?").len(), 1);
        assert_eq!(clauses("Where is the big, red key?").len(), 1);
        assert_eq!(
            clauses("Wann kommt er, wo wohnt er"),
            ["Wann kommt er", "wo wohnt er"]
        );
        assert!(clauses("?!").is_empty());
    }

    #[test]
    fn question_is_told_from_what_is_said_before_it() {
        assert_eq!(
            question_alone("防災訓練に参加したいのですが、集合場所はどこでしょうか？").as_deref(),
            Some("集合場所はどこでしょうか")
        );
        assert_eq!(question_alone("Where is the big, red key?"), None);
    }

    #[test]
    fn clauses_have_what_the_first_said_for_them() {
        assert_eq!(
            clauses("Where are the keys and the passport?"),
            ["Where are the keys", "Where the passport"]
        );
        assert_eq!(
            clauses("Where does Ada live and what is her number?"),
            ["Where does Ada live", "Ada what is her number"]
        );
        assert_eq!(
            clauses("健太はどうしてやめたの? いま何を習っている?"),
            ["健太はどうしてやめたの", "健太は いま何を習っている"]
        );
    }
}
