//! `auth add`.

use openclaw_config::Environment;
use openclaw_setup::given::{self, Source};
use openclaw_setup::key;
use openclaw_terminal::{Failure, output, question, secret};

use crate::arguments::Add;

/// Keeps a key that was typed unseen, or that standard input or a variable has.
pub(crate) fn execute(
    arguments: &Add,
    environment: &Environment,
    reload: &dyn Fn(),
) -> Result<(), Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let agent = crate::agent::named(arguments.agent.as_deref(), &settings)?;
    let provider = arguments.provider.provider();
    let source = match &arguments.key.key_variable {
        Some(name) => Some(Source::Variable(name.clone())),
        None => arguments.key.key_stdin.then_some(Source::Input),
    };
    let given = match source {
        Some(source) => given::key(&source, Some(provider), environment)?.0,
        None if question::can_be_asked() => {
            let question = format!("the key of {} (not shown): ", provider.title());
            secret::ask(&question)?.ok_or_else(|| Failure::new("no key was given"))?
        }
        None => {
            return Err(Failure::undecided("nobody can be asked for the key: standard input is no terminal")
                .hint("give it with --key-stdin or --key-variable NAME; never as an argument, which others can read"));
        }
    };
    let wanted = key::Wanted {
        paths: &settings.paths,
        agent_id: &agent,
        environment,
        replace: arguments.replace,
        plain: arguments.plain,
    };
    let kept = key::keep(&given, provider, wanted).map_err(|error| match error {
        key::Error::Other(_) => {
            Failure::from(anyhow::Error::from(error)).hint("--replace puts this one in its place")
        }
        error => anyhow::Error::from(error).into(),
    })?;
    let (id, title) = (key::id(provider), provider.title());
    output::stdout_line(&if kept.changed {
        let place = output::line(&kept.words());
        format!("kept the key of {title} for {agent}, as {id}, in {place}")
    } else {
        format!("{agent} has this key already, as {id}")
    })?;
    if kept.changed {
        reload();
    }
    Ok(())
}
