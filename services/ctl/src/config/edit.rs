//! `config edit`: the user's editor on a copy, which is taken over when it is
//! valid.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use openclaw_config::{Environment, Error, Paths, write};
use openclaw_settings::file::{File, Problems};
use openclaw_terminal::failure::{CONFIG, Failure};
use openclaw_terminal::{output, question};

use super::change::{self, Change};
use super::report;

/// What there is to begin with.
const TEMPLATE: &str = "{\n  // openclawctl config schema lists what can be set\n}\n";

/// Opens the editor until the text is valid or given up.
pub(super) fn execute(paths: &Paths, environment: &Environment) -> Result<ExitCode, Failure> {
    let editor = editor(environment)?;
    // Nobody else has to wait while somebody types.
    let before = File::open(paths)?.text().to_owned();
    let folder = paths.configuration.parent().unwrap_or(Path::new("."));
    let copy = tempfile::Builder::new()
        .prefix(".openclaw.")
        .suffix(".json5")
        .tempfile_in(folder)
        .with_context(|| format!("cannot make a file in {}", folder.display()))?
        .into_temp_path();
    let begin = if before.is_empty() { TEMPLATE } else { &before };
    let written = write::atomic(&copy, begin.as_bytes());
    written.with_context(|| format!("cannot write {}", copy.display()))?;
    loop {
        open(&editor, &copy)?;
        let text =
            fs::read_to_string(&copy).with_context(|| format!("cannot read {}", copy.display()))?;
        if text == begin {
            output::stdout_line("nothing was changed")?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut file = File::open(paths)?;
        if file.text() != before {
            let kept = copy.keep().context("cannot keep the edited text")?;
            let file = paths.configuration.display();
            return Err(
                Failure::new(format!("{file} was changed by somebody else meanwhile"))
                    .hint(format!("your text is in {}", kept.display())),
            );
        }
        match checked(&mut file, text.clone(), environment) {
            Ok(problems) if problems.new.is_empty() => {
                let done = format!("changed {}", file.path().display());
                let change = Change::between(&before, &text, paths, environment);
                change::finish(file, change, false, &done)?;
                return Ok(ExitCode::SUCCESS);
            }
            Ok(problems) => report::print("error", &problems.new),
            Err(error) => output::stderr_line(&format!("error: {error}")),
        }
        drop(file);
        if !again()? {
            let kept = copy.keep().context("cannot keep the edited text")?;
            let file = paths.configuration.display();
            output::stderr_line(&format!(
                "hint: {file} was not changed; your text is in {}",
                kept.display()
            ));
            return Ok(ExitCode::from(CONFIG));
        }
    }
}

fn checked(file: &mut File, text: String, environment: &Environment) -> Result<Problems, Error> {
    file.replace(text)?;
    file.problems(environment)
}

fn editor(environment: &Environment) -> Result<String, Failure> {
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| environment.get(name));
    let found = || {
        ["editor", "nano", "vi"]
            .into_iter()
            .find(|name| openclaw_config::programs::on_path(name, environment).is_some())
    };
    named
        .or_else(found)
        .map(str::to_owned)
        .ok_or_else(|| Failure::usage("no editor was found; set EDITOR"))
}

/// The variable may hold arguments, so a shell takes it apart, as git does.
#[expect(
    clippy::disallowed_methods,
    reason = "the editor that the user chose, in the user's own terminal"
)]
fn open(editor: &str, file: &Path) -> Result<(), Failure> {
    let status = Command::new("/bin/sh")
        .args(["-c", &format!("{editor} \"$1\""), "editor"])
        .arg(file)
        .status()
        .with_context(|| format!("cannot run the editor {editor}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(
            Failure::new(format!("the editor {editor} failed ({status})"))
                .hint("nothing was changed"),
        )
    }
}

/// Whether the user wants to go on editing.
fn again() -> Result<bool, Failure> {
    if !question::can_be_asked() {
        return Ok(false);
    }
    let answer = question::ask("edit again? [Y/n] ")?;
    Ok(answer.is_some_and(|answer| !answer.starts_with('n')))
}
