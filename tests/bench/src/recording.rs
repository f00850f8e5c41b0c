//! How the agent-runner starts the Claude Code CLI, written down by a script that it starts instead.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::plain::Plain;

/// Writes its arguments, environment, input and the turn's files into the agent's home.
const SCRIPT: &str = "#!/bin/sh
out=$HOME/recording
mkdir -p \"$out\"
printf '%s\\0' \"$@\" >\"$out/arguments\"
env -0 >\"$out/environment\"
cat >\"$out/input\"
for file in \"${CLAUDE_CONFIG_DIR%/cli}\"/given/*; do if [ -f \"$file\" ]; then cp \"$file\" \"$out\"; fi; done
exit 1
";

/// Makes the script in a new `folder`, which is granted to the agent; returns its path.
pub(crate) fn recorder(folder: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join("claude");
    // Closed before it is executed: a program open for writing cannot be (ETXTBSY).
    let mut file = fs::File::create(&path).context("cannot make the recorder")?;
    file.write_all(SCRIPT.as_bytes())?;
    file.set_permissions(Permissions::from_mode(0o755))?;
    Ok(path)
}

/// Reads what was recorded in the agent's home `recorded`, and moves it from there and from the
/// workspace `workspace` into `folder`.
pub(crate) fn read_back(
    program: &Path,
    recorded: &Path,
    workspace: &Path,
    folder: &Path,
) -> anyhow::Result<Plain> {
    let recording = recorded.join("recording");
    let environment = pairs(&read(&recording.join("environment"))?);
    let arguments = words(&read(&recording.join("arguments"))?);
    let value = |wanted: &str| -> anyhow::Result<&str> {
        let found = environment.iter().find(|(name, _)| name == wanted);
        let (_, value) = found.with_context(|| format!("the CLI got no {wanted}"))?;
        Ok(value)
    };
    let turn = value("CLAUDE_CONFIG_DIR")?.strip_suffix("/cli");
    let turn = turn.context("CLAUDE_CONFIG_DIR is not in the turn's folder")?;
    let moved = Moved::make(folder, recorded, workspace, (value("TMPDIR")?, turn))?;
    for file in fs::read_dir(&recording)?.flatten() {
        let text = moved.text(&read(&file.path())?);
        fs::write(folder.join("turn/given").join(file.file_name()), text)?;
    }
    let mut names = arguments.iter().skip_while(|word| *word != "--session-id");
    let session = names.nth(1).context("the CLI got no --session-id")?.clone();
    Ok(Plain {
        program: program.to_owned(),
        arguments: arguments.iter().map(|word| moved.text(word)).collect(),
        environment: environment
            .into_iter()
            .map(|(name, value)| (name, moved.text(&value)))
            .collect(),
        input: moved.text(&read(&recording.join("input"))?),
        workspace: folder.join("workspace"),
        session,
    })
}

/// From the runner's folders to those of the plain runs.
struct Moved([(String, String); 4]);

impl Moved {
    fn make(
        folder: &Path,
        home: &Path,
        workspace: &Path,
        (temporary, turn): (&str, &str),
    ) -> anyhow::Result<Self> {
        let target = |name: &str| folder.join(name);
        for name in ["home", "workspace", "tmp", "turn/given", "turn/cli"] {
            fs::create_dir_all(target(name))
                .with_context(|| format!("cannot make {}", target(name).display()))?;
        }
        let shown = |path: &Path| path.display().to_string();
        Ok(Self([
            (temporary.to_owned(), shown(&target("tmp"))),
            (turn.to_owned(), shown(&target("turn"))),
            (shown(home), shown(&target("home"))),
            (shown(workspace), shown(&target("workspace"))),
        ]))
    }

    fn text(&self, text: &str) -> String {
        let moved = |text: String, (from, to): &(String, String)| text.replace(from, to);
        self.0.iter().fold(text.to_owned(), moved)
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// What stands before each NUL.
fn words(text: &str) -> Vec<String> {
    text.split_terminator('\0').map(str::to_owned).collect()
}

fn pairs(text: &str) -> Vec<(String, String)> {
    let words = words(text).into_iter();
    words
        .filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "runs the recorder itself, as the runner would"
    )]
    fn recorder_writes_down_how_it_was_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home", "tmp", "turn/given"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        let given = format!("in {}", path("turn").display());
        fs::write(path("turn/given/mcp.json"), given).unwrap();
        let status = std::process::Command::new(recorder(&path("bin")).unwrap())
            .env("HOME", path("home"))
            .env("TMPDIR", path("tmp"))
            .env("CLAUDE_CONFIG_DIR", path("turn/cli"))
            .args(["--session-id", "one two", ""])
            .stdin(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1));

        let plain =
            read_back(Path::new("c"), &path("home"), &path("work"), &path("plain")).unwrap();
        assert_eq!(plain.arguments, ["--session-id", "one two", ""]);
        assert_eq!(plain.session, "one two");
        let home = ("HOME".to_owned(), path("plain/home").display().to_string());
        assert!(plain.environment.contains(&home), "{:?}", plain.environment);
        let copied = fs::read_to_string(path("plain/turn/given/mcp.json")).unwrap();
        assert_eq!(copied, format!("in {}", path("plain/turn").display()));
    }
}
