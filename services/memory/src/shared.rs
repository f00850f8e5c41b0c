//! Files that are shipped with the programs.

use std::env;
use std::path::PathBuf;

use openclaw_config::Environment;

/// The folder of the static table, among what is shared.
const TABLE: &str = "embedding";

/// Where what is shared is, seen from the program's folder: `bin`, and a package's
/// `lib/openclaw`.
const PLACES: [&str; 2] = ["../share/openclaw", "../../share/openclaw"];

/// Where the static table is: in OPENCLAW_SHARE when that is set, else where
/// packaging/install puts it, seen from the program, else in the source tree
/// that the program was built in.
pub fn table(environment: &Environment) -> Option<PathBuf> {
    let shared = match environment.get("OPENCLAW_SHARE") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => beside_program(),
    };
    let mut tables = shared.into_iter().map(|folder| folder.join(TABLE));
    tables.find(|folder| folder.is_dir())
}

fn beside_program() -> Vec<PathBuf> {
    let program = env::current_exe().unwrap_or_default();
    let Some(folder) = program.parent() else {
        return Vec::new();
    };
    let mut shared = PLACES.map(|place| folder.join(place)).to_vec();
    // target/debug, and target/debug/deps for tests.
    let above = folder.ancestors().skip(1).take(3);
    shared.extend(above.map(|folder| folder.join("packaging/share")));
    shared
}
