//! Exit codes of all programs (sysexits.h where it has one), which the man pages state too.

/// It was done, or ended as asked.
pub const SUCCESS: u8 = 0;
/// A failure at run time; a daemon may be started again.
pub const FAILURE: u8 = 1;
/// Somebody has to decide, and nobody could be asked.
pub const UNDECIDED: u8 = 2;
/// Another suite owns the state.
pub const HELD: u8 = 3;
/// EX_USAGE: wrong arguments, or a daemon without its sockets. clap's own would be 2.
pub const USAGE: u8 = 64;
/// EX_CONFIG: a configuration or a state that trying again does not mend.
pub const CONFIG: u8 = 78;
/// Ended by SIGHUP, as a shell has it: 128 and the signal's number.
pub const HUNG_UP: u8 = 129;
/// Ended by SIGINT.
pub const INTERRUPTED: u8 = 130;
/// Ended by SIGQUIT.
pub const QUIT: u8 = 131;
/// Ended by SIGTERM.
pub const TERMINATED: u8 = 143;
