//! The names in the state directory and in the workspaces outside it.
//!
//! In the state directory the user's own links are followed, to a configuration
//! or a workspace that is kept elsewhere. Where an agent writes, none is: such
//! places are read beneath a descriptor ([`openclaw_folder`]).

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use openclaw_folder::{ConfiguredFolder, Entry, Folder, Kind};

use crate::error::Error;
use crate::layout::{PERMISSIONS, STATE};
use crate::links::ELSEWHERE;
use crate::manifest;
use crate::manifest::{FILES_LIMIT, LeftOut, Link, PATH_LIMIT, place_of_agents};
use crate::rules::{Rule, Rules};

/// Folders in folders; a link that leads back up ends there.
const DEPTH_LIMIT: usize = 64;
/// Names of one place in which an agent writes,
const PLACE_LIMIT: usize = FILES_LIMIT / 2;
/// and of all of them: the state and its keys are held whatever agents make.
const PLACES_LIMIT: usize = FILES_LIMIT / 5 * 4;

/// A file that is to be held.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Its path in the archive.
    pub(crate) name: String,
    /// The folder that it is in.
    folder: Rc<Folder>,
    /// Its path in that folder.
    relative: PathBuf,
    /// What becomes of it.
    pub(crate) rule: Rule,
    /// Whether an agent writes there: that it cannot be read is not a fault then.
    pub(crate) is_agents: bool,
}

impl Item {
    /// Where it is, for what takes a path and for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.relative)
    }

    /// Opens it; None when it is gone.
    pub(crate) fn open(&self) -> Result<Option<fs::File>, Error> {
        let opened = self.folder.open_file(&self.relative)?;
        Ok(opened.map(|(file, _)| file))
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub(crate) folders: Vec<manifest::Folder>,
    pub(crate) links: Vec<Link>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Files that were not found before.
    pub(crate) items: Vec<Item>,
    /// Names of everything that was found,
    known: HashSet<String>,
    /// and of what was left out.
    known_left_out: HashSet<String>,
    /// How many names were found where agents write.
    of_agents: usize,
}

/// Where in the archive something is, and where it is on the disk.
struct Place {
    name: String,
    folder: Rc<Folder>,
    relative: PathBuf,
    depth: usize,
    /// How many names were found in the place of an agent's that it lies in.
    found: Option<Rc<Cell<usize>>>,
}

impl Place {
    fn is_written(&self, rules: &Rules) -> bool {
        rules.is_written(&self.name, &self.folder.path().join(&self.relative))
    }
}

impl Inventory {
    /// Looks through the state directory: what was not found before.
    pub(crate) fn state(&mut self, state: &Path, rules: &Rules) -> Result<(), Error> {
        let folder = ConfiguredFolder::from(state.to_owned()).open()?;
        let folder = folder.ok_or_else(|| Error::NoState(state.to_owned()))?;
        self.below(STATE, folder, rules)
    }

    /// Looks through a workspace outside it; false when it is not there.
    pub(crate) fn workspace(
        &mut self,
        name: &str,
        place: &ConfiguredFolder,
        rules: &Rules,
    ) -> Result<bool, Error> {
        let Some(folder) = place.open()? else {
            return Ok(false);
        };
        self.below(name, folder, rules)?;
        Ok(true)
    }

    fn below(&mut self, name: &str, folder: Folder, rules: &Rules) -> Result<(), Error> {
        let mut waiting = vec![Place {
            name: name.to_owned(),
            folder: Rc::new(folder),
            relative: PathBuf::new(),
            depth: 0,
            found: None,
        }];
        while let Some(mut place) = waiting.pop() {
            if place.found.is_none() && place.is_written(rules) {
                place.found = Some(Rc::default());
            }
            self.list(&place, rules, &mut waiting)?;
        }
        self.items.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    fn list(
        &mut self,
        place: &Place,
        rules: &Rules,
        waiting: &mut Vec<Place>,
    ) -> Result<(), Error> {
        let opened = match place.folder.folder(&place.relative) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(()),
            Err(error) => return self.unreadable(place, rules, error),
        };
        if self.known.insert(place.name.clone()) {
            let mode = mode(&opened)?;
            let path = place.name.clone();
            self.folders.push(manifest::Folder { path, mode });
        }
        let entries = match opened.entries(FILES_LIMIT + 1) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(place, rules, error),
        };
        if !self.has_room_for(place, entries.len()) {
            let why = format!(
                "with it there are more than {PLACE_LIMIT} files in a place where an agent writes, \
                 or more than {PLACES_LIMIT} in all of these"
            );
            self.leave_out(place.name.clone(), &why);
            return Ok(());
        }
        for entry in entries {
            self.entry(place, &entry, rules, waiting)?;
        }
        if self.known.len() > FILES_LIMIT {
            return Err(Error::TooMany {
                path: place.folder.path().to_owned(),
                limit: FILES_LIMIT,
            });
        }
        Ok(())
    }

    /// Counts so many names of a folder; false, where it is an agent's and they are too many.
    fn has_room_for(&mut self, place: &Place, names: usize) -> bool {
        let Some(found) = &place.found else {
            return true;
        };
        let (in_place, in_all) = (found.get() + names, self.of_agents + names);
        let has_room = in_place <= PLACE_LIMIT && in_all <= PLACES_LIMIT;
        if has_room {
            found.set(in_place);
            self.of_agents = in_all;
        }
        has_room
    }

    fn entry(
        &mut self,
        place: &Place,
        entry: &Entry,
        rules: &Rules,
        waiting: &mut Vec<Place>,
    ) -> Result<(), Error> {
        let Some(name) = name_of(place, &entry.name) else {
            let shown = format!("{}/{}", place.name, entry.name.to_string_lossy());
            self.leave_out(shown, "its name is not UTF-8 text, or too long");
            return Ok(());
        };
        let rule = match name.strip_prefix("state/") {
            Some(path) => rules.of(path),
            None => Rule::Held,
        };
        if rule == Rule::Unwanted {
            return Ok(());
        }
        let relative = place.relative.join(&entry.name);
        match entry.kind {
            Kind::Folder if place.depth < DEPTH_LIMIT => waiting.push(Place {
                name,
                folder: Rc::clone(&place.folder),
                relative,
                depth: place.depth + 1,
                found: place.found.clone(),
            }),
            Kind::Folder => self.leave_out(name, "it lies too deep"),
            Kind::File => self.file(Item {
                name,
                folder: Rc::clone(&place.folder),
                relative,
                rule,
                is_agents: place.is_written(rules),
            }),
            Kind::Link if place_of_agents(&place.name).is_some() => {
                self.link(name, &place.folder, &relative);
            }
            Kind::Link if place.is_written(rules) => {
                self.leave_out(name, "it is a link in a place where an agent writes");
            }
            Kind::Link => self.follow((name, place, &relative), (rule, rules), waiting),
            // Sockets are made by whoever listens.
            Kind::Other if place_of_agents(&name).is_none() => {}
            Kind::Other => self.leave_out(name, "it is no file"),
        }
        Ok(())
    }

    fn file(&mut self, item: Item) {
        if self.known.insert(item.name.clone()) {
            self.items.push(item);
        }
    }

    /// A link that an agent may have made.
    fn link(&mut self, path: String, folder: &Folder, relative: &Path) {
        if !self.known.insert(path.clone()) {
            return;
        }
        let target = folder.read_link(relative).ok().flatten();
        let target = target.and_then(|it| it.into_string().ok());
        let link = target.map(|target| Link {
            path: path.clone(),
            target,
        });
        match link.filter(Link::stays) {
            Some(link) => self.links.push(link),
            None => self.left_out.push(LeftOut {
                path,
                why: ELSEWHERE.to_owned(),
            }),
        }
    }

    /// A link of the user's own: what it leads to is held in its place.
    fn follow(
        &mut self,
        (name, place, relative): (String, &Place, &Path),
        (rule, rules): (Rule, &Rules),
        waiting: &mut Vec<Place>,
    ) {
        let target = place.folder.path().join(relative).canonicalize();
        let opened = target.ok().and_then(|target| {
            let is_folder = target.is_dir();
            let (folder, relative) = if is_folder {
                (target.clone(), PathBuf::new())
            } else {
                (
                    target.parent()?.to_owned(),
                    PathBuf::from(target.file_name()?),
                )
            };
            let folder = Rc::new(Folder::open(&folder).ok()??);
            Some((folder, relative, is_folder))
        });
        match opened {
            Some((folder, relative, true)) if place.depth < DEPTH_LIMIT => waiting.push(Place {
                name,
                folder,
                relative,
                depth: place.depth + 1,
                found: None,
            }),
            Some((folder, relative, false)) => self.file(Item {
                is_agents: rules.is_written(&name, &folder.path().join(&relative)),
                name,
                folder,
                relative,
                rule,
            }),
            _ => self.leave_out(name, "it is a link that leads nowhere"),
        }
    }

    /// An agent may make a folder that nobody can read; that is no reason to
    /// hold nothing at all.
    fn unreadable(
        &mut self,
        place: &Place,
        rules: &Rules,
        error: openclaw_folder::Error,
    ) -> Result<(), Error> {
        if !place.is_written(rules) {
            return Err(error.into());
        }
        self.leave_out(place.name.clone(), "it cannot be read");
        Ok(())
    }

    /// Notes what cannot be held, once.
    pub(crate) fn leave_out(&mut self, path: String, why: &str) {
        if self.known_left_out.insert(path.clone()) {
            let why = why.to_owned();
            self.left_out.push(LeftOut { path, why });
        }
    }
}

fn name_of(place: &Place, name: &OsStr) -> Option<String> {
    let name = format!("{}/{}", place.name, name.to_str()?);
    (name.len() < PATH_LIMIT).then_some(name)
}

fn mode(folder: &Folder) -> Result<u32, Error> {
    use std::os::fd::AsFd as _;
    let cloned = folder.as_fd().try_clone_to_owned();
    let found = cloned.and_then(|descriptor| fs::File::from(descriptor).metadata());
    let found = found.map_err(Error::io("look at", folder.path()))?;
    Ok(found.mode() & PERMISSIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_what_agents_make_leaves_room_for_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Rc::new(Folder::open(folder.path()).unwrap().unwrap());
        let place = |found| Place {
            name: "workspaces/a".to_owned(),
            folder: Rc::clone(&folder),
            relative: PathBuf::new(),
            depth: 0,
            found,
        };
        let (one, other) = (place(Some(Rc::default())), place(Some(Rc::default())));
        let mut inventory = Inventory::default();
        assert!(inventory.has_room_for(&one, PLACE_LIMIT));
        assert!(!inventory.has_room_for(&one, 1), "its own bound");
        let left = PLACES_LIMIT - PLACE_LIMIT;
        assert!(!inventory.has_room_for(&other, left + 1), "that of all");
        assert!(inventory.has_room_for(&other, left));
        assert!(inventory.has_room_for(&place(None), PLACES_LIMIT));
    }
}
