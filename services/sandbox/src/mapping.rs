//! Files seen as memory, read-only.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

/// A whole file in memory, of which only what is looked at takes room, and
/// which the kernel can take back at any time.
///
/// For files that are complete under their name and never changed again: a
/// table that is installed, an index file that was renamed into place. Nothing
/// stops another program from cutting such a file off; whoever reads it then
/// past its end is ended with SIGBUS.
#[derive(Debug)]
pub struct Mapping(Mmap);

impl Mapping {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// What open(2) and mmap(2) say. An empty file is an empty slice.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the bytes do not change while they are borrowed: the mapping is
        // private and read-only, and the files are of the kind the type is for.
        let mapping = unsafe { MmapOptions::new().map_copy_read_only(&file) }?;
        Ok(Self(mapping))
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(
            Mapping::open(&path).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        std::fs::write(&path, "").unwrap();
        assert!(Mapping::open(&path).unwrap().is_empty());
        let text = "0123456789".repeat(1000);
        std::fs::write(&path, &text).unwrap();
        let mapping = Mapping::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&*mapping, text.as_bytes());
    }
}
