//! Files that are there after a loss of power.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Replaces the file `path` with `content` as a whole.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder(path)
}

/// Makes the file `path`, which must not be there, with `content`.
pub(crate) fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content)?;
    file.sync_all()?;
    sync_folder(path)
}

/// Adds `line` to the file `path`, which is made when it is not there.
pub(crate) fn append(path: &Path, line: &str) -> io::Result<()> {
    let is_new = !path.exists();
    add(path, line)?.sync_data()?;
    if is_new { sync_folder(path) } else { Ok(()) }
}

/// The same without waiting for the disk: it outlives this process alone.
pub(crate) fn add(path: &Path, line: &str) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    // What a crash left of a line must not spoil this one.
    file.write_all(format!("{}{line}\n", if ends_torn(path)? { "\n" } else { "" }).as_bytes())?;
    Ok(file)
}

fn ends_torn(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::FileExt as _;
    let file = File::open(path)?;
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(false);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte != *b"\n")
}

/// Removes the file; that it is not there is no error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
