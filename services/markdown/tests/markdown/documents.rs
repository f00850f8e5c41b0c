//! Documents of which it is known what is to be seen.

use proptest::prelude::*;

/// A block of a document.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Heading(usize, String),
    Paragraph(Vec<String>),
    Bullets(Vec<String>),
    Numbers(u64, Vec<String>),
    Quote(Vec<String>),
    Code(Vec<String>),
    Table(Vec<[String; 2]>),
    Rule,
}

/// Blocks, one after another.
#[derive(Debug)]
pub(crate) struct Document(pub(crate) Vec<Block>);

fn said() -> impl Strategy<Value = String> {
    "[a-z]{1,9}( [a-z]{1,9}){0,4}"
}

pub(crate) fn document() -> impl Strategy<Value = Block> {
    let lines = || prop::collection::vec(said(), 1..4);
    prop_oneof![
        (1usize..=6, said()).prop_map(|(level, text)| Block::Heading(level, text)),
        lines().prop_map(Block::Paragraph),
        lines().prop_map(Block::Bullets),
        (0u64..100, lines()).prop_map(|(first, items)| Block::Numbers(first, items)),
        lines().prop_map(Block::Quote),
        prop::collection::vec("[ -~]{0,20}", 0..4).prop_map(|lines| {
            let lines = lines
                .iter()
                .map(|line| line.replace('`', "'").trim_end().to_owned());
            Block::Code(lines.collect())
        }),
        prop::collection::vec([said(), said()], 1..4).prop_map(Block::Table),
        Just(Block::Rule),
    ]
}

fn before(mark: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("{mark}{line}")).collect();
    lines.join("\n")
}

fn numbered(first: u64, items: &[String]) -> String {
    let items = (first..).zip(items);
    let items: Vec<String> = items
        .map(|(number, item)| format!("{number}. {item}"))
        .collect();
    items.join("\n")
}

impl Block {
    fn written(&self) -> String {
        match self {
            Self::Heading(level, text) => format!("{} {text}", "#".repeat(*level)),
            Self::Paragraph(lines) => lines.join("\n"),
            Self::Bullets(items) => before("- ", items),
            Self::Numbers(first, items) => numbered(*first, items),
            Self::Quote(lines) => before("> ", lines),
            Self::Code(lines) => format!("```\n{}\n```", lines.join("\n")),
            Self::Table(rows) => {
                let rows = rows
                    .iter()
                    .map(|[left, right]| format!("| {left} | {right} |"));
                let mut rows: Vec<String> = rows.collect();
                rows.insert(1, "|---|---|".to_owned());
                rows.join("\n")
            }
            Self::Rule => "***".to_owned(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Heading(1 | 2, text) => text.clone(),
            Self::Bullets(items) => before("• ", items),
            Self::Quote(lines) => before("│ ", lines),
            // One line is there in any case.
            Self::Code(lines) if lines.is_empty() => "  ".to_owned(),
            Self::Code(lines) => before("  ", lines),
            Self::Table(rows) => table(rows),
            Self::Rule => "─".repeat(40),
            other => other.written(),
        }
    }
}

fn table(rows: &[[String; 2]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (left, right) = (width(0), width(1));
    let line = |row: &[String; 2]| format!("{:<left$} │ {}", row[0], row[1]);
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.insert(1, format!("{}─┼─{}", "─".repeat(left), "─".repeat(right)));
    lines.join("\n")
}

impl Document {
    /// Two lists beside one another would be one: a rule keeps them apart.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for block in &self.0 {
            let is_list = |it: &Block| matches!(it, Block::Bullets(_) | Block::Numbers(..));
            if blocks.last().is_some_and(is_list) {
                blocks.push(Block::Rule);
            }
            blocks.push(block.clone());
        }
        blocks
    }

    pub(crate) fn written(&self) -> String {
        let blocks: Vec<String> = self.blocks().iter().map(Block::written).collect();
        blocks.join("\n\n") + "\n"
    }

    pub(crate) fn shown(&self) -> String {
        let blocks: Vec<String> = self.blocks().iter().map(Block::shown).collect();
        blocks.join("\n\n").trim_end().to_owned()
    }
}
