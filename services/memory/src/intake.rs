//! From a file to a document of the index.

use std::path::PathBuf;

use openclaw_retrieval::{Body, Document};

use crate::bootstrap::template;
use crate::source::{Place, dated};
use crate::transcript;
use crate::workspace::{self, Stamp, Workspace};

/// Why a file is not searched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
    /// It cannot be read to its end.
    #[error("read the transcript {path}")]
    Transcript {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Read {
    /// What the index gets.
    pub(crate) document: Document,
    /// What it was when it was read.
    pub(crate) stamp: Stamp,
    /// Lines of a transcript that are no entries.
    pub(crate) corrupt: usize,
}

/// Reads the file at `path` of `place`, which is open as `root`, as the
/// document `name`; None when it is not there.
pub(crate) fn read(
    place: &Place,
    root: &Workspace,
    path: &str,
    name: String,
) -> Result<Option<Read>, Error> {
    if place.is_log() {
        return read_transcript(place, root, path, name);
    }
    let Some((text, stamp)) = root.read(path)? else {
        return Ok(None);
    };
    let day = dated::date(&name).and_then(dated::begin_ms);
    // What a template says tells nothing of the user.
    let told = !template::is_unedited(path, &text);
    let document = Document {
        source: place.source(),
        stamp: stamp.to_string(),
        modified_ms: stamp.modified_ms(),
        day_ms: day,
        topic: dated::topic(&name).to_owned(),
        body: Body::Text(if told { text } else { String::new() }),
        path: name,
    };
    Ok(Some(Read {
        document,
        stamp,
        corrupt: 0,
    }))
}

fn read_transcript(
    place: &Place,
    root: &Workspace,
    path: &str,
    name: String,
) -> Result<Option<Read>, Error> {
    let Some((file, stamp)) = root.open_file(path)? else {
        return Ok(None);
    };
    let mut read = transcript::read(file).map_err(|source| Error::Transcript {
        path: place.folder.join(path),
        source,
    })?;
    if read.cut {
        tracing::debug!(
            path,
            "only the newest part of a long transcript is searched"
        );
    }
    read.messages
        .retain(|message| !read.passing.contains(&message.line));
    let document = Document {
        source: place.source(),
        stamp: stamp.to_string(),
        modified_ms: stamp.modified_ms(),
        day_ms: None,
        topic: String::new(),
        body: Body::Messages(read.messages),
        path: name,
    };
    Ok(Some(Read {
        document,
        stamp,
        corrupt: read.corrupt,
    }))
}
