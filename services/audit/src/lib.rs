//! `openclawctl security audit`: what of an installation and its configuration
//! lets more in, or out, than it has to. It reads, and changes nothing; no value
//! of a secret is said.

mod check;
mod configuration;
mod files;
mod gateway;
mod repositories;
mod sandbox;
mod scene;
mod talking;
mod tools;

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_terminal::painted::{Painted, Style};
use openclaw_terminal::{Failure, output, words};
use serde_json::json;

pub use check::Severity;

use check::{Check, Finding};
use scene::Scene;

/// All checks.
fn checks() -> impl Iterator<Item = &'static Check> {
    let all = [
        files::CHECKS,
        gateway::CHECKS,
        sandbox::CHECKS,
        tools::CHECKS,
        talking::CHECKS,
        configuration::CHECKS,
    ];
    all.into_iter().flatten()
}

/// Look for what lets more in, or out, than it has to.
///
/// Exit code 1 where something critical was found, with --strict also at a warning.
#[derive(Debug, clap::Args)]
pub struct Audit {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Also the checks that found nothing
    #[arg(short, long)]
    pub verbose: bool,
    /// Exit with 1 also where there are only warnings
    #[arg(long)]
    pub strict: bool,
}

impl Audit {
    /// Prints what was found.
    ///
    /// # Errors
    /// When the places of the installation are not known, or it cannot be printed.
    pub fn execute(&self, environment: &Environment) -> Result<ExitCode, Failure> {
        let scene = Scene::of(environment)?;
        let findings: Vec<Finding> = checks().flat_map(|check| check.look(&scene)).collect();
        if self.json {
            output::document(&document(&findings))?;
        } else {
            let mut text = Painted::for_stdout();
            paint(&findings, self.verbose, &mut text);
            text.print()?;
        }
        let least = if self.strict {
            Severity::Warn
        } else {
            Severity::Critical
        };
        let failed = findings.iter().any(|finding| finding.severity >= least);
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

fn count(findings: &[Finding], severity: Severity) -> u64 {
    let of = |finding: &&Finding| finding.severity == severity;
    findings.iter().filter(of).count() as u64
}

fn document(findings: &[Finding]) -> serde_json::Value {
    let passed = checks().filter(|check| !findings.iter().any(|it| it.id == check.id));
    let passed: Vec<&str> = passed.map(|check| check.id).collect();
    json!({
        "summary": {
            "critical": count(findings, Severity::Critical),
            "warn": count(findings, Severity::Warn),
            "info": count(findings, Severity::Info),
            "checks": checks().count(),
        },
        "findings": findings,
        "passed": passed,
    })
}

fn paint(findings: &[Finding], verbose: bool, text: &mut Painted) {
    for severity in [Severity::Critical, Severity::Warn, Severity::Info] {
        for finding in findings.iter().filter(|it| it.severity == severity) {
            let severity = (severity.style(), severity.name());
            text.entry(severity, 10, (Style::Strong, finding.id));
            let nameless = (Style::Plain, "");
            text.entry(nameless, 10, (Style::Plain, &finding.detail));
            text.entry(nameless, 10, (Style::Faint, finding.remedy));
        }
    }
    if verbose {
        for check in checks().filter(|it| !findings.iter().any(|found| found.id == it.id)) {
            text.entry((Style::Good, "ok"), 10, (Style::Plain, check.id));
        }
    }
    let all = words::count(checks().count() as u64, "check");
    let (critical, warn) = (
        count(findings, Severity::Critical),
        count(findings, Severity::Warn),
    );
    let summary = format!(
        "{all}: {critical} critical, {}, {} to know",
        words::count(warn, "warning"),
        count(findings, Severity::Info)
    );
    let style = match (critical, warn) {
        (0, 0) => Style::Good,
        (0, _) => Style::Warning,
        _ => Style::Bad,
    };
    text.line(style, &summary);
}

#[cfg(test)]
mod tests;
