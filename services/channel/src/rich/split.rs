//! Cutting what does not fit into one message.

use unicode_segmentation::GraphemeCursor;

use super::{Rich, Run, Style, units};

/// Text is cut at the end of a paragraph, of a line or of a word only where that
/// leaves at least one part in so many of the message full.
const LEAST_PART: usize = 3;

/// Styles that one message has; providers drop those beyond it (Telegram's 100 entities).
const STYLES: usize = 100;

impl Rich {
    /// The same in parts of at most `limit` UTF-16 units: cut between paragraphs,
    /// else lines, else words. Each has as many styles as are shown. A block of code that fits into one part is not
    /// cut, and one that is goes on as one. Blank parts are left out.
    pub fn split(&self, limit: usize) -> Vec<Self> {
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
            parts.push(part.trimmed());
            rest = after;
        }
        parts.push(rest.trimmed());
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
        let window = whole(&text, super::beginning(&text, limit).len());
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
    fn trimmed(mut self) -> Self {
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

/// The styles of `style` but that of a quotation, which goes on over many.
fn beside_quotes(style: &Style) -> usize {
    let all = [
        style.is_bold,
        style.is_italic,
        style.is_struck,
        style.is_code,
        style.block.is_some(),
        style.link.is_some(),
    ];
    all.into_iter().filter(|it| *it).count()
}

/// The end of the last character before `at` that people see as one; `at` itself
/// where one fills the whole part.
fn whole(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => match cursor.prev_boundary(text, 0) {
            Ok(Some(before)) if before > 0 => before,
            _ => at,
        },
        _ => at,
    }
}

/// The end of the last line that ends before `window`.
fn line_in(text: &str, window: usize) -> Option<usize> {
    if text[window..].starts_with('\n') {
        return Some(window);
    }
    text[..window].rfind('\n').filter(|at| *at > 0)
}
