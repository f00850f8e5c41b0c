//! Whether an agent could have chosen what a program of the configuration runs: its program, its
//! script, where it starts, or what its variables have it load lies where agents write.

mod interpreters;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use interpreters::{Interpreter, Role};
use written::Written;

pub use written::real;

use crate::programs;

/// How names of program texts end, whatever they are run by.
const SCRIPTS: [&str; 16] = [
    "py", "pyc", "pyz", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "rb", "pl", "sh",
    "jar", "lua",
];
/// Variables that name what is run or loaded, or where it is looked for.
const SEARCHED: [&str; 31] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "VIRTUAL_ENV",
    "NODE_PATH",
    "NODE_OPTIONS",
    "DENO_DIR",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "RUBYLIB",
    "RUBYOPT",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_GEMFILE",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_PATH",
    "LUA_CPATH",
    "CARGO_HOME",
];
/// Prefixes of variables that configure programs which fetch others.
const FETCHERS: [&str; 4] = ["NPM_CONFIG_", "UV_", "PIP_", "GIT_"];
/// Options that permit an interpreter's program something, and have it run nothing.
const PERMISSIONS: [&str; 2] = ["--allow-", "--deny-"];
/// Bytes of a script's first line that the kernel reads (`BINPRM_BUF_SIZE`).
const FIRST_LINE: u64 = 256;

/// A program as it is to be started.
#[derive(Debug)]
pub struct Launch<'a> {
    /// A path, or a name that is looked for.
    pub command: &'a str,
    /// Where names are looked for: folders with `:` between them.
    pub path: &'a str,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Its variables, as the configuration has them.
    pub variables: &'a BTreeMap<String, String>,
    /// Where it is to start; `None`: in its home.
    pub folder: Option<&'a Path>,
    /// A folder of its own.
    pub home: &'a Path,
}

/// What of a program an agent could have chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Which part of it.
    pub part: Part,
    /// What is said there.
    pub said: String,
    /// The folder that it lies in, where agents write.
    pub place: PathBuf,
}

/// A part of a [`Launch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The program or its interpreter.
    Command,
    /// An argument.
    Argument,
    /// Where it starts.
    Folder,
    /// The variable of this name.
    Variable(String),
    /// Its home.
    Home,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (said, place) = (&self.said, self.place.display());
        match &self.part {
            Part::Command => write!(f, "its program {said:?}"),
            Part::Argument => write!(f, "its argument {said:?}"),
            Part::Folder => write!(f, "the folder {said:?}, in which it starts,"),
            // Its value may be a secret.
            Part::Variable(name) => write!(f, "what its variable {name} names"),
            Part::Home => write!(f, "its own folder {said:?}"),
        }?;
        write!(f, " lies in {place}, where agents write")
    }
}

impl Launch<'_> {
    /// What of it an agent could have chosen that writes in `folders`; the first that is found.
    /// A folder or a file of data that it is told of as an argument is none.
    pub fn chosen<'a>(&self, folders: impl IntoIterator<Item = &'a Path>) -> Option<Chosen> {
        let folders: Vec<&Path> = folders.into_iter().collect();
        let written = Written::new(folders.iter().copied());
        let look = Look {
            launch: self,
            written: &written,
        };
        look.command()
            .or_else(|| look.arguments(self.command, self.arguments))
            .or_else(|| look.folder())
            .or_else(|| {
                let mut variables = self.variables.iter();
                variables.find_map(|(name, value)| look.variable(name, value))
            })
            .or_else(|| self.chosen_home(&folders))
    }

    /// Its home is where servers write, and is its own: nobody else is to write it.
    fn chosen_home(&self, folders: &[&Path]) -> Option<Chosen> {
        let of_servers = self.home.parent();
        let others = folders.iter().filter(|it| Some(**it) != of_servers);
        let place = Written::new(others.copied()).on_the_way_to(self.home)?;
        Some(chosen(Part::Home, self.home.display(), place))
    }

    /// Paths that it is granted as an argument: files, not folders.
    fn argument_files(&self) -> impl Iterator<Item = &Path> {
        let paths = self.arguments.iter().map(Path::new);
        paths.filter(|path| path.is_absolute() && path.is_file())
    }
}

/// What a launch is given.
#[derive(Debug)]
pub struct Gifts<'a> {
    /// Whether it has a network.
    pub network: bool,
    /// The paths that it is granted beside those of its arguments and its folder.
    pub paths: Vec<&'a Path>,
    /// The folders that its agent has itself.
    pub of_agent: Vec<&'a Path>,
}

/// A launch of which an agent could have chosen what it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    /// How.
    pub chosen: Chosen,
    /// What it is given that the agent has not.
    given: Vec<String>,
}

impl Planted {
    /// Whether it is given what the agent has not. It is not to be started then.
    pub fn is_given_more(&self) -> bool {
        !self.given.is_empty()
    }
}

impl fmt::Display for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chosen, given) = (&self.chosen, self.given.join(" and "));
        write!(
            f,
            "an agent could choose what it runs: {chosen}, and it is given {given}; move it to a \
             folder where no agent writes, or take away what it is given"
        )
    }
}

impl Launch<'_> {
    /// How an agent could have chosen what it runs, and what it would have of that. Names of
    /// variables are said, and none of their values.
    pub fn planted<'a>(
        &self,
        folders: impl IntoIterator<Item = &'a Path>,
        gifts: &Gifts<'_>,
    ) -> Option<Planted> {
        let chosen = self.chosen(folders)?;
        let given = self.given(gifts);
        Some(Planted { chosen, given })
    }

    /// What it is given that its agent has not.
    fn given(&self, gifts: &Gifts<'_>) -> Vec<String> {
        let names: Vec<&str> = self.variables.keys().map(String::as_str).collect();
        let variables = (!names.is_empty()).then(|| format!("variables ({})", names.join(", ")));
        let network = gifts.network.then(|| "a network".to_owned());
        let of_agent = |path: &Path| lies_in(path, gifts.of_agent.iter().copied());
        let paths = gifts.paths.iter().copied().chain(self.folder);
        let paths = paths.chain(self.argument_files());
        let more: Vec<String> = paths
            .filter(|path| !of_agent(path))
            .map(|path| path.display().to_string())
            .collect();
        let paths = (!more.is_empty()).then(|| format!("paths ({})", more.join(", ")));
        [variables, network, paths].into_iter().flatten().collect()
    }

    /// Whether it is given what its agent has not, and sees one of `folders`, in which agents
    /// write: what it reads there could steer it, as a repository does git.
    pub fn is_among<'a>(
        &self,
        folders: impl IntoIterator<Item = &'a Path>,
        gifts: &Gifts<'_>,
    ) -> bool {
        let seen = gifts.paths.iter().copied().chain(self.folder);
        let seen: Vec<PathBuf> = seen.map(real).collect();
        let mut folders = folders.into_iter().map(real);
        let is_seen = |folder: &Path| {
            let mut seen = seen.iter();
            seen.any(|path| path.starts_with(folder) || folder.starts_with(path))
        };
        !self.given(gifts).is_empty() && folders.any(|folder| is_seen(&folder))
    }
}

/// Whether `path` lies in one of `folders`, links resolved.
fn lies_in<'a>(path: &Path, folders: impl IntoIterator<Item = &'a Path>) -> bool {
    let path = real(path);
    let mut folders = folders.into_iter();
    folders.any(|folder| path.starts_with(real(folder)))
}

fn chosen(part: Part, said: impl fmt::Display, place: &Path) -> Chosen {
    Chosen {
        part,
        said: said.to_string(),
        place: place.to_owned(),
    }
}

/// One look at a launch.
struct Look<'a, 'w> {
    launch: &'a Launch<'a>,
    written: &'a Written<'w>,
}

impl Look<'_, '_> {
    /// The program, the folders in which it is looked for, and what its first line names.
    fn command(&self) -> Option<Chosen> {
        let command = self.launch.command;
        let part = |place: &Path| chosen(Part::Command, command, place);
        for candidate in self.candidates(command) {
            if let Some(place) = self.written.on_the_way_to(&candidate) {
                return Some(part(place));
            }
            if !programs::is_program(&candidate) {
                continue;
            }
            let first = first_line(&candidate).unwrap_or_default();
            let words = first.strip_prefix("#!")?;
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let (interpreter, arguments) = words.split_first()?;
            if let Some(place) = self.written.on_the_way_to(&self.absolute(interpreter)) {
                return Some(part(place));
            }
            let found = self.arguments(interpreter, arguments);
            return found.map(|found| part(&found.place));
        }
        None
    }

    /// The paths at which a command is looked for, in their order.
    fn candidates(&self, command: &str) -> Vec<PathBuf> {
        if command.contains('/') {
            return vec![self.absolute(command)];
        }
        let folders = self.launch.path.split(':').map(Path::new);
        let folders = folders.filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(command)).collect()
    }

    /// What the arguments of `command` have it run, and every file among them that is a program.
    fn arguments(&self, command: &str, arguments: &[String]) -> Option<Chosen> {
        let head = self.head(command, arguments);
        head.or_else(|| {
            let mut files = arguments.iter();
            files.find_map(|it| self.program_file(Part::Argument, it))
        })
    }

    /// What an interpreter reads itself: its options, and the program.
    fn head(&self, command: &str, arguments: &[String]) -> Option<Chosen> {
        let Some(interpreter) = self.interpreter(command) else {
            return self.wrapped(arguments);
        };
        if interpreter.obeys {
            let mut words = arguments.iter();
            return words.find_map(|word| self.loaded(word).or_else(|| self.option(word, true)));
        }
        let (mut rest, mut before) = (arguments.iter(), Role::Command);
        while let Some(argument) = rest.next() {
            let role = interpreter.role(argument);
            match role {
                Role::Command => {}
                Role::Option => {
                    if let Some(found) = self.option(argument, interpreter.obeys) {
                        return Some(found);
                    }
                }
                Role::Valued => {
                    if let Some(found) = rest.next().and_then(|value| self.loaded(value)) {
                        return Some(found);
                    }
                }
                // The words behind it are its own, to be run too.
                Role::Inline => {
                    let text = rest.next()?;
                    let mut words = rest;
                    return self
                        .program(text)
                        .or_else(|| words.find_map(|word| self.loaded(word)));
                }
                Role::Module => return None,
                Role::Program => {
                    if let Some((name, value)) = assignment(argument) {
                        if let Some(found) = self.variable(name, value) {
                            return Some(found);
                        }
                        continue;
                    }
                    if let Some(found) = self.loaded(argument).or_else(|| self.text(argument)) {
                        return Some(found);
                    }
                    // It may be the value of the option before it.
                    let is_value = before == Role::Option
                        && interpreter.runs_files
                        && !argument.contains(':')
                        && !self.absolute(argument).exists();
                    if !is_value {
                        return self.head(argument, rest.as_slice());
                    }
                }
            }
            before = role;
        }
        None
    }

    /// A program that is not known may run another one, which its arguments name (`timeout 60 sh
    /// FILE`).
    fn wrapped(&self, arguments: &[String]) -> Option<Chosen> {
        let is_interpreter = |word: &String| {
            let name = word.rsplit('/').next().and_then(Interpreter::called);
            // A folder of data may be called like one.
            let is_program = !word.contains('/') || programs::is_program(&self.absolute(word));
            name.is_some() && is_program
        };
        let at = arguments.iter().position(is_interpreter)?;
        let (command, rest) = arguments[at..].split_first()?;
        self.head(command, rest)
    }

    /// The text of a program: it names where agents write, or goes there from where it starts.
    fn program(&self, text: &str) -> Option<Chosen> {
        let ups = text.matches("..").count();
        let start = self.launch.folder.unwrap_or(self.launch.home);
        let top = start.ancestors().nth(ups).unwrap_or(Path::new("/"));
        let around = self.written.named_around(text);
        let around = around.or_else(|| self.written.below(top).filter(|_| ups > 0));
        let around = around.map(|place| chosen(Part::Argument, text, place));
        self.text(text).or(around)
    }

    /// The interpreter that a command is, by its name or by that of what it is a link to.
    fn interpreter(&self, command: &str) -> Option<&'static Interpreter> {
        let name = command.rsplit('/').next().unwrap_or_default();
        Interpreter::called(name).or_else(|| {
            let mut candidates = self.candidates(command).into_iter();
            let file = real(&candidates.find(|it| programs::is_program(it))?);
            Interpreter::called(file.file_name()?.to_str()?)
        })
    }

    /// An option with a value in itself (`--import=FILE`, `-IFOLDER`, `-javaagent:FILE`).
    fn option(&self, option: &str, obeys: bool) -> Option<Chosen> {
        if !obeys && PERMISSIONS.iter().any(|it| option.starts_with(it)) {
            return None;
        }
        let after = |mark| option.split_once(mark).map(|(_, value)| value);
        let is_short = !option.starts_with("--");
        let attached = option
            .get(2..)
            .filter(|value| is_short && value.contains('/'));
        let path = option.find('/').map(|at| &option[at..]);
        let values = [after('='), after(':'), attached, path];
        values
            .into_iter()
            .flatten()
            .find_map(|value| self.loaded(value))
    }

    /// What an interpreter loads: a file or a folder. A word that is no path is a package's name,
    /// unless it lies where the program starts.
    fn loaded(&self, argument: &str) -> Option<Chosen> {
        let mut paths = argument.split(':').filter(|it| !it.is_empty());
        paths.find_map(|text| {
            let path = self.absolute(text);
            let is_path = text.starts_with(['/', '.']) || is_script(&path) || path.is_file();
            let place = self.written.on_the_way_to(&path).filter(|_| is_path)?;
            Some(chosen(Part::Argument, argument, place))
        })
    }

    /// The text of a program.
    fn text(&self, text: &str) -> Option<Chosen> {
        let place = self.written.named_in(text)?;
        Some(chosen(Part::Argument, text, place))
    }

    /// A file that is a program, by its name, its mode or its first line; also as `--option=FILE`.
    fn program_file(&self, part: Part, text: &str) -> Option<Chosen> {
        let value = text.split_once('=').map(|(_, value)| value);
        [Some(text), value].into_iter().flatten().find_map(|it| {
            let path = self.absolute(it);
            let place = self.written.on_the_way_to(&path)?;
            is_program_text(&path).then(|| chosen(part.clone(), text, place))
        })
    }

    fn folder(&self) -> Option<Chosen> {
        let folder = self.launch.folder?;
        let place = self.written.on_the_way_to(folder)?;
        Some(chosen(Part::Folder, folder.display(), place))
    }

    /// A variable that names what is loaded; of the others one that names a program.
    fn variable(&self, name: &str, value: &str) -> Option<Chosen> {
        let part = Part::Variable(name.to_owned());
        let upper = name.to_uppercase();
        let is_searched =
            SEARCHED.contains(&name) || FETCHERS.iter().any(|it| upper.starts_with(it));
        let separators = |c: char| c == ':' || c == '=' || c == ';' || c.is_whitespace();
        let pieces = value.split(':').chain(value.split(separators));
        let mut pieces = pieces.filter(|piece| is_searched && !piece.is_empty());
        let found = pieces.find_map(|piece| {
            let path = self.absolute(piece);
            // A relative one that is not there is a setting's value.
            let counts = piece.starts_with(['/', '.']) || path.exists();
            self.written.on_the_way_to(&path).filter(|_| counts)
        });
        match found {
            Some(place) => Some(chosen(part, "", place)),
            None => self.program_file(part, value),
        }
    }

    /// A path seen from where the program starts.
    fn absolute(&self, text: &str) -> PathBuf {
        let text = text.strip_prefix("file://").unwrap_or(text);
        let folder = self.launch.folder.unwrap_or(self.launch.home);
        folder.join(text)
    }
}

/// `NAME=value`.
fn assignment(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_name).then_some((name, value))
}

/// Whether it is called like a program's text.
fn is_script(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| SCRIPTS.contains(&it.to_ascii_lowercase().as_str()))
}

/// Whether it is a program, or called like one where there is nothing yet.
fn is_program_text(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return is_script(path);
    };
    let is_executable = metadata.permissions().mode() & 0o111 != 0;
    let has_line = || first_line(path).is_some_and(|line| line.starts_with("#!"));
    metadata.is_file() && (is_script(path) || is_executable || has_line())
}

/// The first line of a regular file. An agent may put anything in its place: a FIFO is not waited
/// for.
fn first_line(path: &Path) -> Option<String> {
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY);
    let file = options.open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut start = Vec::new();
    file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests;
