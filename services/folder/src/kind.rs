//! What a name in a folder is.

use nix::dir::Type;
use nix::sys::stat::SFlag;

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
}

impl From<Type> for Kind {
    fn from(kind: Type) -> Self {
        match kind {
            Type::File => Self::File,
            Type::Directory => Self::Folder,
            Type::Symlink => Self::Link,
            Type::Fifo | Type::CharacterDevice | Type::BlockDevice | Type::Socket => Self::Other,
        }
    }
}
