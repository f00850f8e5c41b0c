//! What is known of a workspace's files: their passages, and which terms are
//! in them. It holds no text; the files have it.

use std::collections::BTreeMap;

use crate::analysis::{self, Language, Languages};
use crate::passage;
use crate::source::dated;
use crate::workspace::Stamp;

mod lexicon;

use lexicon::Lexicon;

/// Removed passages that are kept until there are this many, and as many as a
/// third of all: taking them out touches every posting.
const DEAD: usize = 1000;

/// Number of a passage, until the next [`Index::put`] or [`Index::remove`].
pub(crate) type PassageId = u32;

/// An indexed file.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// What it was when it was indexed.
    pub(crate) stamp: Stamp,
    /// When the day began that its name has, in Unix milliseconds.
    pub(crate) day_ms: Option<i64>,
    /// What it is written in.
    pub(crate) language: Language,
    passages: Vec<PassageId>,
}

/// Where a passage is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// [`REMOVED`] when the passage was.
    file: u32,
    /// In the text, in bytes.
    pub(crate) start: u32,
    /// Where it ends.
    pub(crate) end: u32,
    /// Its first line, counted from 1.
    pub(crate) line: u32,
}

/// No file has this number.
const REMOVED: u32 = u32::MAX;

/// The files of one workspace.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By number; None where a file was forgotten.
    files: Vec<Option<File>>,
    /// The numbers of those.
    free: Vec<u32>,
    /// The numbers of the others by path.
    numbers: BTreeMap<String, u32>,
    places: Vec<Place>,
    lexicon: Lexicon,
}

impl Index {
    /// The files there are, and how many passages.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.numbers.len(), self.lexicon.len())
    }

    /// The file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(*self.numbers.get(path)? as usize)?.as_ref()
    }

    /// The paths of all files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(String::as_str)
    }

    /// The languages the files are written in.
    pub(crate) fn languages(&self) -> Languages {
        let files = self.files.iter().flatten();
        files.fold(Languages::default(), |all, file| all.with(file.language))
    }

    /// The file and the place of a passage that [`Index::matches`] named.
    pub(crate) fn passage(&self, id: PassageId) -> Option<(&File, Place)> {
        let place = *self.places.get(id as usize)?;
        let file = self.files.get(place.file as usize)?.as_ref()?;
        Some((file, place))
    }

    /// How much `term` says: rare terms more (BM25's idf); 0 when it is in no
    /// passage.
    pub(crate) fn weight(&self, term: &str) -> f64 {
        self.lexicon.weight(term)
    }

    /// The passages that have any of `terms`, with their BM25 scores, in no
    /// order.
    pub(crate) fn matches<'a>(
        &self,
        terms: impl IntoIterator<Item = &'a str>,
    ) -> Vec<(PassageId, f64)> {
        self.lexicon.matches(terms)
    }

    /// Takes in the file at `path`, in place of what it was. A file without
    /// text is known, so that it is not read again, and has no passages.
    pub(crate) fn put(&mut self, path: &str, stamp: Stamp, text: &str) {
        self.remove(path);
        let number = self.free_number();
        let language = analysis::language_of(text);
        let mut passages = Vec::new();
        for passage in passage::cut(text) {
            let headings = passage.headings.iter().map(String::as_str);
            let parts = headings.chain([dated::topic(path), &text[passage.range.clone()]]);
            passages.push(self.lexicon.add(language, parts));
            self.places.push(Place {
                file: number,
                start: narrow(passage.range.start),
                end: narrow(passage.range.end),
                line: narrow(passage.line),
            });
        }
        self.numbers.insert(path.to_owned(), number);
        self.files[number as usize] = Some(File {
            path: path.to_owned(),
            stamp,
            day_ms: dated::date(path).and_then(dated::begin_ms),
            language,
            passages,
        });
    }

    /// Forgets the file at `path`.
    pub(crate) fn remove(&mut self, path: &str) {
        let Some(number) = self.numbers.remove(path) else {
            return;
        };
        let file = self.files[number as usize].take();
        self.free.push(number);
        for id in file.into_iter().flat_map(|file| file.passages) {
            self.places[id as usize].file = REMOVED;
            self.lexicon.remove(id);
        }
        let dead = self.places.len() - self.lexicon.len();
        if dead > DEAD.max(self.places.len() / 3) {
            self.compact();
        }
    }

    fn free_number(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.files.push(None);
            narrow(self.files.len() - 1)
        })
    }

    fn compact(&mut self) {
        let moved = self.lexicon.compact();
        self.places.retain(|place| place.file != REMOVED);
        for file in self.files.iter_mut().flatten() {
            for id in &mut file.passages {
                *id = moved[*id as usize];
            }
        }
    }
}

/// Files are limited to far less than what this cuts off.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(files: &[(&str, &str)]) -> Index {
        let mut index = Index::default();
        for (path, text) in files {
            index.put(path, Stamp::default(), text);
        }
        index
    }

    fn found(index: &Index, term: &str) -> Vec<String> {
        let mut matches = index.matches([term]);
        matches.sort_by(|a, b| b.1.total_cmp(&a.1));
        let path = |(id, _): &(PassageId, f64)| index.passage(*id).unwrap().0.path.clone();
        matches.iter().map(path).collect()
    }

    #[test]
    fn files_are_found_replaced_and_forgotten() {
        let mut index = index(&[("a.md", "red fox"), ("b.md", "red hen")]);
        assert_eq!(found(&index, "fox"), ["a.md"]);
        index.put("a.md", Stamp::default(), "blue fox fox");
        assert_eq!(found(&index, "red"), ["b.md"]);
        index.remove("b.md");
        assert!(found(&index, "red").is_empty());
        assert_eq!(index.size(), (1, 1));
        assert_eq!(index.weight("red"), 0.0);
    }

    #[test]
    fn headings_and_file_names_are_found() {
        let index = index(&[
            ("memory/garden.md", "tomatoes need water"),
            ("memory/2026-03-04.md", "# House\n\nsomething"),
        ]);
        assert_eq!(found(&index, "garden"), ["memory/garden.md"]);
        assert_eq!(found(&index, "2026-03-04"), ["memory/2026-03-04.md"]);
        assert_eq!(found(&index, "hous"), ["memory/2026-03-04.md"]);
        assert!(found(&index, "memori").is_empty());
    }

    #[test]
    fn compaction_changes_nothing_that_can_be_seen() {
        let mut index = index(&[("keep.md", "kept forever")]);
        for round in 0..3 * DEAD {
            index.put("churn.md", Stamp::default(), &format!("round{round}"));
        }
        assert!(index.places.len() < 2 * DEAD, "{}", index.places.len());
        assert_eq!(found(&index, "kept"), ["keep.md"]);
        let last = format!("round{}", 3 * DEAD - 1);
        assert_eq!(found(&index, &last), ["churn.md"]);
        assert!(found(&index, "round7").is_empty());
    }
}
