//! What is asked at a terminal.

use openclaw_terminal::{Failure, output, question};

use crate::Person;

/// Asks, unless everything is agreed to.
#[derive(Debug)]
pub struct Asking {
    /// Whether everything is agreed to, and nothing asked.
    pub agrees: bool,
}

impl Person for Asking {
    fn agrees(&mut self, text: &str) -> bool {
        if self.agrees {
            return true;
        }
        // Who cannot be heard has not agreed.
        let answer = question::ask(&format!("{text} [Y/n] ")).unwrap_or_default();
        answer.is_some_and(|answer| ["", "y", "yes"].contains(&answer.as_str()))
    }
}

/// Which of `choices` somebody takes; `None`: none of them.
pub(crate) fn choice(text: &str, choices: &[String]) -> Result<Option<usize>, Failure> {
    output::stderr_line(text);
    for (index, choice) in choices.iter().enumerate() {
        output::stderr_line(&format!("  {}  {}", index + 1, output::line(choice)));
    }
    loop {
        let Some(answer) = question::ask(&format!("1 to {}, or nothing: ", choices.len()))? else {
            return Ok(None);
        };
        match answer.parse() {
            Ok(number) if (1..=choices.len()).contains(&number) => return Ok(Some(number - 1)),
            _ if answer.is_empty() => return Ok(None),
            _ => output::stderr_line("that is none of them"),
        }
    }
}
