//! Entry points of the fuzz targets in `tests/fuzz`, built for fuzzing alone, and
//! what others share.

use openclaw_proto::event::Event;
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub use openclaw_model_api::fuzz::number;

pub use crate::decisions::fuzz::decisions;
pub use crate::spool::fuzz::spool;
pub use crate::steering::fuzz::steering;

/// A folder in memory where there is one: a disk is not what is looked at.
pub fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("a temporary folder")
}

/// What runs the asynchronous ones.
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// That `seq` grows from one event to the next.
pub fn assert_grows(events: &[Event]) {
    let grows = events.windows(2).all(|pair| pair[0].seq < pair[1].seq);
    assert!(grows, "{events:?}");
}
