//! Cutting a Markdown text into passages that can be found and shown alone.
//!
//! A passage is a run of whole blocks of about [`TARGET`] tokens. Code blocks
//! and list items stay whole where they fit twice that; a heading begins a
//! passage unless the one before is still small; passages of one section
//! overlap by up to [`OVERLAP`] tokens of whole blocks; and every passage knows
//! the headings it stands under.

use std::ops::Range;

mod block;

use block::{Block, Kind};

/// The size of a passage, in tokens (as OpenClaw's).
const TARGET: usize = 400;
/// What a passage repeats of the one before, in tokens (as OpenClaw's).
const OVERLAP: usize = 80;
/// A section smaller than this shares its passage with the next one: a heading
/// and one line are found better among their neighbours; in tokens.
const SECTION: usize = 100;

/// A run of whole blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Where it is in the text, in bytes.
    pub(crate) range: Range<usize>,
    /// Its first line, counted from 1.
    pub(crate) line: usize,
    /// The headings it stands under and does not contain, outermost first.
    pub(crate) headings: Vec<String>,
}

/// Cuts `text`. Passages come in order and miss nothing but blank lines.
pub(crate) fn cut(text: &str) -> Vec<Passage> {
    let mut cutter = Cutter::default();
    for block in block::parse(text) {
        let limit = match block.kind {
            Kind::Heading(_) | Kind::Code | Kind::Item => 2 * TARGET,
            Kind::Paragraph => TARGET,
        };
        if block.tokens <= limit {
            cutter.add(text, block);
        } else {
            for piece in block::pieces(text, &block, OVERLAP) {
                cutter.add(text, piece);
            }
        }
    }
    cutter.close();
    cutter.passages
}

#[derive(Default)]
struct Cutter {
    passages: Vec<Passage>,
    /// The headings above the next block, with their levels.
    above: Vec<(u8, String)>,
    /// The blocks of the passage that is being filled.
    open: Vec<Block>,
    /// The headings above its first block.
    headings: Vec<String>,
}

impl Cutter {
    fn add(&mut self, text: &str, block: Block) {
        let size: usize = self.open.iter().map(|block| block.tokens).sum();
        if matches!(block.kind, Kind::Heading(_)) {
            if size >= SECTION {
                self.close();
            }
        } else if size > 0 && size + block.tokens > TARGET {
            self.close_with_overlap(block.tokens);
        }
        if self.open.is_empty() {
            let above = self.above.iter().filter(|(level, _)| match block.kind {
                Kind::Heading(own) => *level < own,
                _ => true,
            });
            self.headings = above.map(|(_, title)| title.clone()).collect();
        }
        if let Kind::Heading(level) = block.kind {
            self.above.retain(|(other, _)| *other < level);
            let title = text[block.range.clone()].trim_matches(['#', ' ', '\t']);
            self.above.push((level, title.to_owned()));
        }
        self.open.push(block);
    }

    fn close(&mut self) {
        if let (Some(first), Some(last)) = (self.open.first(), self.open.last()) {
            self.passages.push(Passage {
                range: first.range.start..last.range.end,
                line: first.line,
                headings: std::mem::take(&mut self.headings),
            });
        }
        self.open.clear();
    }

    /// Closes the passage and begins the next with the end of it, as far as
    /// that is of the same section and leaves room for `next` tokens.
    fn close_with_overlap(&mut self, next: usize) {
        let room = OVERLAP.min(TARGET.saturating_sub(next));
        let mut repeated = 0;
        // Never all of it: the next passage would begin where this one did.
        let tail = self.open.iter().skip(1).rev().take_while(|block| {
            repeated += block.tokens;
            repeated <= room && !matches!(block.kind, Kind::Heading(_))
        });
        let overlap = self.open[self.open.len() - tail.count()..].to_vec();
        self.close();
        self.open = overlap;
        self.headings = self.above.iter().map(|(_, title)| title.clone()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        cut(text).into_iter().map(|p| &text[p.range]).collect()
    }

    fn paragraph(words: usize) -> String {
        "word ".repeat(words).trim_end().to_owned()
    }

    #[test]
    fn a_small_file_is_one_passage_with_its_headings() {
        let text = "# Notes\n\nHello.\n\n## Keys\n- door\n- car\n";
        assert_eq!(texts(text), [text.trim_end()]);
        assert_eq!(cut(text)[0].line, 1);
        assert!(cut("\n \n").is_empty());
    }

    #[test]
    fn sections_begin_passages_and_keep_their_headings() {
        let body = paragraph(200);
        let text = format!("# Book\n\n## One\n\n{body}\n\n## Two\n\n{body}\n\n{body}\n");
        let passages = cut(&text);
        assert_eq!(passages.len(), 3);
        assert!(text[passages[1].range.clone()].starts_with("## Two"));
        assert_eq!(passages[1].headings, ["Book"]);
        assert_eq!(passages[1].line, 7);
        assert_eq!(passages[2].headings, ["Book", "Two"]);
    }

    #[test]
    fn code_blocks_are_not_torn() {
        let code = format!("```sh\n{}\n\n# no heading\n```", "make all\n".repeat(120));
        let text = format!("{}\n\n{code}\n\n{}\n", paragraph(250), paragraph(250));
        let passages = texts(&text);
        assert_eq!(passages.iter().filter(|p| p.contains(&code)).count(), 1);
    }

    #[test]
    fn list_items_are_not_torn_and_overlap() {
        let items: Vec<String> = (0..60)
            .map(|number| format!("- item {number}\n  {}", paragraph(20)))
            .collect();
        let text = items.join("\n");
        let passages = texts(&text);
        assert!(passages.len() > 3);
        for passage in &passages {
            assert!(passage.starts_with("- item "), "{passage}");
        }
        for item in &items {
            assert!(passages.iter().any(|passage| passage.contains(item)));
        }
        let twice = |item: &&String| passages.iter().filter(|p| p.contains(*item)).count() == 2;
        assert!(items.iter().any(|item| twice(&item)), "nothing overlaps");
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_and_no_passage_is_too_large(
            lines in proptest::collection::vec("(#{1,3} |- |  |```|)[a-zé漢 ]{0,300}", 0..80)
        ) {
            let text = lines.join("\n");
            let passages = cut(&text);
            let mut end = 0;
            for passage in &passages {
                if passage.range.start > end {
                    proptest::prop_assert!(text[end..passage.range.start].trim().is_empty());
                }
                let before = &text[..passage.range.start];
                proptest::prop_assert_eq!(passage.line, before.matches('\n').count() + 1);
                let tokens = block::tokens(&text[passage.range.clone()]);
                proptest::prop_assert!(tokens <= 3 * TARGET, "{tokens}");
                end = end.max(passage.range.end);
            }
            proptest::prop_assert!(text[end..].trim().is_empty());
        }
    }
}
