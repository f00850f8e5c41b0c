//! The parts against those of a way that is easier to follow and takes as long as the
//! parts times the text: each part leaves a text of its own behind.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::units;
use super::*;

impl Rich {
    /// The same in parts of at most `limit` UTF-16 units: cut between paragraphs,
    /// else lines, else words. Each has as many styles as are shown. A block of code that fits into one part is not
    /// cut, and one that is goes on as one. Blank parts are left out.
    fn split_by_copies(&self, limit: usize) -> Vec<Self> {
        let limit = limit.max(2);
        let mut parts = Vec::new();
        let mut rest = self.clone();
        loop {
            let styled = rest.styled();
            if rest.units() <= limit && styled.is_none() {
                break;
            }
            let fits = styled.map_or(limit, |it| it.min(limit));
            let (part, after) = rest.cut(fits);
            parts.push(part.trimmed_run_by_run());
            rest = after;
        }
        parts.push(rest.trimmed_run_by_run());
        parts.retain(|part| !part.is_blank());
        parts
    }

    /// The units of its beginning that has no more styles than are shown; None: it has none
    /// beyond that.
    fn styled(&self) -> Option<usize> {
        let mut styles = 0;
        let mut was_quoted = false;
        let mut before = 0;
        for run in &self.runs {
            let style = &run.style;
            styles += usize::from(style.is_quoted && !was_quoted) + beside_quotes(style);
            was_quoted = style.is_quoted;
            if styles > STYLES {
                return Some(before);
            }
            before += units(&run.text);
        }
        None
    }

    /// Its beginning, at most `limit` units, and what is left.
    fn cut(&self, limit: usize) -> (Self, Self) {
        let text = self.text();
        let window = whole(&text, beginning(&text, limit).len());
        let at = self.place(&text, window, limit);
        let is_in_block = self.style_at(at).is_some_and(|it| it.block.is_some());
        let gap = if is_in_block {
            usize::from(text[at..].starts_with('\n'))
        } else {
            text[at..].len() - text[at..].trim_start().len()
        };
        // What moves on must not lose the first line's indentation.
        let gap = if is_in_block {
            gap
        } else {
            self.up_to_block(at, gap)
        };
        (self.slice(0, at), self.slice(at + gap, text.len()))
    }

    /// Where to cut: a byte of the text, after its first and up to `window`.
    fn place(&self, text: &str, window: usize, limit: usize) -> usize {
        if let Some((begin, end)) = self.block_around(window) {
            let is_whole = units(&text[begin..end]) <= limit;
            if is_whole && !text[..begin].trim().is_empty() {
                return begin;
            }
            return line_in(text, window).unwrap_or(window);
        }
        let least = window / LEAST_PART;
        let found = |pattern: &str| {
            let at = text[..window].rfind(pattern)?;
            (at > least).then_some(at)
        };
        // A break right after the window counts too: the part is full then.
        if text[window..].starts_with(['\n', ' ']) {
            return found("\n\n").unwrap_or(window);
        }
        found("\n\n")
            .or_else(|| found("\n"))
            .or_else(|| found(" "))
            .unwrap_or(window)
    }

    /// The block of code that goes on over the byte `at`.
    fn block_around(&self, at: usize) -> Option<(usize, usize)> {
        self.places()
            .find(|(begin, run)| {
                let end = begin + run.text.len();
                run.style.block.is_some() && *begin < at && at < end
            })
            .map(|(begin, run)| (begin, begin + run.text.len()))
    }

    /// Of `gap` bytes of white space from `at` on, those before a block of code.
    fn up_to_block(&self, at: usize, gap: usize) -> usize {
        let block = self
            .places()
            .find(|(begin, run)| run.style.block.is_some() && *begin >= at);
        block.map_or(gap, |(begin, _)| gap.min(begin - at))
    }

    fn places(&self) -> impl Iterator<Item = (usize, &Run)> {
        self.runs.iter().scan(0, |next, run| {
            let begin = *next;
            *next += run.text.len();
            Some((begin, run))
        })
    }

    fn style_at(&self, at: usize) -> Option<&Style> {
        self.places()
            .find(|(begin, run)| (*begin..begin + run.text.len()).contains(&at))
            .map(|(_, run)| &run.style)
    }

    /// The bytes from `begin` to `end`.
    fn slice(&self, begin: usize, end: usize) -> Self {
        let mut part = Self::default();
        for (start, run) in self.places() {
            let from = begin.clamp(start, start + run.text.len()) - start;
            let to = end.clamp(start, start + run.text.len()) - start;
            part.push(run.text.get(from..to).unwrap_or_default(), &run.style);
        }
        part
    }

    /// Without white space around it, but for that of code.
    fn trimmed_run_by_run(mut self) -> Self {
        while let Some(last) = self.runs.last_mut() {
            let kept = last.text.trim_end().len();
            last.text.truncate(kept);
            if !last.text.is_empty() {
                break;
            }
            self.runs.pop();
        }
        while let Some(first) = self.runs.first_mut() {
            if first.style.block.is_none() {
                first.text = first.text.trim_start().to_owned();
            }
            if !first.text.trim().is_empty() {
                break;
            }
            self.runs.remove(0);
        }
        self
    }
}

/// Pieces of text of all kinds, each with a style.
fn rich() -> impl Strategy<Value = Rich> {
    let text = prop_oneof![
        "[a-z ]{1,30}",
        "[ \n\t]{1,12}",
        "[äß😀\u{200d}\u{301}€🇩]{1,10}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("    x\n".to_owned()),
    ];
    let style = prop_oneof![
        4 => Just(Style::default()),
        2 => Just(Style { block: Some(Arc::from("")), ..Style::default() }),
        1 => Just(Style { is_quoted: true, ..Style::default() }),
        1 => Just(Style { is_bold: true, is_italic: true, ..Style::default() }),
    ];
    let pieces = prop::collection::vec((text, style), 0..300);
    pieces.prop_map(|pieces| {
        let mut rich = Rich::default();
        for (text, style) in &pieces {
            rich.push(text, style);
        }
        rich
    })
}

proptest! {
    #[test]
    fn split_gives_the_parts_that_copying_gives(
        rich in rich(),
        limit in prop_oneof![2_usize..12, 12_usize..300, 2000_usize..5000],
    ) {
        let parts = rich.split(limit);
        prop_assert_eq!(rich.first_part(limit), parts.first().cloned());
        prop_assert_eq!(parts, rich.split_by_copies(limit));
    }
}

/// Copying would move gigabytes for each of these texts, and take minutes.
#[test]
fn split_takes_as_long_as_the_text_is() {
    const BYTES: usize = 4 << 20;
    const LIMIT: usize = 4000;
    let of = |text: &str| text.repeat(BYTES / text.len());
    let block = Style {
        block: Some(Arc::from("")),
        ..Style::default()
    };
    let mut blocks = Rich::default();
    while blocks.runs.len() < 1 << 18 {
        blocks.push(" \n ", &Style::default());
        blocks.push("  \n", &block);
    }
    let mut long = Rich::plain("code");
    long.push(&of("let a = 1;\n"), &block);
    for rich in [
        Rich::plain(&of("word ")),
        Rich::plain(&of("x")),
        Rich::plain(&of(" ")),
        Rich::plain(&of("🇩🇪")),
        Rich::plain(&of("e\u{301}")),
        long,
        blocks,
    ] {
        let dense = |text: &str| text.split_whitespace().map(str::len).sum::<usize>();
        let parts = rich.split(LIMIT);
        let said: usize = parts.iter().map(|part| dense(&part.text())).sum();
        assert_eq!(said, dense(&rich.text()));
    }
}
