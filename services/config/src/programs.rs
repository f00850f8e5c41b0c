//! Where the suite's other programs are.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use crate::environment::Environment;

/// What the kernel puts after the path of a program that was removed or replaced
/// while it runs (proc_pid_exe(5)).
const REPLACED: &str = " (deleted)";

/// Where the running program is; where it was replaced meanwhile, the one that took
/// its place.
///
/// # Errors
/// /proc is not there.
pub fn own() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(replacement(&program).unwrap_or(program))
}

fn replacement(program: &Path) -> Option<PathBuf> {
    let path = program.to_str()?.strip_suffix(REPLACED)?;
    (!program.exists() && Path::new(path).is_file()).then(|| path.into())
}

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

/// Why there is no program `name`, as a text that follows its key; `None`: there is one.
pub fn absence(name: &str, environment: &Environment) -> Option<String> {
    if on_path(name, environment).is_some() {
        return None;
    }
    let path = Path::new(name);
    Some(if !name.contains('/') {
        format!("is {name:?}, and no program of that name is on the PATH")
    } else if path.is_dir() {
        format!("is {name:?}, which is a folder")
    } else if path.exists() {
        format!("is {name:?}, which cannot be executed; chmod +x it, or name its interpreter")
    } else {
        format!("is {name:?}, which is not there")
    })
}

/// Whether it is a file that can be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn program_that_is_not_there_is_told_from_one_that_cannot_run() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let environment = [("PATH", text)].into_iter().collect();
        let script = format!("{text}/script");
        fs::write(&script, "").unwrap();
        for (name, said) in [
            ("nosuch", "on the PATH"),
            ("script", "on the PATH"),
            (&script, "chmod +x"),
            (text, "is a folder"),
            ("/no/such", "not there"),
        ] {
            let absence = absence(name, &environment).unwrap();
            assert!(absence.contains(said), "{absence}");
        }
        assert_eq!(absence("/bin/sh", &environment), None);
    }

    #[test]
    fn replaced_program_is_the_one_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("runner");
        let told = folder.path().join("runner (deleted)");
        assert_eq!(replacement(&told), None, "it was removed");
        fs::write(&program, "").unwrap();
        assert_eq!(replacement(&told), Some(program));
        fs::write(&told, "").unwrap();
        assert_eq!(replacement(&told), None, "it is called so");
        assert!(own().unwrap().is_file());
    }

    #[test]
    fn sibling_is_where_the_variable_says_or_beside_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let environment = [("OPENCLAW_LIBEXEC", text)].into_iter().collect();
        let error = sibling("other", &environment).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let expected = format!("{text}/other is not there; install the whole suite in one folder");
        assert_eq!(error.to_string(), expected);
        fs::write(folder.path().join("other"), "").unwrap();
        let found = sibling("other", &environment).unwrap();
        assert_eq!(found, folder.path().join("other"));
        let own = env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        assert_eq!(sibling(name, &Environment::default()).unwrap(), own);
    }

    #[test]
    fn program_is_the_first_of_its_name_on_the_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for (name, mode) in [("a/tool", 0o644), ("b/tool", 0o755), ("c/tool", 0o700)] {
            fs::create_dir(place(&name[..1])).unwrap();
            fs::write(place(name), "").unwrap();
            fs::set_permissions(place(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(place("a/folder")).unwrap();
        let folders = ["a", "b", "c"].map(|name| place(name).display().to_string());
        let path = format!("relative:{}", folders.join(":"));
        let environment: Environment = [("PATH", path)].into_iter().collect();
        assert_eq!(on_path("tool", &environment), Some(place("b/tool")));
        assert_eq!(on_path("folder", &environment), None);
        assert_eq!(on_path("tool", &Environment::default()), None);
        let named = |name: &str| place(name).display().to_string();
        assert_eq!(
            on_path(&named("c/tool"), &environment),
            Some(place("c/tool"))
        );
        assert_eq!(on_path(&named("a/tool"), &environment), None);
        assert_eq!(absence("tool", &environment), None);
    }
}
