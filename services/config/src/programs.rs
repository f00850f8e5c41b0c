//! Where the suite's other programs are.

use std::env;
use std::io;
use std::path::PathBuf;

use crate::environment::Environment;

/// The suite's program `name`: in OPENCLAW_LIBEXEC when that is set, else
/// beside the running program. The error names the path that was tried.
pub fn sibling(name: &str, environment: &Environment) -> io::Result<PathBuf> {
    let folder = match environment.get("OPENCLAW_LIBEXEC") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let program = env::current_exe()?;
            // A program replaced while it runs reads as "… (deleted)"; its
            // folder is still the one the new programs are in.
            program.parent().map(PathBuf::from).unwrap_or_default()
        }
    };
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "{} is not there; install the whole suite in one folder",
            path.display()
        ),
    ))
}

/// The program `name` on the PATH of `environment`; a name with a slash is
/// taken as it is.
pub fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return is_program(&path).then_some(path);
    }
    environment
        .get("PATH")?
        .split(':')
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| PathBuf::from(folder).join(name))
        .find(|path| is_program(path))
}

fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
