//! Putting a backup back: whole, or not at all.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use nix::sys::statvfs::statvfs;
use openclaw_config::Paths;
use openclaw_config::restored;
use openclaw_config::state_lock::StateLock;
use openclaw_folder::ConfiguredFolder;

use crate::check::{Backup, check};
use crate::error::Error;
use crate::layout::{PRIVATE_FOLDER, STATE};
use crate::manifest::{Manifest, Workspace};
use crate::mentions::{self, Mention};
use crate::obeyed::Obeyed;
use crate::place::moved;
use crate::swap::{Swap, real};
use crate::under_way;
use crate::unfinished::Unfinished;
use crate::unpack::Unpacking;

/// The daemons that own a part of the state.
const OWNERS: [&str; 3] = [
    "openclaw-gateway",
    "openclaw-agent-runner",
    "openclaw-memory",
];
/// Bytes for each file that its content does not say: its block and its name.
const OVERHEAD: u64 = 4096;

/// What becomes of workspaces outside the state directory whose place is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// Nothing is restored at all.
    #[default]
    Refused,
    /// What is there is moved aside, as the state is.
    MovedAside,
    /// No workspace from outside the state directory is restored.
    Kept,
}

/// How a backup is put back.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the state goes.
    pub paths: Paths,
    /// What becomes of workspaces elsewhere.
    pub existing: Existing,
    /// Folders in which agents write until now: no link there is followed.
    pub written: Vec<PathBuf>,
    /// The command that ends this process, for whoever wants the state meanwhile.
    pub stop: String,
}

/// What was put back.
#[derive(Debug)]
pub struct Restored {
    /// What the backup says of itself.
    pub manifest: Manifest,
    /// Where the state is.
    pub state: PathBuf,
    /// Where the state is that was there before.
    pub before: Option<PathBuf>,
    /// Workspaces outside the state directory: where each is, and where what was
    /// there before is now.
    pub workspaces: Vec<(Workspace, PathBuf, Option<PathBuf>)>,
    /// Places of the other machine that the configuration names.
    pub mentions: Vec<Mention>,
}

/// Puts the backup at `file` into the place of the state directory. By
/// `unfinished` somebody else may end it, until folders change places.
///
/// # Errors
/// It is not sound, a suite uses the state, the system says no, or it was ended.
/// Then everything is as it was; a workspace outside the state directory may be the
/// new one already, beside which the old one lies.
pub fn restore(file: &Path, options: &Options, unfinished: &Unfinished) -> Result<Restored, Error> {
    let manifest = check(file)?;
    let paths = &options.paths;
    let _locks = locks(options)?;
    under_way::require_none(paths)?;
    let stamp = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let parent = paths.state.parent().unwrap_or(Path::new("/"));
    make(parent)?;
    let workspaces = workspaces(&manifest, options)?;
    let state = Swap::at(real(&paths.state)?, &stamp, unfinished)?;
    let swap = |(workspace, place)| Ok((workspace, Swap::at(place, &stamp, unfinished)?));
    let workspaces: Result<Vec<(Workspace, Swap)>, Error> =
        workspaces.into_iter().map(swap).collect();
    let workspaces = workspaces?;
    let mut all: Vec<&Swap> = vec![&state];
    all.extend(workspaces.iter().map(|(_, swap)| swap));
    room(&manifest, &all)?;
    unpack(file, &manifest, &state, &workspaces, paths)?;
    unfinished.settle()?;
    let mut placed = Vec::new();
    for (workspace, swap) in &workspaces {
        let before = swap.exchange()?;
        placed.push((workspace.clone(), swap.place.clone(), before));
    }
    let before = state.exchange()?;
    let configuration = state.place.join("openclaw.json");
    Ok(Restored {
        mentions: mentions::find(&configuration, &manifest, paths),
        manifest,
        state: state.place,
        before,
        workspaces: placed,
    })
}

/// The locks of a state directory that is there, until the end: no daemon starts
/// with it any more.
fn locks(options: &Options) -> Result<Vec<StateLock>, Error> {
    if !options.paths.state.exists() {
        return Ok(Vec::new());
    }
    let take = |program: &&str| StateLock::take(&options.paths, program, options.stop.clone());
    let locks: Result<Vec<_>, _> = OWNERS.iter().map(take).collect();
    Ok(locks?)
}

/// Where workspaces outside the state directory go, without links.
fn workspaces(manifest: &Manifest, options: &Options) -> Result<Vec<(Workspace, PathBuf)>, Error> {
    if options.existing == Existing::Kept {
        return Ok(Vec::new());
    }
    let obeyed = Obeyed::of(&options.paths);
    let place = |workspace: &Workspace| moved(&workspace.place, manifest, &options.paths);
    let restored = manifest.workspaces.iter().map(place);
    let written: Arc<[PathBuf]> = restored.chain(options.written.iter().cloned()).collect();
    let mut places = Vec::new();
    let mut taken = Vec::new();
    for workspace in &manifest.workspaces {
        let place = place(workspace);
        if let Some(why) = obeyed.why(&place) {
            return Err(Error::Obeyed { place, why });
        }
        let place = ConfiguredFolder::new(place, Arc::clone(&written)).resolved()?;
        if is_taken(&place) {
            taken.push(place.clone());
        }
        make(place.parent().unwrap_or(Path::new("/")))?;
        places.push((workspace.clone(), place));
    }
    if options.existing == Existing::Refused && !taken.is_empty() {
        return Err(Error::Taken(taken));
    }
    Ok(places)
}

/// A folder without anything in it is nobody's loss.
fn is_taken(place: &Path) -> bool {
    let Ok(mut names) = fs::read_dir(place) else {
        return place.symlink_metadata().is_ok();
    };
    names.next().is_some()
}

fn make(folder: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_FOLDER)
        .create(folder)
        .map_err(Error::io("make", folder))
}

/// Whether each disk takes what the backup says that it holds.
fn room(manifest: &Manifest, swaps: &[&Swap]) -> Result<(), Error> {
    let files = manifest.files.len() + manifest.folders.len();
    let needed = manifest.bytes().saturating_add(files as u64 * OVERHEAD);
    for swap in swaps {
        let parent = swap.place.parent().unwrap_or(Path::new("/"));
        let found = statvfs(parent).map_err(|errno| Error::io("look at", parent)(errno.into()))?;
        let free = found.blocks_available() * found.fragment_size();
        if free < needed {
            return Err(Error::NoRoom {
                path: parent.to_owned(),
                free,
                needed,
            });
        }
    }
    Ok(())
}

fn unpack(
    file: &Path,
    manifest: &Manifest,
    state: &Swap,
    workspaces: &[(Workspace, Swap)],
    paths: &Paths,
) -> Result<(), Error> {
    let mut backup = Backup::open(file)?;
    if backup.manifest()? != *manifest {
        return Err(Error::unsound(file, "it changed while it was read"));
    }
    let mut unpacking = Unpacking::default();
    unpacking.put(STATE, &state.staging);
    for (workspace, swap) in workspaces {
        unpacking.put(&workspace.name, &swap.staging);
    }
    unpacking.folders(manifest)?;
    backup.files(manifest, &mut unpacking)?;
    let note = restored::Restored {
        made_ms: manifest.made_ms,
        restored_ms: Timestamp::now().as_millisecond(),
        taken: false,
    };
    let own = paths.in_state(&state.staging);
    let place = own.restored();
    note.write(&place).map_err(Error::io("write", &place))?;
    unpacking.finish(manifest)
}
