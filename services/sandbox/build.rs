//! How programs are linked. All of the suite's have it.

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

/// The C library from which on relocations may be packed (`DT_RELR`, ld.so(8)). Those of a program
/// are read and carried out by each of its processes before its first instruction.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_own = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    // Elsewhere the standard library finds them by itself.
    if !is_own || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    if is_there() {
        println!("cargo:rustc-link-lib=static:-bundle={UNWINDER}");
    }
    if c_library().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's C library (`glibc 2.36`). A program needs the one that it was
/// linked with, or a newer one.
fn c_library() -> Option<(u32, u32)> {
    let asked = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let told = String::from_utf8(asked.ok()?.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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
