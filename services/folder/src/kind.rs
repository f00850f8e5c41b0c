//! What a name in a folder is.

use nix::sys::stat::SFlag;
use rustix::fs::FileType;

/// What a name in a folder is, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, whatever it leads to.
    Link,
    /// A FIFO, a socket or a device.
    Other,
}

impl Kind {
    /// From the mode that stat(2) tells.
    pub(crate) fn from_mode(mode: u32) -> Self {
        match SFlag::from_bits_truncate(mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => Self::File,
            SFlag::S_IFDIR => Self::Folder,
            SFlag::S_IFLNK => Self::Link,
            _ => Self::Other,
        }
    }

    /// From what a listing says; `None` where the file system does not tell.
    pub(crate) fn told(kind: FileType) -> Option<Self> {
        match kind {
            FileType::RegularFile => Some(Self::File),
            FileType::Directory => Some(Self::Folder),
            FileType::Symlink => Some(Self::Link),
            FileType::Unknown => None,
            _ => Some(Self::Other),
        }
    }
}
