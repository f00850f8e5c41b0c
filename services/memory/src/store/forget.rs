//! Taking notes away.

use openclaw_proto::memory::Forgotten;

use super::{Store, lock};
use crate::error::Error;
use crate::source::Shape;
use crate::workspace::Workspace;

impl Store {
    /// Takes the lines `from` to `to`, counted from 1, away from the note
    /// `name`; with 0 and 0 the whole file.
    pub(crate) fn forget(&self, name: &str, (from, to): (u32, u32)) -> Result<Forgotten, Error> {
        let _one = lock(&self.notes);
        let place = self
            .places
            .find(name)
            .map(|(place, _)| &self.places.all[place].shape);
        match place {
            Some(Shape::Workspace) => {}
            Some(Shape::Transcripts) => {
                return Err(Error::NotOurs {
                    path: name.to_owned(),
                    whose: "a conversation; openclawctl sessions delete takes those away",
                });
            }
            Some(Shape::Tree | Shape::File(_)) => {
                return Err(Error::NotOurs {
                    path: name.to_owned(),
                    whose: "in a folder that is only read; remove it there",
                });
            }
            None => {
                return Err(Error::NoMemory {
                    path: name.to_owned(),
                });
            }
        }
        let missing = || Error::NoSuchNote {
            path: name.to_owned(),
        };
        let workspace = Workspace::open(&self.places.workspace)?.ok_or_else(missing)?;
        let (text, _) = workspace.read(name)?.ok_or_else(missing)?;
        let forgotten = match (from, to) {
            (0, 0) => {
                workspace.remove(name)?;
                Forgotten {
                    path: name.to_owned(),
                    lines: lines(&text),
                    removed: true,
                }
            }
            (from, to) => cut(&workspace, name, &text, (from, to))?,
        };
        self.take_in_named(name);
        Ok(forgotten)
    }
}

fn cut(
    workspace: &Workspace,
    name: &str,
    text: &str,
    (from, to): (u32, u32),
) -> Result<Forgotten, Error> {
    let total = lines(text);
    if from == 0 || to < from || to > total {
        return Err(Error::NoSuchLines {
            path: name.to_owned(),
            from,
            to,
            total,
        });
    }
    let range = from..=to;
    let numbered = text.split_inclusive('\n').zip(1u32..);
    let kept: String = numbered
        .filter(|(_, number)| !range.contains(number))
        .map(|(line, _)| line)
        .collect();
    workspace.replace(name, &kept)?;
    Ok(Forgotten {
        path: name.to_owned(),
        lines: to - from + 1,
        removed: false,
    })
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}
