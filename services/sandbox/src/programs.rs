//! What has to be granted so that a program outside of the system's folders can run.
//!
//! A program may need what lies beside it; but what lies beside a program in a home is that home.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use crate::plan::Plan;
use crate::real::{Real, Resolver};

/// Describes a package of npm, in its folder.
const PACKAGE: &str = "package.json";
/// Where npm puts packages.
const PACKAGES: &str = "node_modules";
/// Folders above a script in which its package is looked for: `PACKAGE/dist/bin/x.js` has three.
const PACKAGE_DEPTH: usize = 4;
/// Bytes of a script's first line that the kernel reads (`BINPRM_BUF_SIZE`).
const FIRST_LINE: u64 = 256;
/// Accounts of the machine, of which each has a home.
const ACCOUNTS: &str = "/etc/passwd";
/// Folders below which every folder is somebody's, or everybody's.
const SHARED: [&str; 7] = ["home", "var", "run", "mnt", "media", "dev", "proc"];

/// Folders that are never granted because a program lies in them: homes, the state folder, and
/// what is above any of these.
#[derive(Debug, Clone, Default)]
pub struct Closed {
    homes: Vec<PathBuf>,
    state: PathBuf,
}

impl Closed {
    /// `home` and the suite's `state` folder, beside the homes of all accounts of this machine.
    #[must_use]
    pub fn new(home: Option<&Path>, state: &Path) -> Self {
        Self {
            homes: home
                .map(Path::to_path_buf)
                .into_iter()
                .flat_map(both_names)
                .collect(),
            state: real(state),
        }
    }

    fn homes(&self) -> impl Iterator<Item = &PathBuf> {
        self.homes.iter().chain(ACCOUNT_HOMES.iter())
    }

    /// Whether `folder` holds more than a program's own files: it is the root, `/tmp` or another
    /// folder of everybody's, a home or above one, or above, in or the state folder.
    #[must_use]
    pub fn is_too_wide(&self, folder: &Path) -> bool {
        let names: Vec<Component<'_>> = folder.components().skip(1).collect();
        let is_shared = |name: &Component<'_>| {
            let shared = SHARED.iter().any(|shared| name.as_os_str() == *shared);
            shared && names.len() <= 2
        };
        names.len() <= 1
            || names.first().is_some_and(is_shared)
            || self.homes().any(|home| home.starts_with(folder))
            || self.state.starts_with(folder)
            || folder.starts_with(&self.state)
    }

    /// Whether `folder` is in a home of somebody: `/root`, one in `/home`, `home` itself. An
    /// account's folder in the system (`/usr/sbin`, `/`) is no such home.
    fn is_in_a_home(&self, folder: &Path) -> bool {
        let in_home = |home: &PathBuf| folder.starts_with(home) && home.components().count() > 1;
        folder.starts_with("/home") || self.homes().any(in_home)
    }
}

/// Read once: a turn is to start fast, and who came later lives in `/home`.
static ACCOUNT_HOMES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let accounts = fs::read_to_string(ACCOUNTS).unwrap_or_default();
    let homes = accounts.lines().filter_map(home_of).map(PathBuf::from);
    homes.chain(["/root".into()]).flat_map(both_names).collect()
});

/// The sixth field of a line of passwd(5).
fn home_of(line: &str) -> Option<&str> {
    line.split(':').nth(5).filter(|home| home.starts_with('/'))
}

fn both_names(path: PathBuf) -> [PathBuf; 2] {
    [real(&path), path]
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

impl Plan {
    /// Grants reading and executing `program`, links resolved, and what it cannot do without,
    /// unless a grant covers it already: a script's interpreter, the package of npm it belongs to,
    /// else the folder that holds it where that is neither `closed` nor in a home. An absent
    /// program changes nothing; [`Plan::validate`] reports it.
    pub fn grant_program(&mut self, program: &Path, closed: &Closed) {
        let mut resolver = Resolver::default();
        let found = std::path::absolute(program).and_then(|program| resolver.resolve(&program));
        let Ok(Real { path: file, .. }) = found else {
            return;
        };
        if self.covers(&file) {
            return;
        }
        // What lies there, its first line among it, is an agent's to say.
        if self.is_contested_by(&mut resolver, &file) {
            return self.grant(file);
        }
        if let Some(interpreter) = interpreter(&file) {
            self.grant(interpreter);
        }
        self.grant(part_of(&file, closed));
    }

    /// Whether any agent writes at this place, links resolved.
    pub fn is_contested(&self, file: &Path) -> bool {
        self.is_contested_by(&mut Resolver::default(), file)
    }

    fn is_contested_by(&self, resolver: &mut Resolver, file: &Path) -> bool {
        let mut places = self.contested.iter().chain(&self.read_write);
        places.any(|place| {
            let place = resolver.resolve(place);
            place.is_ok_and(|place| file.starts_with(place.path))
        })
    }

    fn grant(&mut self, path: PathBuf) {
        // A link in a granted folder may lead out of it.
        if !(self.covers(&path) && self.covers(&real(&path))) {
            self.read_only.push(path);
        }
    }

    fn covers(&self, path: &Path) -> bool {
        let mut grants = self.read_only.iter().chain(&self.read_write);
        grants.any(|grant| path.starts_with(grant))
    }
}

/// The folder to be granted for a program, or the program alone.
fn part_of(file: &Path, closed: &Closed) -> PathBuf {
    let parent = file.parent();
    let own = parent.filter(|folder| !closed.is_too_wide(folder) && !closed.is_in_a_home(folder));
    let package = package(file).filter(|folder| !closed.is_too_wide(folder));
    let folder = package.or(own);
    folder.map_or_else(|| file.to_path_buf(), Path::to_path_buf)
}

/// The package that a file belongs to: for one that npm installed the nearest, for a script of
/// JavaScript elsewhere the one around it.
fn package(file: &Path) -> Option<&Path> {
    let installed = file.components().any(|name| name.as_os_str() == PACKAGES);
    let extension = file.extension().and_then(|extension| extension.to_str());
    let script = ["js", "cjs", "mjs"].map(Some).contains(&extension);
    let depth = match (installed, script) {
        (true, _) => usize::MAX,
        (false, true) => PACKAGE_DEPTH,
        (false, false) => 0,
    };
    let above = file.ancestors().skip(1).take(depth);
    above
        .take_while(|folder| !folder.ends_with(PACKAGES))
        .find(|folder| folder.join(PACKAGE).is_file())
}

/// What the first line of a script names (`#!/path/of/interpreter`).
fn interpreter(file: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(file)
        .ok()?
        .take(FIRST_LINE)
        .read_to_end(&mut line)
        .ok()?;
    let line = line.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let path = PathBuf::from(line.split_whitespace().next()?);
    (path.is_absolute() && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Machine {
        root: tempfile::TempDir,
        closed: Closed,
    }

    /// With a home and a state folder in it, below a folder that is in no home.
    fn machine() -> Machine {
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let home = root.path().join("home");
        let state = home.join(".openclaw");
        fs::create_dir_all(&state).unwrap();
        let closed = Closed::new(Some(&home), &state);
        Machine { root, closed }
    }

    impl Machine {
        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }

        /// What is granted for it beside the system, seen from the root.
        fn granted(&self, program: &Path) -> Vec<String> {
            let mut plan = Plan::new("run", "main", Path::new("/"));
            let before = plan.read_only.len();
            plan.grant_program(program, &self.closed);
            plan.grant_program(program, &self.closed);
            let granted = plan.read_only.split_off(before);
            let inside = |path: PathBuf| {
                let path = path.strip_prefix(self.root.path()).map(Path::to_path_buf);
                path.unwrap().display().to_string()
            };
            granted.into_iter().map(inside).collect()
        }
    }

    #[test]
    fn program_where_agents_write_brings_nothing_along() {
        let machine = machine();
        let secret = machine.file("home/.ssh/id", "secret");
        let script = machine.file("work/bin/run", &format!("#!{}\n", secret.display()));
        machine.file("work/package.json", "{}");
        let mut plan = Plan::new("run", "main", Path::new("/"));
        plan.read_only.clear();
        plan.contested = vec![machine.root.path().join("work")];
        plan.grant_program(&script, &machine.closed);
        assert_eq!(plan.read_only, [script]);
    }

    #[test]
    fn program_in_a_home_is_granted_alone() {
        let machine = machine();
        for name in [
            "home/claude",
            "home/bin/claude",
            "home/.local/share/claude/versions/2.1.197",
            "home/.openclaw/claude",
            "home/.openclaw/bin/claude",
            "claude",
        ] {
            let program = machine.file(name, "");
            assert_eq!(machine.granted(&program), [name]);
        }
        // The home of npm's user is no package.
        machine.file("home/package.json", "{}");
        let script = machine.file("home/tool/x.js", "");
        assert_eq!(machine.granted(&script), ["home/tool/x.js"]);
    }

    #[test]
    fn link_to_a_program_grants_its_target() {
        let machine = machine();
        let target = machine.file("home/.local/share/claude/versions/2", "");
        let link = machine.root.path().join("home/claude");
        symlink(&target, &link).unwrap();
        assert_eq!(
            machine.granted(&link),
            ["home/.local/share/claude/versions/2"]
        );
    }

    #[test]
    fn package_of_npm_is_granted_and_not_its_neighbours() {
        let machine = machine();
        let modules = "home/.npm-global/lib/node_modules";
        let package = format!("{modules}/@openai/codex");
        machine.file(&format!("{package}/package.json"), "{}");
        let script = machine.file(&format!("{package}/bin/codex.js"), "#!/usr/bin/env node\n");
        assert_eq!(machine.granted(&script), std::slice::from_ref(&package));
        let inner = format!("{package}/node_modules/@openai/codex-linux-x64");
        machine.file(&format!("{inner}/package.json"), "{}");
        let native = machine.file(&format!("{inner}/vendor/x/codex/codex"), "");
        assert_eq!(machine.granted(&native), [inner]);
        // Without a package of its own: not the folder of all packages.
        let loose = machine.file(&format!("{modules}/loose/cli.js"), "");
        assert_eq!(machine.granted(&loose), [format!("{modules}/loose/cli.js")]);
    }

    #[test]
    fn script_of_a_project_is_granted_with_its_package_and_interpreter() {
        let machine = machine();
        machine.file("home/work/server/package.json", "{}");
        let script = machine.file("home/work/server/dist/index.js", "");
        assert_eq!(machine.granted(&script), ["home/work/server"]);
        let node = machine.file("home/.nvm/node", "");
        let text = format!("#!{} -x\n", node.display());
        let script = machine.file("home/bin/tool", &text);
        assert_eq!(
            machine.granted(&script),
            ["home/.nvm/node", "home/bin/tool"]
        );
    }

    #[test]
    fn folder_outside_of_homes_is_granted_with_the_program() {
        let machine = machine();
        let program = machine.file("tools/bin/x", "");
        assert_eq!(machine.granted(&program), ["tools/bin"]);
        let mut plan = Plan::new("run", "main", Path::new("/"));
        let before = plan.read_only.clone();
        plan.grant_program(Path::new("/bin/sh"), &machine.closed);
        assert_eq!(plan.read_only, before);
    }

    #[test]
    fn folders_of_everybody_are_too_wide() {
        let machine = machine();
        let wide = |path: &str| machine.closed.is_too_wide(Path::new(path));
        for path in [
            "/",
            "/tmp",
            "/var/tmp",
            "/home",
            "/home/ann",
            "/root",
            "/srv",
            "/run/user",
            "/mnt/disk",
        ] {
            assert!(wide(path), "{path}");
        }
        for path in ["/srv/x", "/opt/x/bin", "/var/lib/x"] {
            assert!(!wide(path), "{path}");
        }
    }
}
