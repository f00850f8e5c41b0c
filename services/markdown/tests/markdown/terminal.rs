//! A terminal that knows styles and links, and nothing else.

/// What is seen of a text.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) text: String,
    /// How often a colour was chosen.
    pub(crate) colours: usize,
}

/// Takes what was written for a terminal.
///
/// # Panics
/// When anything is in it that acts on a terminal otherwise, or when a style or a
/// link goes on behind the end of a line.
pub(crate) fn seen(written: &str) -> Seen {
    let mut seen = Seen::default();
    let (mut is_styled, mut is_linked) = (false, false);
    let mut characters = written.chars();
    while let Some(c) = characters.next() {
        match c {
            '\n' => {
                assert!(
                    !is_styled && !is_linked,
                    "goes on behind a line: {written:?}"
                );
                seen.text.push(c);
            }
            '\u{1b}' => match characters.next() {
                Some('[') => {
                    let codes: String = characters.by_ref().take_while(|c| *c != 'm').collect();
                    let is_codes = codes.chars().all(|c| c.is_ascii_digit() || c == ';');
                    assert!(is_codes, "no style: {codes:?} in {written:?}");
                    is_styled = codes != "0";
                    let is_colour = |code: &str| code.len() == 2 && code.starts_with('3');
                    seen.colours += usize::from(codes.split(';').any(is_colour));
                }
                Some(']') => {
                    let target: String =
                        characters.by_ref().take_while(|c| *c != '\u{1b}').collect();
                    assert_eq!(characters.next(), Some('\\'), "{written:?}");
                    let target = target.strip_prefix("8;;");
                    assert!(target.is_some(), "no link in {written:?}");
                    let target = target.unwrap_or_default();
                    is_linked = !target.is_empty();
                    let is_web = ["http://", "https://", "mailto:"]
                        .iter()
                        .any(|scheme| target.to_lowercase().starts_with(scheme));
                    assert!(!is_linked || is_web, "a link to {target:?}");
                    assert!(
                        target.bytes().all(|byte| byte.is_ascii_graphic()),
                        "{target:?}"
                    );
                }
                other => assert!(
                    other.is_none() && written.is_empty(),
                    "{other:?} in {written:?}"
                ),
            },
            c => {
                assert!(!c.is_control(), "{c:?} in {written:?}");
                seen.text.push(c);
            }
        }
    }
    assert!(
        !is_styled && !is_linked,
        "goes on behind the end: {written:?}"
    );
    seen
}
