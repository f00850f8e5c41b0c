//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::check::Sink as _;
use crate::layout::STATE;
use crate::links;
use crate::manifest::Manifest;
use crate::member;
use crate::unpack::Unpacking;

/// Files of a manifest that are unpacked: more take too long.
const FILES: usize = 64;
/// Links that the kernel follows on the way to one place.
const LINKS: usize = 40;

/// Members of an archive: each has a name and a size, or the archive is unsound.
pub fn backup_members(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(found)) = member::next(&mut rest) {
        let skipped = found.size.saturating_add(member::padding(found.size));
        if member::skip(&mut rest, skipped).is_err() {
            break;
        }
    }
}

/// What a backup says of itself, from anywhere: unsound, or put where it belongs and
/// nowhere else, with no link that leads out of its place.
pub fn backup_manifest(text: &str) {
    let Ok(mut manifest) = serde_json::from_str::<Manifest>(text) else {
        return;
    };
    let _ = manifest.bytes();
    let count = manifest.files.len() + manifest.folders.len() + manifest.links.len();
    if manifest.problem().is_some() || count > FILES {
        return;
    }
    links::leave_out(&mut manifest);
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let root = root.expect("a temporary folder");
    let mut unpacking = Unpacking::default();
    unpacking.put(STATE, &root.path().join("s"));
    for (at, workspace) in manifest.workspaces.iter().enumerate() {
        unpacking.put(&workspace.name, &root.path().join(format!("w{at}")));
    }
    // A disk that has no such names is not a fault.
    let put = unpacking.folders(&manifest).and_then(|()| {
        let mut nothing = io::empty();
        let files = manifest.files.iter();
        files
            .map(|file| unpacking.take(file, &mut nothing as &mut dyn Read))
            .collect::<Result<Vec<_>, _>>()?;
        unpacking.finish(&manifest)
    });
    if put.is_ok() {
        for top in fs::read_dir(root.path()).expect("a folder") {
            inside(&top.expect("an entry").path(), root.path());
        }
    }
}

/// Each link beneath `place` leads to a place beneath its own first folder of `root`, also by
/// way of others.
fn inside(place: &Path, root: &Path) {
    let Ok(target) = fs::read_link(place) else {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        entries.for_each(|entry| inside(&entry.path(), root));
        return;
    };
    let top = |path: &Path| {
        let below = path.strip_prefix(root).expect("it is beneath the root");
        below
            .components()
            .next()
            .map(|it| it.as_os_str().to_owned())
    };
    let mut led: PathBuf = place.parent().expect("a folder").to_owned();
    let mut rest = reversed(&target);
    let mut followed = 0;
    while let Some(name) = rest.pop() {
        match name.to_str() {
            Some("..") => assert!(led.pop()),
            _ => led.push(name),
        }
        assert_eq!(top(&led), top(place), "{}", place.display());
        if let Ok(target) = fs::read_link(&led) {
            followed += 1;
            if followed > LINKS {
                return;
            }
            led.pop();
            rest.extend(reversed(&target));
        }
    }
}

/// The names of a path, from the last to the first.
fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    let names = parts.filter_map(|part| match part {
        Component::ParentDir | Component::Normal(_) => Some(part.as_os_str().to_owned()),
        Component::CurDir => None,
        other => panic!("{other:?}"),
    });
    names.collect()
}
