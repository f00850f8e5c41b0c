//! Runs by the number of their acceptance.

/// Since version 10. That number is the key of a run's row and of its turn's: rows
/// are added at the end of both tables, where the last one is still in the page,
/// and neither needs an index for it. A message writes half as many pages.
pub(super) const RUN_NUMBERS: &str = include_str!("run_numbers.sql");
