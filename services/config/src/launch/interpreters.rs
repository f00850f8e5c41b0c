//! Programs that run what they are told: which of their arguments say what that is.

/// A kind of them.
#[derive(Debug)]
pub(super) struct Interpreter {
    /// What they are called, without a version.
    names: &'static [&'static str],
    /// Words before the program that are no program.
    commands: &'static [&'static str],
    /// Options that take the next argument.
    valued: &'static [&'static str],
    /// Options whose value is the text of a program.
    inline: &'static [&'static str],
    /// Options whose value names a program that is no path.
    module: &'static [&'static str],
    /// Whether the program is a file, and no package that is looked for elsewhere.
    pub(super) runs_files: bool,
    /// Whether it obeys what lies in any folder that it is told of.
    pub(super) obeys: bool,
}

const ALL: [Interpreter; 11] = [
    Interpreter {
        names: &["python", "pypy"],
        commands: &[],
        valued: &["-W", "-X", "-Q", "--check-hash-based-pycs"],
        inline: &["-c"],
        module: &["-m"],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["node", "nodejs", "tsx", "ts-node"],
        commands: &["watch"],
        valued: &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--env-file",
            "--env-file-if-exists",
            "-C",
            "--conditions",
            "--title",
            "--input-type",
            "-P",
            "--project",
            "--tsconfig",
            "--cwd",
        ],
        inline: &["-e", "--eval", "-p", "--print", "-pe"],
        module: &[],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["deno", "bun"],
        commands: &["run", "serve", "task", "eval", "x"],
        valued: &[
            "-c",
            "--config",
            "--import-map",
            "--lock",
            "--cert",
            "-r",
            "--preload",
            "--cwd",
            "--env-file",
            "--tsconfig-override",
        ],
        inline: &["-e", "--eval", "-p", "--print"],
        module: &[],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["perl", "ruby"],
        commands: &[],
        valued: &["-I", "-r", "-C"],
        inline: &["-e", "-E"],
        module: &["-S"],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["php", "lua", "Rscript"],
        commands: &[],
        valued: &["-d", "-z", "-t", "-l"],
        inline: &["-r", "-e"],
        module: &[],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"],
        commands: &["sh", "ash"],
        valued: &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        inline: &["-c", "-lc", "-ic", "-ec"],
        module: &[],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["java"],
        commands: &[],
        valued: &["-cp", "-classpath", "--class-path", "-p", "--module-path"],
        inline: &[],
        module: &["-m", "--module"],
        runs_files: true,
        obeys: false,
    },
    Interpreter {
        names: &["uv", "uvx", "pipx", "poetry", "pdm", "hatch"],
        commands: &["run", "tool"],
        valued: &[
            "--directory",
            "--project",
            "--with",
            "--with-editable",
            "--with-requirements",
            "--from",
            "--spec",
            "-p",
            "--python",
            "--env-file",
            "--cache-dir",
            "--config-file",
            "--extra",
            "--group",
            "--index",
            "--default-index",
            "--index-url",
            "--extra-index-url",
            "-C",
            "-w",
        ],
        inline: &[],
        module: &["-m", "--module"],
        runs_files: false,
        obeys: false,
    },
    Interpreter {
        names: &["npx", "npm", "pnpm", "pnpx", "yarn", "bunx"],
        commands: &["run", "run-script", "start", "exec", "dlx", "x", "test"],
        valued: &[
            "-p",
            "--package",
            "--prefix",
            "--cache",
            "-w",
            "--workspace",
            "--userconfig",
            "--globalconfig",
            "--registry",
            "--loglevel",
            "-C",
            "--dir",
            "--cwd",
        ],
        inline: &["-c", "--call"],
        module: &[],
        runs_files: false,
        obeys: false,
    },
    Interpreter {
        names: &[
            "env", "nohup", "setsid", "nice", "ionice", "stdbuf", "xvfb-run", "sudo", "time",
        ],
        commands: &[],
        valued: &["-u", "--unset", "-C", "--chdir", "-n"],
        inline: &[],
        module: &[],
        runs_files: false,
        obeys: false,
    },
    Interpreter {
        names: &[
            "make",
            "gmake",
            "cmake",
            "ninja",
            "meson",
            "just",
            "task",
            "cargo",
            "go",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "ant",
            "sbt",
            "dotnet",
            "docker",
            "docker-compose",
            "podman",
            "podman-compose",
            "rake",
            "bundle",
            "composer",
            "invoke",
            "tox",
            "nox",
            "mise",
            "nix",
            "nix-shell",
            "bazel",
            "awk",
            "gawk",
            "mawk",
            "sed",
            "direnv",
            "flock",
            "parallel",
            "xargs",
            "watchexec",
            "entr",
        ],
        commands: &[],
        valued: &[],
        inline: &[],
        module: &[],
        runs_files: false,
        obeys: true,
    },
];

/// What an argument before the program is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A word of the interpreter's own.
    Command,
    /// An option, which may have a value in itself.
    Option,
    /// An option whose value is the next argument.
    Valued,
    /// The next argument is a program's text, and the last that the interpreter reads.
    Inline,
    /// The next argument names a program that is looked for, and is the last.
    Module,
    /// The program, unless it is the value of an option that is not known here.
    Program,
}

impl Interpreter {
    /// What is called `name`, whatever its version (`python3.13`).
    pub(super) fn called(name: &str) -> Option<&'static Self> {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let is = |it: &&Self| it.names.contains(&plain);
        ALL.iter().find(is)
    }

    pub(super) fn role(&self, argument: &str) -> Role {
        let is = |list: &[&str]| list.contains(&argument);
        if is(self.inline) {
            Role::Inline
        } else if is(self.module) {
            Role::Module
        } else if is(self.valued) {
            Role::Valued
        } else if argument.starts_with(['-', '+']) {
            Role::Option
        } else if is(self.commands) {
            Role::Command
        } else {
            Role::Program
        }
    }
}
