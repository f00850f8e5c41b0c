//! Documents of which it is known what is to be seen.

use openclaw_markdown::width;
use proptest::prelude::*;

/// A block of a document.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Heading(usize, String),
    Paragraph(Vec<String>),
    Bullets(Vec<Item>),
    Numbers(u64, Vec<Item>),
    Quote(Vec<Self>),
    Code(Fence, Vec<String>),
    Table(Vec<Alignment>, Vec<Vec<String>>),
    Rule,
}

/// An item of a list, and the list that stands below it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    text: String,
    below: Option<Box<Block>>,
}

/// What is around a block of code.
#[derive(Debug, Clone)]
pub(crate) struct Fence {
    mark: char,
    length: usize,
    /// What is said behind it, which names no language.
    info: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Alignment {
    None,
    Left,
    Center,
    Right,
}

/// Blocks, one after another.
#[derive(Debug)]
pub(crate) struct Document(pub(crate) Vec<Block>);

/// Words, some of which are wider than they have characters.
fn said() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-z]{1,9}",
        1 => "[äöüßéñ]{1,5}",
        1 => "[日本語한국]{1,4}",
        1 => Just("🎉".to_owned()),
    ];
    prop::collection::vec(word, 1..5).prop_map(|words| words.join(" "))
}

fn fence() -> impl Strategy<Value = Fence> {
    let marks = prop::sample::select(&['`', '~'][..]);
    let infos = prop::sample::select(&["", "", "nobodys"][..]);
    (marks, 3usize..6, infos).prop_map(|(mark, length, info)| Fence { mark, length, info })
}

fn code() -> impl Strategy<Value = Block> {
    let line = prop_oneof![4 => "[ -~]{0,20}", 1 => "[ -~]{0,6}[日🎉ä]{1,3}[ -~]{0,6}"];
    (fence(), prop::collection::vec(line, 0..4)).prop_map(|(fence, lines)| {
        let lines = lines
            .iter()
            .map(|line| line.replace(fence.mark, "'").trim_end().to_owned())
            .collect();
        Block::Code(fence, lines)
    })
}

fn table() -> impl Strategy<Value = Block> {
    let alignment = prop::sample::select(
        &[
            Alignment::None,
            Alignment::Left,
            Alignment::Center,
            Alignment::Right,
        ][..],
    );
    prop::collection::vec(alignment, 1..4).prop_flat_map(|alignments| {
        let row = prop::collection::vec(said(), alignments.len());
        let rows = prop::collection::vec(row, 1..4);
        rows.prop_map(move |rows| Block::Table(alignments.clone(), rows))
    })
}

/// A list, in whose items are lists again.
fn list() -> impl Strategy<Value = Block> {
    let leaf = said().prop_map(|text| Item { text, below: None });
    let item = leaf.prop_recursive(3, 12, 3, |item| {
        let items = prop::collection::vec(item, 1..3);
        let below = prop_oneof![
            items.clone().prop_map(Block::Bullets),
            // Only a list that begins with 1 may stand right below a text.
            items.prop_map(|items| Block::Numbers(1, items)),
        ];
        (said(), prop::option::of(below.prop_map(Box::new)))
            .prop_map(|(text, below)| Item { text, below })
    });
    let items = prop::collection::vec(item, 1..4);
    prop_oneof![
        items.clone().prop_map(Block::Bullets),
        (0u64..100, items).prop_map(|(first, items)| Block::Numbers(first, items)),
    ]
}

pub(crate) fn document() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![
        1 => (1usize..=6, said()).prop_map(|(level, text)| Block::Heading(level, text)),
        1 => prop::collection::vec(said(), 1..4).prop_map(Block::Paragraph),
        2 => list(),
        1 => code(),
        1 => table(),
        1 => Just(Block::Rule),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop::collection::vec(inner, 1..4).prop_map(Block::Quote)
    })
}

/// The lines of `text`, each behind `mark`, empty ones behind `empty`.
fn before(mark: &str, empty: &str, text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            if line.is_empty() {
                empty.to_owned()
            } else {
                format!("{mark}{line}")
            }
        })
        .collect();
    lines.join("\n")
}

/// The items, each with what `below` makes of the list in it, under the text.
fn items(
    markers: impl Iterator<Item = String>,
    items: &[Item],
    below: fn(&Block) -> String,
) -> String {
    let items: Vec<String> = markers
        .zip(items)
        .map(|(marker, item)| {
            let under = item.below.as_ref().map(|list| {
                let indent = " ".repeat(marker.chars().count());
                "\n".to_owned() + &before(&indent, "", &below(list))
            });
            format!("{marker}{}{}", item.text, under.unwrap_or_default())
        })
        .collect();
    items.join("\n")
}

fn numbers(first: u64) -> impl Iterator<Item = String> {
    (first..).map(|number| format!("{number}. "))
}

impl Block {
    fn written(&self) -> String {
        match self {
            Self::Heading(level, text) => format!("{} {text}", "#".repeat(*level)),
            Self::Paragraph(lines) => lines.join("\n"),
            Self::Bullets(all) => items(std::iter::repeat("- ".to_owned()), all, Self::written),
            Self::Numbers(first, all) => items(numbers(*first), all, Self::written),
            Self::Quote(blocks) => before("> ", ">", &written(blocks)),
            Self::Code(fence, lines) => {
                let mark = fence.mark.to_string().repeat(fence.length);
                format!("{mark}{}\n{}\n{mark}", fence.info, lines.join("\n"))
            }
            Self::Table(alignments, rows) => {
                let marks = alignments.iter().map(|alignment| match alignment {
                    Alignment::None => "---",
                    Alignment::Left => ":--",
                    Alignment::Center => ":-:",
                    Alignment::Right => "--:",
                });
                let marks: Vec<&str> = marks.collect();
                let rows = rows.iter().map(|row| format!("| {} |", row.join(" | ")));
                let mut rows: Vec<String> = rows.collect();
                rows.insert(1, format!("|{}|", marks.join("|")));
                rows.join("\n")
            }
            Self::Rule => "***".to_owned(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Heading(1 | 2, text) => text.clone(),
            Self::Bullets(all) => items(std::iter::repeat("• ".to_owned()), all, Self::shown),
            Self::Numbers(first, all) => items(numbers(*first), all, Self::shown),
            Self::Quote(blocks) => before("│ ", "│", &shown(blocks)),
            Self::Code(fence, lines) => {
                let label = (!fence.info.is_empty()).then(|| fence.info.to_owned());
                // One line is there in any case.
                let empty = lines.is_empty().then(String::new);
                let lines: Vec<String> = label
                    .into_iter()
                    .chain(lines.iter().cloned())
                    .chain(empty)
                    .collect();
                before("  ", "  ", &lines.join("\n"))
            }
            Self::Table(alignments, rows) => laid_out(alignments, rows),
            Self::Rule => "─".repeat(40),
            other => other.written(),
        }
    }
}

fn laid_out(alignments: &[Alignment], rows: &[Vec<String>]) -> String {
    let columns = 0..alignments.len();
    let widest = |column: usize| {
        rows.iter()
            .map(|row| width(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = columns.clone().map(widest).collect();
    let cell = |row: &[String], column: usize| {
        let rest = widths[column] - width(&row[column]);
        let before = match alignments[column] {
            Alignment::Right => rest,
            Alignment::Center => rest / 2,
            Alignment::None | Alignment::Left => 0,
        };
        // Nothing stands behind the last column.
        let behind = if column + 1 == widths.len() {
            0
        } else {
            rest - before
        };
        format!(
            "{}{}{}",
            " ".repeat(before),
            row[column],
            " ".repeat(behind)
        )
    };
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = columns.clone().map(|column| cell(row, column)).collect();
        cells.join(" │ ")
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    lines.insert(1, rules.join("─┼─"));
    lines.join("\n")
}

/// Two lists beside one another would be one: a rule keeps them apart.
fn apart(blocks: &[Block]) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    for block in blocks {
        let is_list = |it: &Block| matches!(it, Block::Bullets(_) | Block::Numbers(..));
        if all.last().is_some_and(is_list) {
            all.push(Block::Rule);
        }
        all.push(block.clone());
    }
    all
}

fn written(blocks: &[Block]) -> String {
    let blocks: Vec<String> = apart(blocks).iter().map(Block::written).collect();
    blocks.join("\n\n")
}

fn shown(blocks: &[Block]) -> String {
    let blocks: Vec<String> = apart(blocks).iter().map(Block::shown).collect();
    blocks.join("\n\n")
}

impl Document {
    pub(crate) fn written(&self) -> String {
        written(&self.0) + "\n"
    }

    pub(crate) fn shown(&self) -> String {
        shown(&self.0).trim_end().to_owned()
    }
}
