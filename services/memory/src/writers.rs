//! Who has a file open for writing.
//!
//! Of files that change while we watch, inotify tells when they are closed. Of
//! one that was changed shortly before, only /proc knows whether it is whole.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Of `flags` in /proc/PID/fdinfo/FD (proc(5)): O_ACCMODE, and O_RDONLY is 0.
const ACCESS: u32 = 0o3;

/// Those of `files` that some process has open for writing. Processes of other
/// users cannot be looked into, and are taken to write nothing here.
pub(crate) fn being_written(files: &[PathBuf]) -> HashSet<PathBuf> {
    let mut open = HashSet::new();
    let identified = files
        .iter()
        .filter_map(|path| Some((identity(path.symlink_metadata())?, path)));
    let identities: HashMap<(u64, u64), &PathBuf> = identified.collect();
    if identities.is_empty() {
        return open;
    }
    for process in entries(Path::new("/proc")).filter(|path| is_process(path)) {
        for descriptor in entries(&process.join("fd")) {
            if let Some(path) = identity(descriptor.metadata()).and_then(|id| identities.get(&id))
                && writes(&process, &descriptor)
            {
                open.insert((*path).clone());
            }
        }
    }
    open
}

/// None for what is not a regular file.
fn identity(found: io::Result<Metadata>) -> Option<(u64, u64)> {
    let file = found.ok()?;
    file.is_file().then(|| (file.dev(), file.ino()))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

fn is_process(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn writes(process: &Path, descriptor: &Path) -> bool {
    let Some(number) = descriptor.file_name() else {
        return false;
    };
    let information = fs::read_to_string(process.join("fdinfo").join(number));
    let information = information.unwrap_or_default();
    let flags = information
        .lines()
        .find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & ACCESS != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};

    use super::*;

    #[test]
    fn writers_are_told_from_readers() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let written = File::create(path("written")).unwrap();
        File::create(path("read")).unwrap();
        let _read = File::open(path("read")).unwrap();
        File::create(path("appended")).unwrap();
        let _appended = OpenOptions::new()
            .append(true)
            .open(path("appended"))
            .unwrap();
        let all = ["written", "read", "appended", "missing"].map(path);
        let open = being_written(&all);
        assert_eq!(open, HashSet::from([path("written"), path("appended")]));
        drop(written);
        assert_eq!(being_written(&all), HashSet::from([path("appended")]));
    }
}
