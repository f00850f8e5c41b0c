//! Whose something is, and of what: what is told of somebody else's is no answer.

use super::change::tells_change;
use super::language::Languages;
use super::sought::{is_name, is_number, tokens};
use super::stop_words;

/// What ends a word beside の.
const ENDS: [char; 24] = [
    'は', 'が', 'を', 'に', 'で', 'と', 'も', 'へ', 'の', '、', '。', '，', '？', '?', '！', '!',
    '「', '」', '（', '）', '・', ' ', '\u{3000}', '\n',
];
/// What stands before の and is nobody: when, and which of several.
const NOBODY: [&str; 26] = [
    "次",
    "今",
    "今度",
    "前",
    "最初",
    "最後",
    "今年",
    "去年",
    "来年",
    "今月",
    "来月",
    "先月",
    "今日",
    "明日",
    "昨日",
    "うち",
    "家",
    "私",
    "僕",
    "俺",
    "自分",
    "我が家",
    "どこ",
    "誰",
    "新",
    "何",
];

/// In Japanese, which writes names as it writes everything else: whoever, or whatever, something
/// in `text` is said to be of, each with that: 健太, 靴.
pub fn owners(text: &str) -> Vec<(&str, &str)> {
    let marks = text.match_indices('の').filter_map(|(at, mark)| {
        let before = text[..at].rsplit(ENDS).next().unwrap_or_default();
        let after = text[at + mark.len()..]
            .split(ENDS)
            .next()
            .unwrap_or_default();
        let is_word = !before.is_empty() && !after.is_empty() && !NOBODY.contains(&before);
        let is_time = before.contains(['月', '日', '年', '週', '回', '目', '時']);
        (is_word && !is_time).then_some((before, after))
    });
    marks.collect()
}

/// Whether `text` tells of the same `thing` of somebody else than the `owner`.
pub fn is_of_another((owner, thing): (&str, &str), text: &str) -> bool {
    let is_same = |other: &str| other.starts_with(thing) || thing.starts_with(other);
    let is_akin = |other: &str| other.contains(owner) || owner.contains(other);
    let others = || owners(text).into_iter().filter(|(_, other)| is_same(other));
    !text.contains(owner) && others().any(|(other, _)| !is_akin(other))
}

/// What stands before what the writer, or the writer's people, have.
const OURS: [&str; 24] = [
    "my", "our", "mein", "meine", "meinen", "meinem", "meiner", "meines", "unser", "unsere",
    "unseren", "unserem", "unserer", "unseres", "mon", "ma", "mes", "notre", "nos", "mi", "mis",
    "nuestro", "nuestra", "nuestros",
];

/// Whether `sentence` tells of what is the writer's, with a word of the question: "my
/// passport", asked for the one of somebody else.
pub fn is_ours(sentence: &str, is_asked: impl Fn(&str) -> bool) -> bool {
    let tokens = tokens(sentence, is_asked);
    tokens.windows(2).any(|pair| {
        let lower = pair[0].text.to_lowercase();
        OURS.contains(&lower.as_str()) && pair[1].is_asked
    })
}

/// Whether `sentence` tells of what is somebody's who is not asked for, with a word of the
/// question: "Katrins Schuhgröße".
pub fn is_somebodys(sentence: &str, is_asked: impl Fn(&str) -> bool) -> bool {
    let tokens = tokens(sentence, is_asked);
    tokens.windows(2).any(|pair| {
        let owner = &pair[0];
        is_name(owner) && owner.text.ends_with('s') && !owner.is_last && pair[1].is_asked
    })
}

/// What is paid for something, in lower case.
const PAYMENTS: &str = "rent rents fee fees dues price cost costs paid total deposit balance charge bill miete pacht gebühr beitrag preis \
    kosten kostet bezahlt gesamt gesamtpreis anzahlung rechnung loyer cotisation prix coût payé total acompte facture frais tarif alquiler \
    renta cuota precio coste pagado total señal factura tarifa each person month year adult child";

/// Whether `sentence` begins with a word for something, that is not what is paid: more than numbers,
/// days and what they are of.
pub fn names_thing(sentence: &str) -> bool {
    if super::sought::is_spaceless(sentence) {
        return super::spaceless::names_thing(sentence);
    }
    let tokens = tokens(sentence, |_| false);
    let is_thing = |text: &str| {
        let lower = text.to_lowercase();
        text.chars().count() > UNIT
            && !text.contains(|c: char| c.is_ascii_digit())
            && stop_words::languages_of(&lower) == Languages::default()
            && super::traits::facts(text).is_empty()
            && !super::lexicon::is_frame(&lower)
    };
    let first = tokens.iter().find(|token| is_thing(token.text));
    let is_payment = |text: &str| {
        let lower = text.to_lowercase();
        PAYMENTS.split_whitespace().any(|payment| payment == lower)
    };
    first.is_some_and(|first| !is_payment(first.text))
}

/// Shorter words are units, as in "9 g salt"; in bytes.
const UNIT: usize = 3;

/// Whether `sentence` tells of another `thing` than the one with the word before it that is asked
/// for: the water tank, and not the diesel tank. In English, which parts such words.
pub fn is_of_other_thing(
    sentence: &str,
    is_thing: impl Fn(&str) -> bool,
    is_asked: impl Fn(&str) -> bool,
) -> bool {
    let tokens = tokens(sentence, is_asked);
    tokens.windows(2).any(|pair| {
        let lower = pair[0].text.to_lowercase();
        let is_empty = stop_words::languages_of(&lower) != Languages::default();
        let says = !is_empty && !pair[0].is_last && !pair[0].is_asked && !is_number(&pair[0]);
        let is_unit = lower.len() < UNIT;
        says && !is_unit && !tells_change(&lower) && is_thing(pair[1].text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_of_the_same_thing_is_another() {
        let asked = owners("美咲の靴のサイズは?");
        assert_eq!(asked, [("美咲", "靴"), ("靴", "サイズ")]);
        let is_other = |text| asked.iter().any(|&one| is_of_another(one, text));
        assert!(is_other("健太の靴のサイズは24.5センチ"));
        assert!(!is_other("美咲の靴は23センチ") && !is_other("靴のサイズは23センチ"));
        assert!(owners("次のライブは? 11月3日の予定").is_empty());
    }

    #[test]
    fn owner_what_is_ours_is_not_somebody_elses() {
        let ours = |sentence| is_ours(sentence, |word| word == "passport" || word == "Pass");
        assert!(ours("My passport expires in May") && ours("unser Pass gilt noch"));
        assert!(!ours("My brother has a passport") && !ours("Ellis's passport expires"));
    }

    #[test]
    fn owner_what_begins_with_a_thing_names_one() {
        for sentence in [
            "Insured with Petwell, £11 a month",
            "| Batterie | 96 € |",
            "電池 96円",
        ] {
            assert!(names_thing(sentence), "{sentence}");
        }
        for sentence in ["£11 a month", "Rent £58 a year, to the council", "96円"] {
            assert!(!names_thing(sentence), "{sentence}");
        }
    }

    #[test]
    fn thing_with_another_word_before_it_is_another_thing() {
        let is_tank = |word: &str| word == "tank";
        let is_other = |sentence| is_of_other_thing(sentence, is_tank, is_tank);
        assert!(is_other("Fresh water tank holds 95 litres"));
        assert!(!is_other("The tank holds 95 litres") && !is_other("new tank: 95 litres"));
        assert!(is_somebodys("Katrins Schuhgröße: 39,5", |word| word == "Schuhgröße"));
        assert!(!is_somebodys("Schuhgröße: 39,5", |word| word == "Schuhgröße"));
    }
}
