//! The line that is typed, with the lines of before.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use anyhow::Context as _;
use openclaw_config::Paths;
use openclaw_terminal::{Failure, output};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Cmd, CompletionType, Config, ExternalPrinter, KeyCode, KeyEvent, Modifiers};
use tokio::task::spawn_blocking;

use super::completion::Completion;
use super::modes::Modes;

/// Lines that are remembered.
const HISTORY: usize = 2000;
/// Where, in the folder of the state.
const HISTORY_FILE: &str = "chat-history";
const PROMPT: &str = "› ";

/// Prints above the line that is typed.
pub(super) type Printer = Box<dyn ExternalPrinter + Send>;

/// What came of a line.
pub(super) enum Typed {
    Text(String),
    /// Ctrl-C, or nothing but blanks.
    Nothing,
    /// Ctrl-D.
    End,
}

/// Edits lines.
pub(super) struct Editor {
    editor: rustyline::Editor<Completion, FileHistory>,
    /// `None`: nothing is remembered.
    history: Option<PathBuf>,
    modes: Modes,
}

impl Editor {
    pub(super) fn open(paths: &Paths) -> Result<Self, Failure> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .context("cannot set up the history")?
            .auto_add_history(true)
            .completion_type(CompletionType::List)
            .bracketed_paste(true)
            .build();
        let mut editor =
            rustyline::Editor::with_config(config).context("cannot use the terminal")?;
        let modes = Modes::default();
        editor.set_helper(Some(Completion::new(modes.clone())));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        let history = history(paths);
        if let Some(path) = &history {
            // What cannot be read is not remembered.
            let _ = editor.load_history(path);
        }
        Ok(Self {
            editor,
            history,
            modes,
        })
    }

    /// What the terminal is set to while a line is edited.
    pub(super) fn modes(&self) -> &Modes {
        &self.modes
    }

    /// The sessions that are completed.
    pub(super) fn knows_sessions(&mut self, sessions: Vec<String>) {
        if let Some(completion) = self.editor.helper_mut() {
            completion.sessions = sessions;
        }
    }

    /// Where the terminal can only print, it prints behind what is typed.
    pub(super) fn printer(&mut self) -> Result<Printer, Failure> {
        if !output::stdout_takes_escapes() {
            return Ok(Box::new(Plain));
        }
        let printer = self.editor.create_external_printer();
        Ok(Box::new(printer.context("cannot use the terminal")?))
    }

    /// The next line.
    pub(super) async fn read(mut self) -> Result<(Self, Typed), Failure> {
        let read = spawn_blocking(move || {
            let line = self.editor.readline(PROMPT);
            self.modes.forget();
            (self, line)
        });
        let (mut editor, line) = read.await.context("cannot read the line")?;
        let typed = match line {
            Ok(line) => {
                editor.remember();
                typed(&line)
            }
            Err(ReadlineError::Interrupted) => Typed::Nothing,
            Err(ReadlineError::Eof) => Typed::End,
            Err(error) => Err(error).context("cannot read what is typed")?,
        };
        Ok((editor, typed))
    }

    fn remember(&mut self) {
        let Some(path) = &self.history else { return };
        if let Err(error) = self.editor.append_history(path) {
            output::stderr_line(&format!(
                "warning: what is typed is not remembered: {error}"
            ));
            self.history = None;
        }
    }
}

/// Prints where the cursor is.
struct Plain;

impl ExternalPrinter for Plain {
    fn print(&mut self, text: String) -> rustyline::Result<()> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }
}

/// The text of a line, whose parts may end in a backslash.
fn typed(line: &str) -> Typed {
    let text = line.replace("\\\n", "\n");
    match text.trim() {
        "" => Typed::Nothing,
        text => Typed::Text(text.to_owned()),
    }
}

/// The file of the history, which only its owner may read: it has what was said.
fn history(paths: &Paths) -> Option<PathBuf> {
    let path = paths.state.join(HISTORY_FILE);
    let made = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path);
    made.ok().map(|_| path)
}
