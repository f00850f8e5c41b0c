//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

pub use openclaw_jobs::fuzz::{job_row, schedule, when};
