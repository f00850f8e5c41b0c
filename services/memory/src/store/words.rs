//! Notes that have words in them.

use openclaw_proto::memory::NoteLines;
use openclaw_sessions::forgetting::Words;

use super::Store;
use crate::error::Error;
use crate::source::Shape;
use crate::workspace::Workspace;

impl Store {
    /// The lines of notes that have the words, file by file; with `forget`, they
    /// are taken away.
    pub(crate) fn notes_with(&self, words: &Words, forget: bool) -> Result<Vec<NoteLines>, Error> {
        let mut found = Vec::new();
        for name in self.notes()? {
            let Some(workspace) = Workspace::open(&self.places.workspace)? else {
                break;
            };
            let Some((text, _)) = workspace.read(&name)? else {
                continue;
            };
            let lines = words.lines(&text).into_iter().map(|(from, to)| NoteLines {
                path: name.clone(),
                from,
                to,
                text: shown(&text, (from, to)),
            });
            found.extend(lines);
        }
        if forget {
            // From the end on, so that the numbers above stay right.
            for lines in found.iter().rev() {
                self.forget(&lines.path, (lines.from, lines.to))?;
            }
        }
        Ok(found)
    }

    /// The notes, as a search names them.
    fn notes(&self) -> Result<Vec<String>, Error> {
        let mut names = self.names()?;
        names.retain(|name| {
            let place = self.places.find(name);
            place.is_some_and(|(place, _)| self.places.all[place].shape == Shape::Workspace)
        });
        names.sort();
        Ok(names)
    }
}

fn shown(text: &str, (from, to): (u32, u32)) -> String {
    let (skip, count) = (from as usize - 1, (to - from) as usize + 1);
    let lines: Vec<&str> = text.lines().skip(skip).take(count).collect();
    lines.join("\n")
}
