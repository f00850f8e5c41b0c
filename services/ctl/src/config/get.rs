//! `config get`.

use std::process::ExitCode;

use openclaw_config::cover::Cover;
use openclaw_config::pipeline::alias;
use openclaw_config::schema::Schema;
use openclaw_config::substitute::Missing;
use openclaw_config::{Environment, KeyPath, Paths, redact};
use openclaw_settings::defaults;
use openclaw_settings::document;
use openclaw_terminal::{Failure, output};
use serde_json::Value;

use super::{held, key};
use crate::cli::config::Get;
use crate::run;

/// Prints the value.
pub(super) fn execute(
    arguments: &Get,
    paths: &Paths,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let path = match &arguments.key {
        Some(text) => key(text)?,
        None => KeyPath::default(),
    };
    let environment = &run::environment(paths, environment);
    let document = document::load(&paths.configuration, environment, Missing::KeptForOwner)?;
    let document = if arguments.file {
        document.written
    } else {
        defaults::apply(document.value, paths)
    };
    // What a value is shows what stands around it, and a secret is one wherever it stands.
    let shown = if arguments.show_secrets {
        document
    } else {
        Cover::of(&document).shown(&KeyPath::default(), &document)
    };
    let Some(value) = alias::get(&path, &shown) else {
        return Err(not_set(&path, paths));
    };
    match (&value, arguments.json) {
        (Value::String(text), false) => output::stdout_line(text)?,
        _ => output::document(&value)?,
    }
    if !arguments.file && arguments.key.is_some() {
        held::hint(&path, paths, environment);
    }
    if value.as_str() == Some(redact::REDACTED) {
        output::stderr_line("hint: --show-secrets shows it");
    }
    Ok(ExitCode::SUCCESS)
}

fn not_set(path: &KeyPath, paths: &Paths) -> Failure {
    let schema = Schema::shipped();
    match schema.at(path) {
        Some(_) => Failure::new(format!("{path} is not set"))
            .hint(format!("openclawctl config set {path} VALUE")),
        None => Failure::new(schema.unknown(path).to_string())
            .hint(format!("{} cannot have it", paths.configuration.display())),
    }
}
