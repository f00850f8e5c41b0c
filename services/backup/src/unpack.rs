//! Writing what a backup holds into folders that are new.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::check::Sink;
use crate::error::Error;
use crate::layout::{PRIVATE_FILE, PRIVATE_FOLDER};
use crate::manifest::{self, Manifest};

/// Which folder of the archive goes where.
#[derive(Debug, Default)]
pub(crate) struct Unpacking {
    /// Folders of the archive with the folders that are made for them.
    roots: Vec<(String, PathBuf)>,
}

impl Unpacking {
    /// `name` of the archive goes to `target`, which is not there yet.
    pub(crate) fn put(&mut self, name: &str, target: &Path) {
        self.roots.push((name.to_owned(), target.to_owned()));
    }

    /// Where `path` of the archive goes; None: nowhere.
    fn place(&self, path: &str) -> Option<PathBuf> {
        self.roots.iter().find_map(|(name, target)| {
            let below = path.strip_prefix(name.as_str())?;
            match below.strip_prefix('/') {
                Some(below) => Some(target.join(below)),
                None => below.is_empty().then(|| target.clone()),
            }
        })
    }

    /// Makes the folders, for their owner alone until they are filled.
    pub(crate) fn folders(&self, manifest: &Manifest) -> Result<(), Error> {
        for folder in &manifest.folders {
            if let Some(place) = self.place(&folder.path) {
                DirBuilder::new()
                    .mode(PRIVATE_FOLDER)
                    .create(&place)
                    .map_err(Error::io("make", &place))?;
            }
        }
        Ok(())
    }

    /// Makes links, and gives folders their modes: the last ones first, because
    /// one that may not be written to may hold others.
    pub(crate) fn finish(&self, manifest: &Manifest) -> Result<(), Error> {
        for link in &manifest.links {
            if let Some(place) = self.place(&link.path) {
                symlink(&link.target, &place).map_err(Error::io("make", &place))?;
            }
        }
        for folder in manifest.folders.iter().rev() {
            if let Some(place) = self.place(&folder.path) {
                fs::set_permissions(&place, Permissions::from_mode(folder.mode))
                    .map_err(Error::io("change the mode of", &place))?;
            }
        }
        for (_, target) in &self.roots {
            let file = File::open(target).map_err(Error::io("open", target))?;
            let synced = nix::unistd::syncfs(&file).map_err(io::Error::from);
            synced.map_err(Error::io("sync", target))?;
        }
        Ok(())
    }
}

impl Sink for Unpacking {
    fn take(&mut self, file: &manifest::File, content: &mut dyn Read) -> Result<(), Error> {
        let Some(place) = self.place(&file.path) else {
            let read = io::copy(content, &mut io::sink());
            return read
                .map(drop)
                .map_err(Error::io("read", Path::new(&file.path)));
        };
        let mut target = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE_FILE)
            .open(&place)
            .map_err(Error::io("make", &place))?;
        fill(&mut target, content, &place, &file.path)?;
        let modified = UNIX_EPOCH.checked_add(Duration::from_secs(file.modified));
        target
            .set_permissions(Permissions::from_mode(file.mode))
            .and_then(|()| modified.map_or(Ok(()), |at| target.set_modified(at)))
            .map_err(Error::io("set the mode and the time of", &place))
    }
}

/// Not `io::copy`: what cannot be read is another's fault than what cannot be
/// written.
fn fill(target: &mut File, content: &mut dyn Read, place: &Path, path: &str) -> Result<(), Error> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = content.read(&mut buffer);
        let count = read.map_err(Error::io("read", Path::new(path)))?;
        if count == 0 {
            return Ok(());
        }
        target
            .write_all(&buffer[..count])
            .map_err(Error::io("write", place))?;
    }
}
