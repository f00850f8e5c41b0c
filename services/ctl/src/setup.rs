//! `setup`: from an installed suite to a first answer. What is done is in
//! `openclaw-setup`; here is the order, what is asked, and what is shown.

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_credentials::login::Login;
use openclaw_settings::Settings;
use openclaw_setup::asking::Asking;
use openclaw_setup::given::{self, Source};
use openclaw_setup::machine::Machine;
use openclaw_setup::model::{Answering, Connection, Suite, Wish};
use openclaw_setup::{State, Step};
use openclaw_terminal::{Failure, output, question};

use crate::cli::{self, setup::Setup};
use openclaw_connection as connection;
use openclaw_status as status;

use crate::message;
use openclaw_login::{Action, Adopt, Auth};

/// Carries the steps out, one after the other; a step that fails keeps none of
/// the others from being tried.
pub(crate) fn execute(arguments: &Setup, environment: &Environment) -> Result<ExitCode, Failure> {
    if !arguments.yes && !question::can_be_asked() {
        return Err(
            Failure::usage("nobody can be asked: standard input is no terminal")
                .hint("run it in a terminal, or with --yes to be asked nothing"),
        );
    }
    let wish = wish(arguments, environment)?;
    let settings = openclaw_settings::load(environment)?;
    let paths = &settings.paths;
    let machine = Machine::new(environment, paths.home.as_deref());
    let mut asking = Asking {
        agrees: arguments.yes,
    };

    let program = openclaw_config::programs::own().map_err(anyhow::Error::from)?;
    show(&machine.path(&program, &mut asking))?;
    show(&machine.linger(&mut asking))?;
    show(&machine.bus())?;
    let answers = || -> Result<bool, Failure> {
        let suite = connection::runtime()?.block_on(status::ask_started(paths));
        Ok(suite.answers())
    };
    let units = machine.units(answers()?);
    let is_running = units.state != State::Failed;
    show(&units)?;
    if !is_running {
        let nothing = "nothing answers";
        for name in ["model", "message"] {
            show(&Step::failed(name, nothing, connection::START))?;
        }
        return Ok(ExitCode::FAILURE);
    }
    let running = Running {
        settings: &settings,
        environment,
        machine: &machine,
    };
    let connection = Connection::new(&wish, &settings, environment, &running)?;
    let model = connection.make()?;
    show(&model)?;
    show(&channels())?;
    let code = first_message(&arguments.message, environment)?;
    // What the machine refuses is told above, and keeps nobody from an answer.
    Ok(match model.state {
        State::Failed => ExitCode::FAILURE,
        _ => code,
    })
}

fn wish(arguments: &Setup, environment: &Environment) -> Result<Wish, Failure> {
    let source = match &arguments.key_variable {
        Some(name) => Some(Source::Variable(name.clone())),
        None => arguments.key_stdin.then_some(Source::Input),
    };
    let whose = arguments.provider.map(|whose| whose.provider());
    let given = source.map(|source| given::key(&source, whose, environment));
    Ok(Wish {
        unasked: arguments.yes,
        given: given.transpose()?,
        ollama: arguments.ollama,
        model: arguments.model.clone(),
    })
}

/// The suite that was found or started.
struct Running<'a> {
    settings: &'a Settings,
    environment: &'a Environment,
    machine: &'a Machine<'a>,
}

impl Suite for Running<'_> {
    fn answering(&self) -> Option<Answering> {
        let runtime = connection::runtime().ok()?;
        let suite = runtime.block_on(status::ask(&self.settings.paths));
        let runner = suite.runner.given()?;
        let native = runner.candidates.iter().find(|it| it.backend == "native");
        let agent = &self.settings.default_agent;
        let agent = runner.agents.iter().find(|it| it.agent_id == *agent);
        Some(Answering {
            backend: runner.backend.clone(),
            reason: runner.reason.clone(),
            model: match runner.model.as_str() {
                "" => String::new(),
                model => format!("{}/{model}", runner.provider),
            },
            problem: native.map_or_else(String::new, |native| native.reason.clone()),
            profiles: agent.map_or_else(Vec::new, |agent| agent.auth_profiles.clone()),
        })
    }

    fn reload(&self) {
        self.machine.reload_runner();
        openclaw_foreground::reload(&self.settings.paths);
    }

    fn adopt(&self, login: Login) -> Result<(), Failure> {
        let adopt = Adopt {
            cli: Some(login.into()),
            agent: None,
            yes: false,
        };
        let action = Action::Adopt(adopt);
        let auth = Auth { action };
        auth.execute(self.environment, &|| self.reload()).map(drop)
    }
}

fn show(step: &Step) -> Result<(), Failure> {
    let word = step.state.word();
    let detail = output::line(&step.detail);
    output::stdout_line(&format!("{:<9} {word:<8} {detail}", step.name))?;
    match &step.fix {
        Some(fix) => output::stdout_line(&format!("{:19}{}", "", output::line(fix))),
        None => Ok(()),
    }
}

/// A bot's token is asked for by the command that keeps it.
fn channels() -> Step {
    Step::skipped(
        "channels",
        "openclawctl channels add telegram connects a bot of yours; other programs use WebSocket and HTTP",
    )
    .with("openclawctl status says where, openclawctl token prints what they need")
}

fn first_message(text: &str, environment: &Environment) -> Result<ExitCode, Failure> {
    output::stdout_line(&format!("\nopenclawctl message {:?}\n", output::line(text)))?;
    let arguments = cli::Message {
        text: vec![text.to_owned()],
        session: None,
        agent: None,
        files: Vec::new(),
        json: false,
        no_stream: false,
        timeout: None,
        verbose: false,
        raw: false,
    };
    message::execute(arguments, environment)
}
