//! What programs are linked with beside crates. Those that are started for every message have it.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this is how cargo is told, and a compiler is asked at the build"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// The functions that panics and stack traces are made with. The standard library would load them
/// with a shared library of gcc's, which is a tenth of a millisecond of every start.
const UNWINDER: &str = "gcc_eh";

fn main() {
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_own = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    // Elsewhere the standard library finds them by itself.
    if is_own && is("CARGO_CFG_TARGET_ENV", "gnu") && is_there() {
        println!("cargo:rustc-link-lib=static:-bundle={UNWINDER}");
    }
}

/// Whether the compiler that links has it.
fn is_there() -> bool {
    let compiler = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let asked = format!("-print-file-name=lib{UNWINDER}.a");
    // What it has not it names without a folder.
    let output = Command::new(compiler).arg(asked).output();
    output.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout);
        Path::new(path.trim()).is_absolute()
    })
}
