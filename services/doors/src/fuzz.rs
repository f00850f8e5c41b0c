//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

pub use crate::channels::fuzz::hand_in;
pub use crate::front::fuzz::front_head;
