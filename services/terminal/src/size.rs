//! How large the terminal is.

use std::io;

/// Where a terminal does not say how large it is.
const SIZE: (usize, usize) = (80, 24);

/// The columns and rows of the terminal that is standard output, or else standard error.
#[must_use]
pub fn size() -> (usize, usize) {
    let told = rustix::termios::tcgetwinsize(io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(io::stderr()));
    match told.map(|size| (size.ws_col.into(), size.ws_row.into())) {
        Ok((columns @ 1.., rows @ 1..)) => (columns, rows),
        _ => SIZE,
    }
}
