//! Cutting what does not fit into one message.

#[cfg(test)]
mod tests;

use unicode_segmentation::GraphemeCursor;

use super::{Rich, Run, Style, beginning};

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
        self.parts(limit).collect()
    }

    /// The first of the parts that [`Rich::split`] gives; what comes after it is not cut.
    pub fn first_part(&self, limit: usize) -> Option<Self> {
        self.parts(limit).next()
    }

    fn parts(&self, limit: usize) -> impl Iterator<Item = Self> {
        let parts = Parts::new(self, limit.max(2));
        parts.filter(|part| !part.is_blank())
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
        let is_blank = |run: &&Run| run.text.trim().is_empty();
        let blank = self.runs.iter().take_while(is_blank).count();
        self.runs.drain(..blank);
        if let Some(first) = self.runs.first_mut()
            && first.style.block.is_none()
        {
            first.text = first.text.trim_start().to_owned();
        }
        self
    }
}

/// The parts of a text, one after the other. Each looks at no more than it takes, so
/// that all of them take as long as the text is.
struct Parts<'a> {
    runs: &'a [Run],
    text: String,
    /// The byte at which each of `runs` begins.
    begins: Vec<usize>,
    /// Those of blocks of code.
    blocks: Vec<usize>,
    limit: usize,
    /// The byte at which the next part begins; None: there is none.
    next: Option<usize>,
}

impl Iterator for Parts<'_> {
    type Item = Rich;

    fn next(&mut self) -> Option<Rich> {
        let from = self.next?;
        let end = match self.fitting(from) {
            None => {
                self.next = None;
                self.text.len()
            }
            Some(fitting) => {
                let end = from + self.cut(from, fitting);
                self.next = Some(end + self.gap(end));
                end
            }
        };
        Some(self.slice(from, end).trimmed())
    }
}

impl<'a> Parts<'a> {
    fn new(rich: &'a Rich, limit: usize) -> Self {
        let mut parts = Self {
            runs: &rich.runs,
            text: String::new(),
            begins: Vec::new(),
            blocks: Vec::new(),
            limit,
            next: Some(0),
        };
        for run in &rich.runs {
            parts.begins.push(parts.text.len());
            if run.style.block.is_some() {
                parts.blocks.push(parts.text.len());
            }
            parts.text.push_str(&run.text);
        }
        parts
    }

    /// How many units from the byte `from` on may be in one part, by their number and by
    /// the styles they have; None: all of them.
    fn fitting(&self, from: usize) -> Option<usize> {
        let mut styles = 0;
        let mut was_quoted = false;
        let mut before = 0;
        for (begin, run) in self.places(from) {
            let style = &run.style;
            styles += usize::from(style.is_quoted && !was_quoted) + beside_quotes(style);
            was_quoted = style.is_quoted;
            if styles > STYLES {
                return Some(before);
            }
            let text = &run.text[from.saturating_sub(begin)..];
            before += units_up_to(text, self.limit - before + 1);
            if before > self.limit {
                return Some(self.limit);
            }
        }
        None
    }

    /// How many bytes from the byte `from` on are the next part, of which `fitting` units
    /// may be in it.
    fn cut(&self, from: usize, fitting: usize) -> usize {
        let rest = &self.text[from..];
        let window = whole(rest, beginning(rest, fitting).len());
        if let Some((begin, block)) = self.block_around(from, window) {
            let is_whole = units_up_to(block, fitting + 1) <= fitting;
            if is_whole && !rest[..begin].trim().is_empty() {
                return begin;
            }
            return line_in(rest, window).unwrap_or(window);
        }
        let least = window / LEAST_PART;
        let found = |pattern: &str| {
            let at = rest[..window].rfind(pattern)?;
            (at > least).then_some(at)
        };
        // A break right after the window counts too: the part is full then.
        if rest[window..].starts_with(['\n', ' ']) {
            return found("\n\n").unwrap_or(window);
        }
        found("\n\n")
            .or_else(|| found("\n"))
            .or_else(|| found(" "))
            .unwrap_or(window)
    }

    /// How many bytes of white space at the byte `at` are in no part. What moves on must
    /// not lose the first line's indentation.
    fn gap(&self, at: usize) -> usize {
        let run = self.runs.get(self.run_at(at));
        let is_in_block = run.is_some_and(|run| run.style.block.is_some());
        if is_in_block {
            return usize::from(self.text[at..].starts_with('\n'));
        }
        let block = self.blocks.partition_point(|begin| *begin < at);
        let end = self.blocks.get(block).copied();
        let before_block = &self.text[at..end.unwrap_or(self.text.len())];
        before_block.len() - before_block.trim_start().len()
    }

    /// The block of code that goes on over the byte at `window` after `from`: where it
    /// begins after `from`, and what it says from there on.
    fn block_around(&self, from: usize, window: usize) -> Option<(usize, &str)> {
        let index = self.run_at(from + window);
        let run = self.runs.get(index)?;
        let begin = self.begins[index];
        let text = &run.text[from.saturating_sub(begin)..];
        let begin = begin.saturating_sub(from);
        (run.style.block.is_some() && begin < window).then_some((begin, text))
    }

    /// The number of the run in which the byte `at` is.
    fn run_at(&self, at: usize) -> usize {
        if at >= self.text.len() {
            return self.runs.len();
        }
        self.begins.partition_point(|begin| *begin <= at) - 1
    }

    /// The runs from that on in which the byte `from` is, and where each begins.
    fn places(&self, from: usize) -> impl Iterator<Item = (usize, &'a Run)> {
        let first = self.run_at(from);
        let begins = self.begins[first..].iter().copied();
        begins.zip(&self.runs[first..])
    }

    /// The bytes from `from` to `end`.
    fn slice(&self, from: usize, end: usize) -> Rich {
        let mut part = Rich::default();
        for (begin, run) in self.places(from).take_while(|(begin, _)| *begin < end) {
            let text = &run.text[..run.text.len().min(end - begin)];
            part.push(&text[from.saturating_sub(begin)..], &run.style);
        }
        part
    }
}

/// The length of `text` in UTF-16 units, or one from `most` on where it has as many.
fn units_up_to(text: &str, most: usize) -> usize {
    let mut units = 0;
    for character in text.chars() {
        if units >= most {
            break;
        }
        units += character.len_utf16();
    }
    units
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
