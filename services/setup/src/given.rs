//! A key that is given beforehand: never as an argument, which every user of the
//! machine could read.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Context as _;
use openclaw_config::Environment;
use openclaw_config::secret::Secret;
use openclaw_terminal::Failure;

use crate::key::Provider;

/// Bytes that are read; a key has fewer.
const LIMIT: u64 = 8 << 10;

/// Where the key is to be taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Input,
    /// A variable of this name.
    Variable(String),
}

/// The key from `source`, and whose it is: `whose`, or what it says itself.
///
/// # Errors
/// When there is none, or nobody says whose it is.
pub fn key(
    source: &Source,
    whose: Option<Provider>,
    environment: &Environment,
) -> Result<(Secret, Provider), Failure> {
    let key = match source {
        Source::Variable(name) => variable(name, environment)?,
        Source::Input => standard_input()?,
    };
    let whose = whose.or_else(|| Provider::of(&key)).ok_or_else(|| {
        Failure::usage("the key does not say whose it is")
            .hint("--provider anthropic, or --provider openai")
    })?;
    Ok((key, whose))
}

fn variable(name: &str, environment: &Environment) -> Result<Secret, Failure> {
    match environment.get(name) {
        Some(value) if !value.trim().is_empty() => Ok(Secret::new(value.trim())),
        _ => Err(Failure::usage(format!(
            "the variable {name} is not set, from which the key was to be taken"
        ))),
    }
}

fn standard_input() -> Result<Secret, Failure> {
    if io::stdin().is_terminal() {
        return Err(
            Failure::usage("standard input is a terminal, where the key would be shown")
                .hint("without --key-stdin the key is asked for, and not shown"),
        );
    }
    let mut text = String::new();
    let input = io::stdin().lock();
    input
        .take(LIMIT)
        .read_to_string(&mut text)
        .context("cannot read the key from standard input")?;
    match text.trim() {
        "" => Err(Failure::usage("there is no key on standard input")),
        key => Ok(Secret::new(key)),
    }
}
