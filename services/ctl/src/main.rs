//! openclawctl(1): see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    openclawctl::main()
}
