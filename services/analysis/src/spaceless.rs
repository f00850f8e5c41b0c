//! What says something in a question that is written without spaces.
//!
//! Han characters and katakana are words, hiragana mostly endings and particles:
//! what is left of it without those is a word too.

use std::ops::Range;

use super::word::is_han;

/// Endings, particles and words of questions in Japanese, in hiragana; the longer
/// before the shorter.
const HIRAGANA: &str = "
のところ ところ せばいい ればいい えばいい けばいい めばいい てばいい ばいい でしたっけ でしょうか ましたっけ ありますか いましたか ありましたか していますか ください でしょう でしたか ですか ますか ましたか
ですが ません ました まして ありました あります います している していた したい される された という について として だっけ
どこに どこで どこ どれくらい どれ どの どう どんな どちら いつまで いつから いつ いくつ いくら だれ なぜ なに なん です ます した
して する しま ある あり いる いた いま これ それ あれ この その あの から まで より ので のに けど など だけ ほど くらい ごろ こと
たら なら けれど せば れば えば けば めば いい よい べき そう もらう もらっ もらえ くれる くれた もの とき ため よう さん ちゃん くん わたし ぼく うち では には とは にも でも った って れる られ れた せる たい ない なっ なる しい
しく まれ の は が を に へ と も や か で な だ た て ね よ";
/// Characters of words that ask and point, in Japanese and Chinese.
const ASKING: &[char] = &[
    '何', '誰', '私', '僕', '俺', '的', '了', '是', '吗', '么', '什', '哪', '我', '你', '他', '她',
    '们', '在', '呢', '吧', '这', '那', '怎', '谁', '嗎', '麼', '這', '們', '誰',
];

/// What is counted after "何".
const COUNTED: &[char] = &[
    '時', '日', '曜', '月', '年', '人', '個', '歳', '回', '本', '匹', '円', '階', '番', '度', '枚',
    '冊', '分', '杯', '台', '色', '泊',
];
/// What follows a word that is no verb.
const PARTICLES: &str = "はがをにのでとへもやかなだしすさ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Han,
    Katakana,
    Hiragana,
    Other,
}

fn script(character: char) -> Script {
    match character {
        'ー' | '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => Script::Katakana,
        '\u{3040}'..='\u{309f}' => Script::Hiragana,
        '々' => Script::Han,
        character if is_han(character) => Script::Han,
        _ => Script::Other,
    }
}

/// The pieces of `run` that say something, in bytes.
pub fn pieces(run: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while let Some(first) = run[start..].chars().next() {
        let own = script(first);
        let rest = &run[start..];
        let length = rest.find(|c| script(c) != own).unwrap_or(rest.len());
        let range = start..start + length;
        start = range.end;
        match own {
            Script::Han => {
                let after = &run[start..];
                let asks = |text: &str| {
                    if let Some(now) = now(text, after) {
                        return Some(now);
                    }
                    let first = text.chars().next().filter(|c| ASKING.contains(c))?;
                    // "何時" asks for a time, and has no word for it.
                    let rest = &text[first.len_utf8()..];
                    let counted = rest
                        .chars()
                        .take_while(|c| COUNTED.contains(c) && first == '何');
                    Some(first.len_utf8() + counted.map(char::len_utf8).sum::<usize>())
                };
                pieces.extend(without(run, range, asks));
            }
            Script::Hiragana => {
                let ending = |text: &str| {
                    let mut endings = HIRAGANA.split_whitespace();
                    endings
                        .find(|ending| text.starts_with(*ending))
                        .map(str::len)
                };
                let left = without(run, range, ending).into_iter();
                // One character that is left is an ending too.
                pieces.extend(left.filter(|piece| run[piece.clone()].chars().count() > 1));
            }
            Script::Katakana | Script::Other => pieces.push(range),
        }
    }
    pieces
}

/// Whether the piece `piece` of `run` is a verb or an adjective: characters with an
/// ending after them that is no particle.
pub fn is_inflected(run: &str, piece: &Range<usize>) -> bool {
    let last = run[piece.clone()].chars().next_back();
    let next = run[piece.end..].chars().next();
    last.is_some_and(|last| script(last) == Script::Han)
        && next.is_some_and(|c| script(c) == Script::Hiragana && !PARTICLES.contains(c))
}

/// Verbs that only ask to be told.
const TELL: [&str; 3] = ["教", "知", "調"];
const ENDINGS: [&str; 5] = ["えて", "えろ", "りたい", "って", "べて"];
/// Words that say that something is now, or always.
const NOW: [&str; 8] = ["現在", "最終的", "結局", "普段", "正確", "次回", "今", "次"];

/// How long the word at the beginning of `text` is that says only that something is now, or is
/// to be told: "今" is one, and not that of "今月".
fn now(text: &str, after: &str) -> Option<usize> {
    if TELL.contains(&text) && ENDINGS.iter().any(|ending| after.starts_with(ending)) {
        return Some(text.len());
    }
    let word = NOW.iter().find(|word| text.starts_with(**word))?;
    let next = text[word.len()..].chars().next();
    let ends = next.is_none_or(|next| ASKING.contains(&next));
    ends.then_some(word.len())
}

/// What is written between two characters of a word that can be left out: "振込", "振り込み".
const LEFT_OUT: &str = "りしけえいみきっちれげめべせてぎ";

/// Of a pair of characters that may be written with an ending after the first, the pairs that it
/// is found by then: "振り" of "振込".
pub fn with_kana(pair: &str) -> Vec<String> {
    let mut characters = pair.chars();
    let (first, second) = (characters.next(), characters.next());
    match (first, second) {
        (Some(first), Some(second)) if is_han(first) && is_han(second) => LEFT_OUT
            .chars()
            .map(|kana| format!("{first}{kana}"))
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether `piece` says that somebody stays somewhere, without which nothing is told of it.
pub fn is_staying(piece: &str) -> bool {
    ["住", "勤", "働"]
        .iter()
        .any(|verb| piece.starts_with(verb))
}

/// Whether `piece` is written by its sound, as words of other languages are: two characters of it
/// are in many of them.
pub fn is_sounded(piece: &str) -> bool {
    piece.chars().all(|c| script(c) == Script::Katakana)
}

/// Whether a piece of `text` is a word for something: two characters at least, and no day.
pub(super) fn names_thing(text: &str) -> bool {
    let runs = super::word::runs(text).filter(|(_, is_spaced)| !is_spaced);
    let mut pieces = runs.flat_map(|(run, _)| pieces(run).into_iter().map(move |at| &run[at]));
    let is_time = |piece: &str| {
        piece.contains([
            '年', '月', '日', '円', '万', '千', '時', '曜', '分', '回', '約',
        ])
    };
    pieces.any(|piece| piece.chars().count() > 1 && !is_time(piece))
}

/// What is left of `range` without what `skip` finds at the beginning of a text.
fn without(
    run: &str,
    range: Range<usize>,
    skip: impl Fn(&str) -> Option<usize>,
) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    while at < range.end {
        let text = &run[at..range.end];
        let Some(length) = skip(text) else {
            at += text.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if at > start {
            pieces.push(start..at);
        }
        at += length;
        start = at;
    }
    if range.end > start {
        pieces.push(start..range.end);
    }
    pieces
}

/// The pairs of characters of a piece; of a single one itself.
pub fn pairs(piece: &str) -> impl Iterator<Item = Range<usize>> {
    let starts: Vec<usize> = piece.char_indices().map(|(at, _)| at).collect();
    let count = starts.len().saturating_sub(1).max(1);
    let end = piece.len();
    (0..count).map(move |index| starts[index]..starts.get(index + 2).copied().unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(run: &str) -> Vec<&str> {
        pieces(run).into_iter().map(|piece| &run[piece]).collect()
    }

    #[test]
    fn pieces_are_what_a_question_is_about() {
        assert_eq!(said("鍵はどこにありますか"), ["鍵"]);
        assert_eq!(
            said("冷蔵庫の保証期限はいつまでですか"),
            ["冷蔵庫", "保証期限"]
        );
        assert_eq!(said("パスワードは何ですか"), ["パスワード"]);
        assert_eq!(said("りんごが好きなのは誰"), ["りんご", "好"]);
        assert_eq!(said("我的猫叫什么名字"), ["猫叫", "名字"]);
        assert_eq!(said("歯医者は何時に行けばいい"), ["歯医者", "行"]);
    }

    #[test]
    fn pieces_are_not_what_says_that_it_is_now_or_to_be_told() {
        assert_eq!(said("鳩は今何羽"), ["鳩", "羽"]);
        assert_eq!(said("今月の鳩は"), ["今月", "鳩"]);
        assert_eq!(said("現在の鳩の数を教えて"), ["鳩", "数"]);
        assert_eq!(said("教室を調べて"), ["教室"]);
        assert!(is_staying("住") && !is_staying("鳩"));
    }

    #[test]
    fn things_are_words_that_are_no_days_and_no_sums() {
        assert!(names_thing("電池 96円") && !names_thing("9月3日 96円"));
    }

    #[test]
    fn words_that_are_written_by_their_sound_are_in_katakana() {
        assert!(is_sounded("フォレスター") && !is_sounded("鳩") && !is_sounded("鳩レース"));
    }

    #[test]
    fn verbs_have_endings_after_them() {
        let run = "歯医者は何時に行けばいい";
        let inflected = pieces(run).into_iter();
        let inflected: Vec<bool> = inflected.map(|piece| is_inflected(run, &piece)).collect();
        assert_eq!(inflected, [false, true]);
    }

    #[test]
    fn pairs_overlap() {
        let text = "保証期限";
        let pairs: Vec<&str> = pairs(text).map(|pair| &text[pair]).collect();
        assert_eq!(pairs, ["保証", "証期", "期限"]);
        assert_eq!(super::pairs("鍵").count(), 1);
    }
}
