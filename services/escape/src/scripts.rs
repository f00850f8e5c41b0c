//! Where scripts and pictures are written with characters that have no width. Anywhere
//! else they hide something: text for a model, or that two words are not the same.

/// What stands before a character.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Before {
    /// The last that is seen.
    base: Option<char>,
    /// The last behind it that has no width, and stays: one more is how no script is written.
    mark: Option<char>,
}

impl Before {
    /// What stands before the next, behind `c`, which stays or `is_written_out`.
    pub(crate) fn then(self, c: char, has_no_width: bool, is_written_out: bool) -> Self {
        match (has_no_width, is_written_out) {
            (_, true) => Self::default(),
            (true, _) => Self {
                mark: Some(c),
                ..self
            },
            (false, _) => Self {
                base: Some(c),
                mark: None,
            },
        }
    }

    /// Behind a flag that is written with tags.
    pub(crate) fn of_flag() -> Self {
        Self {
            base: Some(FLAG),
            mark: Some(TAGS_END),
        }
    }

    /// The character that asks for the coloured form of a picture may stand behind one.
    pub(crate) fn is_coloured_by(self, c: char) -> bool {
        c == COLOURED && self.mark.is_none() && self.base.is_some_and(is_picture)
    }
}

/// The flags that are written with tags (UTS #51, RGI_Emoji_Tag_Sequence): of England, Scotland
/// and Wales. Any other tags carry text that nothing shows.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];
/// What they end with.
const TAGS_END: char = '\u{e007f}';
/// What they begin with.
const FLAG: char = '\u{1f3f4}';

/// The flag with which `text` begins.
pub(crate) fn flag(text: &str) -> Option<&'static str> {
    text.starts_with(FLAG)
        .then(|| FLAGS.into_iter().find(|flag| text.starts_with(flag)))?
}

/// The bytes at the end of `text` that may be the beginning of a flag.
pub(crate) fn begins_a_flag(text: &str) -> usize {
    let Some(at) = text.rfind(FLAG) else {
        return 0;
    };
    let begun = &text[at..];
    let is_begun = |flag: &&str| flag.len() > begun.len() && flag.starts_with(begun);
    if FLAGS.iter().any(is_begun) {
        begun.len()
    } else {
        0
    }
}

const COLOURED: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';

/// Whether `c`, which has no width, is how what ends with `before` is written (Unicode
/// 16.0, chapters 9, 13, 16 and 23, and StandardizedVariants.txt; UTS #51 for pictures;
/// UTS #37 for variants of ideographs).
pub(crate) fn is_written_with(c: char, before: Before) -> bool {
    let Some(base) = before.base else {
        return false;
    };
    match (c, before.mark) {
        (JOINER, None | Some(COLOURED)) if is_picture(base) => true,
        (_, Some(_)) => false,
        // A place where a word may be broken: nothing where it is not.
        ('\u{ad}', None) => base.is_alphabetic(),
        // Joiners.
        ('\u{200c}' | JOINER, None) => has_joining_letters(base),
        // A place where a line may end, in scripts without blanks.
        ('\u{200b}', None) => has_no_blanks(base),
        // Marks of the direction.
        ('\u{61c}' | '\u{200e}' | '\u{200f}', None) => is_from_the_right(base),
        // Variants: of Mongolian letters, of pictures and symbols, of ideographs.
        ('\u{180b}'..='\u{180d}' | '\u{180f}', None) => matches!(base, '\u{1820}'..='\u{18aa}'),
        (COLOURED, None) => is_picture(base) || matches!(base, '0'..='9' | '#' | '*'),
        ('\u{fe0e}', None) => is_picture(base),
        ('\u{fe00}', None) => has_a_variant(base) || is_ideograph(base),
        ('\u{fe01}' | '\u{fe02}', None) => is_ideograph(base),
        ('\u{e0100}'..='\u{e01ef}', None) => is_ideograph(base),
        _ => false,
    }
}

/// Symbols of mathematics, letters of Myanmar and Phags-pa, marks of East Asian writing.
fn has_a_variant(c: char) -> bool {
    matches!(c, '\u{2200}'..='\u{22ff}' | '\u{1000}'..='\u{109f}' | '\u{a840}'..='\u{a877}'
        | '\u{3001}' | '\u{3002}' | '\u{ff01}'..='\u{ff1f}')
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
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24c2}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
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
