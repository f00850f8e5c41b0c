//! Kinds of facts that are told by signs: of money, of addresses, and of days in Japanese.

use super::Traits;

/// What stands before a size that is a letter, which stands for a number where one is asked for.
const BEFORE_SIZES: [&str; 4] = ["size ", "Größe ", "taille ", "talla "];

/// Whether `text` has such a size: "size M", "Lサイズ".
pub(super) fn has_letter_size(text: &str) -> bool {
    text.match_indices(['S', 'M', 'L']).any(|(at, letter)| {
        let after = &text[at + letter.len()..];
        let before = text[..at].trim_end_matches('X');
        let ends = !after.starts_with(char::is_alphanumeric);
        after.starts_with("サイズ") || ends && BEFORE_SIZES.iter().any(|it| before.ends_with(it))
    })
}

/// Whether an amount of the money of other countries is told in Japanese: "40ユーロ".
fn has_currency(text: &str) -> bool {
    const MONEY: [&str; 6] = ["ユーロ", "ドル", "フラン", "ポンド", "ペソ", "ウォン"];
    let is_number = |c: char| c.is_ascii_digit() || "一二三四五六七八九十百千万".contains(c);
    MONEY.iter().any(|money| {
        let mut found = text.match_indices(money);
        found.any(|(at, _)| text[..at].trim_end().ends_with(is_number))
    })
}

/// Whether days of the week are told by their characters in Japanese: "火・木・土".
fn has_days(text: &str) -> bool {
    const DAYS: &str = "月火水木金土日";
    let mut before = ['\0'; 2];
    text.chars().any(|c| {
        let is_between = matches!(before[1], '・' | '、');
        let is_list = is_between && DAYS.contains(c) && DAYS.contains(before[0]);
        before = [before[1], c];
        is_list
    })
}

/// The kinds of facts that signs tell, and characters where words are not parted.
pub(super) fn of_signs(text: &str) -> Traits {
    let mut found = Traits::default();
    if text.contains(['€', '$', '£', '¥', '円']) {
        found = found.with(Traits::MONEY);
    }
    if has_currency(text) {
        found = found.with(Traits::MONEY);
    }
    if has_letter_size(text) {
        found = found.with(Traits::NUMBER);
    }
    if text.contains('@') || text.contains("http") || text.contains("www.") {
        found = found.with(Traits::ADDRESS);
    }
    if !text.is_ascii() {
        if text.contains(['月', '曜', '時', '年']) || text.contains("毎日") || has_days(text)
        {
            found = found.with(Traits::DATE);
        }
        if [
            "昨日", "今日", "明日", "先週", "来週", "今週", "先月", "来月", "去年", "来年",
        ]
        .iter()
        .any(|word| text.contains(word))
        {
            found = found.with(Traits::RELATIVE);
        }
        if text.contains([
            '一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千', '万',
        ]) {
            found = found.with(Traits::NUMBER);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_tell_money_and_days_in_japanese() {
        assert!(of_signs("手取りは2,940ユーロ").meets(Traits::MONEY));
        assert!(of_signs("三十ドル").meets(Traits::MONEY));
        assert!(!of_signs("ユーロの小銭").meets(Traits::MONEY));
        assert!(of_signs("火・木・土に変更").meets(Traits::DATE));
        assert!(!of_signs("火と木").meets(Traits::DATE));
    }
}
