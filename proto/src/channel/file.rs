//! Files that messages and deliveries have.

use super::AccountName;
use crate::wire::channel as wire;

/// Bytes of a file that go with one part of a stream.
pub const PART_LIMIT: usize = 256 * 1024;

/// What is known of a file before its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileHead {
    /// The account that it came to.
    pub account: AccountName,
    /// As the sender named it.
    pub name: String,
    /// As the provider says.
    pub mime_type: String,
    /// In bytes; 0: not known yet.
    pub size: u64,
}

/// A file that the gateway keeps for a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// For the attachment of a message.
    pub file_id: String,
    /// In bytes.
    pub size: u64,
}

impl From<wire::FileHead> for FileHead {
    fn from(head: wire::FileHead) -> Self {
        Self {
            account: AccountName {
                channel: head.channel,
                account: head.account,
            },
            name: head.name,
            mime_type: head.mime_type,
            size: head.size,
        }
    }
}

impl From<FileHead> for wire::FileHead {
    fn from(head: FileHead) -> Self {
        Self {
            channel: head.account.channel,
            account: head.account.account,
            name: head.name,
            mime_type: head.mime_type,
            size: head.size,
        }
    }
}

impl From<Stored> for wire::PutFileResponse {
    fn from(stored: Stored) -> Self {
        Self {
            file_id: stored.file_id,
            size: stored.size,
        }
    }
}
