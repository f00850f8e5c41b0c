//! Where an export is written to.

use std::fs::File;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use openclaw_folder::{ConfiguredFolder, Error, Folder};
use openclaw_terminal::Failure;

/// Conversations are nobody else's business.
const PRIVATE_FILE: u32 = 0o600;

/// The folder that is written into. Agents may write there too: it is opened once, and
/// everything is made beneath that, through no link.
#[derive(Debug)]
pub(super) struct Target {
    place: ConfiguredFolder,
    /// None: it is not there yet.
    folder: Option<Folder>,
    /// The folder in which it was made, and the names that were missing there.
    made_in: Option<(Folder, PathBuf)>,
    /// What was to be made in it, and whether a file was.
    names: Vec<(PathBuf, bool)>,
}

impl Target {
    /// The user's own links on the way to `place` are followed, and none of an agent's.
    pub(super) fn look(place: ConfiguredFolder) -> Result<Self, Failure> {
        if place.is_symlink() {
            let problem = format!("{} is a link, of whoever may write there", place.display());
            return Err(Failure::usage(problem).hint("name the folder that it leads to"));
        }
        let folder = place.open();
        let folder = folder.with_context(|| format!("cannot use {}", place.display()))?;
        let folder = folder.map(empty).transpose()?;
        Ok(Self {
            place,
            folder,
            made_in: None,
            names: Vec::new(),
        })
    }

    fn folder(&mut self) -> Result<&Folder, Failure> {
        if self.folder.is_none() {
            let context = || format!("cannot create {}", self.place.display());
            self.made_in = Some(self.place.missing().with_context(context)?);
            let made = self.place.open_or_create().with_context(context)?;
            self.folder = Some(empty(made)?);
        }
        let missing = || Failure::new(format!("{} is gone", self.place.display()));
        self.folder.as_ref().ok_or_else(missing)
    }

    /// Creates the file `name`; a name that leads elsewhere is refused.
    pub(super) fn create(&mut self, name: &str) -> Result<Open, Failure> {
        let relative = Path::new(name);
        let is_plain = |part| matches!(part, Component::Normal(_));
        if !relative.components().all(is_plain) {
            return Err(Failure::new(format!("the gateway named the file {name:?}")));
        }
        let folder = self.folder()?;
        let path = folder.path().join(relative);
        let made = make(folder, relative);
        // Also where only its folders were made.
        self.names
            .push((relative.to_owned(), matches!(made, Ok(Some(_)))));
        let made = made.with_context(|| format!("cannot create {}", path.display()))?;
        let file = made.ok_or_else(|| {
            let place = path.display();
            Failure::new(format!("{place} is there already; nothing is overwritten"))
        })?;
        Ok(Open { path, file })
    }

    /// Takes away what was made, as far as nobody has put anything else there: whoever tries
    /// again finds the folder as it was. What cannot be removed is left; what is told is why
    /// the export failed.
    pub(super) fn take_back(&self) {
        if let Some(folder) = &self.folder {
            for (name, is_made) in self.names.iter().rev() {
                let _ = is_made.then(|| folder.remove(name));
                remove_empty(folder, name.parent());
            }
        }
        if let Some((around, missing)) = &self.made_in {
            remove_empty(around, Some(missing));
        }
    }
}

/// Removes the folder `relative` and those around it, as far as nothing is in them.
fn remove_empty(folder: &Folder, relative: Option<&Path>) {
    let names = relative.into_iter().flat_map(Path::ancestors);
    for name in names.filter(|name| !name.as_os_str().is_empty()) {
        let _ = folder.remove_empty(name);
    }
}

fn empty(folder: Folder) -> Result<Folder, Failure> {
    let path = folder.path().display();
    let names = folder.entries(1);
    let names = names.with_context(|| format!("cannot use {path}"))?;
    if names.is_empty() {
        return Ok(folder);
    }
    let problem = format!("{path} is not empty; nothing is overwritten");
    Err(Failure::usage(problem).hint("name a folder that is not there yet"))
}

/// None: something of that name is there.
fn make(folder: &Folder, relative: &Path) -> Result<Option<File>, Error> {
    let parent = relative.parent().unwrap_or(Path::new(""));
    let parent = folder.create_folder(parent)?;
    match relative.file_name() {
        Some(name) => parent.create_file(name, PRIVATE_FILE),
        None => Ok(None),
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Open {
    path: PathBuf,
    file: File,
}

impl Open {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(bytes);
        Ok(written.with_context(|| self.failed())?)
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        Ok(self.file.sync_all().with_context(|| self.failed())?)
    }

    fn failed(&self) -> String {
        format!("cannot write {}", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// An agent swaps folders while the export is under way.
    #[test]
    fn export_follows_no_link_that_an_agent_makes_meanwhile() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let (workspace, elsewhere) = (base.join("workspace"), base.join("elsewhere"));
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(elsewhere.join("agents")).unwrap();
        let to = workspace.join("out");
        let written: std::sync::Arc<[PathBuf]> = [workspace.clone()].into();
        let look =
            |path: &Path| Target::look(ConfiguredFolder::new(path.to_owned(), written.clone()));
        let mut target = look(&to).unwrap();
        target.create("agents/main/first.jsonl").unwrap();
        // In the place of a folder that was made,
        fs::rename(to.join("agents"), to.join("moved")).unwrap();
        symlink(elsewhere.join("agents"), to.join("agents")).unwrap();
        let refused = target.create("agents/main/second.jsonl").unwrap_err();
        assert!(format!("{refused:?}").contains("link"), "{refused:?}");
        // of a file,
        symlink(elsewhere.join("planted"), to.join("sessions.json")).unwrap();
        assert!(target.create("sessions.json").is_err());
        // and of the folder itself, which stays the one that was opened.
        fs::rename(&to, workspace.join("aside")).unwrap();
        symlink(&elsewhere, &to).unwrap();
        target.create("other/third.jsonl").unwrap();
        assert!(workspace.join("aside/other/third.jsonl").is_file());
        assert!(
            fs::read_dir(elsewhere.join("agents"))
                .unwrap()
                .next()
                .is_none()
        );
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
        // On the way to it there is none of an agent's either.
        symlink(&elsewhere, workspace.join("way")).unwrap();
        let way = workspace.join("way/out");
        assert!(look(&way).is_err());
        assert!(!elsewhere.join("out").exists());
        // The user's own is followed.
        symlink(&elsewhere, base.join("mine")).unwrap();
        let mut mine = look(&base.join("mine/out")).unwrap();
        mine.create("sessions.json").unwrap();
        assert!(elsewhere.join("out/sessions.json").is_file());
    }

    #[test]
    fn export_that_fails_leaves_nothing_and_nothing_of_others_goes() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let look = |path: &Path| Target::look(path.into()).unwrap();
        let mut new = look(&base.join("a/b/out"));
        for name in [
            "agents/main/s.jsonl",
            "agents/main/t.jsonl",
            "sessions.json",
        ] {
            new.create(name).unwrap();
        }
        new.take_back();
        assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
        // Where only folders could be made,
        let mut full = look(&base.join("full"));
        full.create("agents").unwrap();
        assert!(full.create("agents/main/s.jsonl").is_err());
        full.take_back();
        assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
        // and in a folder that was there, in which somebody writes meanwhile.
        let own = base.join("own");
        fs::create_dir(&own).unwrap();
        let mut there = look(&own);
        there.create("agents/main/s.jsonl").unwrap();
        there.create("empty/s.jsonl").unwrap();
        fs::write(own.join("agents/note"), "mine").unwrap();
        fs::write(own.join("sessions.json"), "mine").unwrap();
        assert!(there.create("sessions.json").is_err());
        there.take_back();
        assert_eq!(fs::read(own.join("agents/note")).unwrap(), b"mine");
        assert_eq!(fs::read(own.join("sessions.json")).unwrap(), b"mine");
        assert!(!own.join("agents/main").exists() && !own.join("empty").exists());
        // What is not even begun makes nothing.
        look(&base.join("never")).take_back();
        assert!(!base.join("never").exists());
    }
}
