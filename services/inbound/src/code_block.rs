//! What of a reply is code: it shows how something is written, and asks for
//! nothing. Fenced blocks and spans, as in CommonMark.

use std::ops::Range;

/// Characters of the shortest fence.
const FENCE: usize = 3;

/// Where code is in a text, in bytes and in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Code(Vec<Range<usize>>);

impl Code {
    /// The code in `text`. A block that nothing closes goes on to the end.
    pub(crate) fn of(text: &str) -> Self {
        let mut code = Self::default();
        let mut fence: Option<Fence> = None;
        // Spans end with the paragraph that they are in.
        let mut paragraph = 0..0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let here = at..at + line.len();
            at = here.end;
            if let Some(open) = &fence {
                if open.is_closed_by(line) {
                    fence = None;
                }
                code.0.push(here);
                continue;
            }
            fence = Fence::opened_by(line);
            if fence.is_none() && !line.trim().is_empty() {
                paragraph.end = here.end;
                continue;
            }
            code.add_spans(text, paragraph);
            paragraph = here.end..here.end;
            if fence.is_some() {
                code.0.push(here);
            }
        }
        code.add_spans(text, paragraph);
        code
    }

    /// Whether what begins at `at` is code.
    pub(crate) fn has(&self, at: usize) -> bool {
        let after = self.0.partition_point(|range| range.start <= at);
        let before = after.checked_sub(1).and_then(|index| self.0.get(index));
        before.is_some_and(|range| range.contains(&at))
    }

    /// Adds what stands between equal runs of backticks in a paragraph.
    fn add_spans(&mut self, text: &str, paragraph: Range<usize>) {
        let runs = runs(text, &paragraph);
        // Runs of these lengths have none behind them that would end them.
        let mut open_for_good: Vec<usize> = Vec::new();
        let mut index = 0;
        while let Some(begin) = runs.get(index) {
            let length = begin.len();
            index += 1;
            let is_escaped = text[..begin.start].ends_with('\\');
            if is_escaped || open_for_good.contains(&length) {
                continue;
            }
            match runs[index..].iter().position(|run| run.len() == length) {
                Some(further) => {
                    let end = &runs[index + further];
                    self.0.push(begin.start..end.end);
                    index += further + 1;
                }
                None => open_for_good.push(length),
            }
        }
    }
}

/// The runs of backticks in `paragraph`.
fn runs(text: &str, paragraph: &Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (offset, _) in text[paragraph.clone()].match_indices('`') {
        let at = paragraph.start + offset;
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}

/// What a block of code began with.
struct Fence {
    character: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim();
        let character = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let rest = line.trim_start_matches(character);
        let length = line.len() - rest.len();
        // What stands behind backticks and has others is a span.
        let is_block = length >= FENCE && !(character == '`' && rest.contains('`'));
        is_block.then_some(Self { character, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|it| it == self.character)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_code(text: &str) -> bool {
        Code::of(text).has(text.find('x').unwrap())
    }

    #[test]
    fn code_is_in_fences_and_between_backticks() {
        for text in [
            "```\nx\n```",
            "a\n\n~~~ md\n```\nx\n~~~\n",
            "````\n```\nx\n````",
            "```sh\nx",
            "- a\n  ```\n  x\n  ```",
            "a `x` b",
            "``a ` x`` b",
            "`a\nx`",
            "`` `x`",
        ] {
            assert!(is_code(text), "{text}");
        }
        for text in [
            "x",
            "```\na\n```\nx",
            "``` a ``` x",
            "`a` x `b`",
            "a ` x",
            "`a\n\nx`",
            "\\`x`",
            "``x`",
            "~~~\n~~~\nx",
        ] {
            assert!(!is_code(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn code_is_found_in_anything(text in "[`~x \\\\\nä]{0,60}", at in 0_usize..80) {
            Code::of(&text).has(at);
        }
    }
}
