//! Where scripts and pictures are written with characters that have no width. Anywhere
//! else they hide something: text for a model, or that two words are not the same.

/// Whether `c`, which has no width, is how what ends with `before` is written (Unicode
/// 16.0, chapters 9, 13, 16 and 23.2; UTS #51 for pictures; UTS #37 for variants of
/// ideographs).
pub(crate) fn is_written_with(c: char, before: Option<char>) -> bool {
    let Some(before) = before else {
        return false;
    };
    match c {
        // Joiners.
        '\u{200c}' => has_joining_letters(before),
        '\u{200d}' => has_joining_letters(before) || is_picture(before),
        // A place where a line may end, in scripts without blanks.
        '\u{200b}' => has_no_blanks(before),
        // Marks of the direction.
        '\u{61c}' | '\u{200e}' | '\u{200f}' => is_from_the_right(before),
        // Variants: of Mongolian letters, of pictures and symbols, of ideographs.
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        '\u{fe0f}' => matches!(before, '0'..='9' | '#' | '*'),
        '\u{fe00}'..='\u{fe0e}' => !before.is_ascii() && !is_variant(before),
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(before),
        _ => false,
    }
}

fn is_variant(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Arabic, Syriac, N'Ko, Mandaic, the scripts of India and their neighbours, and
/// Mongolian: with letters that change beside each other.
fn has_joining_letters(c: char) -> bool {
    matches!(c,
        '\u{600}'..='\u{61b}' | '\u{61d}'..='\u{8ff}'
        | '\u{900}'..='\u{109f}'
        | '\u{1700}'..='\u{17b3}' | '\u{17b6}'..='\u{180a}' | '\u{1810}'..='\u{18aa}'
        | '\u{1900}'..='\u{1cff}'
        | '\u{a800}'..='\u{abff}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10a00}'..='\u{10eff}' | '\u{11000}'..='\u{11fff}'
        | '\u{1e900}'..='\u{1e95f}')
}

/// Pictures, and the symbols that are shown as such.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{27ff}' | '\u{2900}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Thai, Lao, Tibetan, Myanmar, Khmer and the scripts beside them.
fn has_no_blanks(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17ff}'
        | '\u{1950}'..='\u{19ff}' | '\u{1a20}'..='\u{1aaf}')
}

/// Hebrew, Arabic and their neighbours.
fn is_from_the_right(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{61b}' | '\u{61d}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
