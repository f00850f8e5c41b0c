//! Entry points of the fuzz targets in `tests/fuzz`, built for fuzzing alone.

pub use crate::model::fuzz::model_door;
