//! `openclaw-sandbox`: runs one program confined and supervised, proves the confinements, or
//! starts processes for a daemon.

use std::io::Write;
use std::process::ExitCode;

use openclaw_sandbox::{EXIT_USAGE, PLAN, Request, UsageError, parse, probe, run, spawner};

fn main() -> ExitCode {
    let plan = std::env::var_os(PLAN);
    match parse(std::env::args_os().skip(1), plan.as_deref()) {
        Ok(Request::Run {
            plan,
            parent,
            doors,
            program,
            args,
        }) => run(*plan, parent, doors, program, args),
        Ok(Request::Spawner { parent }) => spawner::run(parent),
        Ok(Request::Probe { json }) => report(&probe::run(), json),
        Err(error) => refuse(&error),
    }
}

fn report(report: &probe::Report, json: bool) -> ExitCode {
    let text = if json {
        serde_json::to_string(report).unwrap_or_default()
    } else {
        report.to_string()
    };
    let written = writeln!(std::io::stdout(), "{}", text.trim_end());
    if written.is_ok() && report.holds() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn refuse(error: &UsageError) -> ExitCode {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    let cause = cause.unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "openclaw-sandbox: {error}{cause}");
    EXIT_USAGE.into()
}
