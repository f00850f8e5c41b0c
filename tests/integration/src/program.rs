//! The programs under test.

use std::path::PathBuf;

/// The suite's program `name`, beside the test's own build.
pub fn path(name: &str) -> PathBuf {
    let path = folder().join(name);
    assert!(
        path.is_file(),
        "{} is not built: run tests/run, or `cargo build --workspace` before",
        path.display()
    );
    path
}

/// `target/PROFILE`: test programs are in `deps` in it.
fn folder() -> PathBuf {
    let own = std::env::current_exe().expect("find this program");
    let folder = own.parent().expect("a program is in a folder");
    if folder.ends_with("deps") {
        folder.parent().expect("deps is in a folder").to_owned()
    } else {
        folder.to_owned()
    }
}
