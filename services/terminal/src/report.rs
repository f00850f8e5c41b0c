//! How a failure is told.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output;

impl Failure {
    /// Prints it and returns the exit code.
    pub fn report(self) -> ExitCode {
        if self.error.is_some() {
            // Further lines stand below the first: what somebody else said
            // does not pass for a line of ours.
            let text = self.text();
            let lines: Vec<String> = text.split('\n').map(output::line).collect();
            output::stderr_words(&format!("error: {}", lines.join("\n  ")));
        }
        if let Some(hint) = &self.hint {
            output::stderr_words(&format!("hint: {}", output::line(hint)));
        }
        ExitCode::from(self.exit)
    }
}
