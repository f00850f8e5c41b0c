//! Files seen as memory, read-only.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::path::Path;
use std::ptr::NonNull;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// A whole file in memory, of which only what is looked at takes room, and
/// which the kernel can take back at any time.
///
/// For files that are complete under their name and never changed again: a
/// table that is installed, an index file that was renamed into place. Nothing
/// stops another program from cutting such a file off; whoever reads it then
/// past its end is ended with SIGBUS.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<c_void>,
    length: usize,
}

// SAFETY: the memory is never written through this type, so any thread may read
// it, and munmap may be called from any thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// What open(2) and mmap(2) say. An empty file is mapped to no memory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let Some(nonzero) = NonZeroUsize::new(length) else {
            let start = NonNull::dangling();
            return Ok(Self { start, length });
        };
        // SAFETY: a new private mapping at an address of the kernel's choice
        // touches no memory that is in use.
        let start = unsafe {
            mmap(
                None,
                nonzero,
                ProtFlags::PROT_READ,
                MapFlags::MAP_PRIVATE,
                &file,
                0,
            )
        }?;
        Ok(Self { start, length })
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` is either dangling and `length` 0, or the start of a
        // readable mapping of `length` bytes that lives as long as `self`. Its
        // bytes do not change: the mapping is private, and the files are of the
        // kind the type is for.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast::<u8>(), self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the mapping is this value's own, and every borrow of it
            // has ended.
            let _ = unsafe { munmap(self.start, self.length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_the_file() {
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
