//! What the log knows of runs, sessions, channels and tools: names are completed
//! and corrected by it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_config::Environment;
use openclaw_terminal::Failure;

use crate::filter::Filter;
use crate::source::Source;
use crate::{file, journal};

/// Runs that are named where a beginning is not enough.
const NAMED: usize = 5;

/// The values of fields.
pub(crate) struct Known<'a> {
    source: &'a Source,
    environment: &'a Environment,
}

impl<'a> Known<'a> {
    pub(crate) fn of(source: &'a Source, environment: &'a Environment) -> Self {
        Self {
            source,
            environment,
        }
    }

    pub(crate) fn values(&self, field: &str) -> Vec<String> {
        match self.source {
            Source::Journal => journal::values(self.environment, field),
            Source::File(path) | Source::Named(path) => file::values(path, field),
        }
    }

    /// `wanted` as the log has it: a session also by the end of its key.
    pub(crate) fn named(
        &self,
        what: &str,
        field: &str,
        wanted: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        named(what, wanted, &self.values(field)).map(Some)
    }

    /// The run that `wanted` is the beginning of.
    pub(crate) fn run(&self, wanted: Option<&str>) -> Result<Option<String>, Failure> {
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        run(wanted, &self.values("openclaw_run"), |run| self.begin(run)).map(Some)
    }

    /// When a run began, and in which session, as far as the log has it.
    fn begin(&self, run: &str) -> String {
        let (mut at, mut session) = (None, None);
        // What cannot be read is told when the records are.
        let _ = self
            .source
            .read(self.environment, &Filter::of_run(run), false, &mut |it| {
                at = Some(at.map_or(it.at, |at: Timestamp| at.min(it.at)));
                session = session.take().or_else(|| {
                    let session = it.field("openclaw_session");
                    session.map(str::to_owned)
                });
                Ok(())
            });
        let at = at.map(|at| at.to_zoned(TimeZone::system()));
        let at = at.map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
        let session = session.map(|session| format!("in {session}"));
        let words: Vec<String> = at.into_iter().chain(session).collect();
        words.join(" ")
    }
}

fn named(what: &str, wanted: &str, known: &[String]) -> Result<String, Failure> {
    if known.iter().any(|it| it == wanted) {
        return Ok(wanted.to_owned());
    }
    let ending = format!(":{wanted}");
    let mut ends = known.iter().filter(|it| it.ends_with(&ending));
    if let (Some(one), None) = (ends.next(), ends.next()) {
        return Ok(one.clone());
    }
    let failure = Failure::new(format!("the log has nothing of the {what} {wanted:?}"));
    let parts = known
        .iter()
        .flat_map(|it| [it.as_str(), it.rsplit(':').next().unwrap_or(it)]);
    let listed = format!("openclawctl logs --json names the {what} of each record");
    Err(failure.near(wanted, parts, listed))
}

fn run(wanted: &str, known: &[String], begin: impl Fn(&str) -> String) -> Result<String, Failure> {
    // Whatever its case, and as a narrow terminal shows it, as `turns show` takes it.
    let wanted = &*wanted.trim().trim_end_matches('…').to_lowercase();
    let found: Vec<&String> = known.iter().filter(|it| it.starts_with(wanted)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        _ if found.iter().any(|it| *it == wanted) => Ok(wanted.to_owned()),
        [] => {
            let failure = Failure::new(format!("the log has nothing of a run {wanted:?}"));
            let known = known.iter().map(String::as_str);
            Err(failure.near(wanted, known, "openclawctl turns lists the runs"))
        }
        several => {
            // The latest: ids begin with the time.
            let mut several = several.to_vec();
            several.sort_unstable_by(|a, b| b.cmp(a));
            let names = several.iter().take(NAMED);
            let names: Vec<String> = names
                .map(|run| format!("\n  {run} {}", begin(run)))
                .collect();
            Err(Failure::usage(format!(
                "{} runs begin with {wanted:?}, the latest:{}",
                several.len(),
                names.concat()
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(names: &[&str]) -> Vec<String> {
        names.iter().map(|&it| it.to_owned()).collect()
    }

    #[test]
    fn run_is_found_by_its_beginning_where_that_is_one() {
        let known = all(&["0199-a1", "0199-b2"]);
        let run = |wanted: &str| run(wanted, &known, |run| format!("of {run}"));
        assert_eq!(run("0199-a").unwrap(), "0199-a1");
        assert_eq!(run("0199-A…").unwrap(), "0199-a1");
        assert_eq!(run("0199-b2").unwrap(), "0199-b2");
        let several = run("0199").unwrap_err().text();
        let expected =
            "2 runs begin with \"0199\", the latest:\n  0199-b2 of 0199-b2\n  0199-a1 of 0199-a1";
        assert_eq!(several, expected);
        assert!(run("7").unwrap_err().text().contains("nothing of a run"));
    }

    #[test]
    fn session_is_found_by_the_end_of_its_key() {
        let known = all(&["agent:main:main", "agent:main:work", "agent:home:work"]);
        assert_eq!(named("session", "main", &known).unwrap(), "agent:main:main");
        assert!(named("session", "work", &known).is_err());
        assert!(named("session", "mian", &known).is_err());
        assert_eq!(
            named("session", "agent:home:work", &known).unwrap(),
            "agent:home:work"
        );
    }
}
