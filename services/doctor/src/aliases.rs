//! Commands of the user's own, of which a line that is none would be missed only when it is
//! typed.

use openclaw_config::Environment;
use openclaw_terminal::aliases::Aliases;

use crate::check::Check;

/// What is wrong with the file.
pub(crate) fn sound(environment: &Environment) -> impl Iterator<Item = Check> {
    let problems = Aliases::read(environment).problems.into_iter();
    problems.map(|problem| Check::warn("aliases", problem, "correct that line, or take it out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_that_is_no_alias_is_a_warning() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("openclaw");
        std::fs::create_dir_all(&folder).unwrap();
        let shown = home.path().to_str().unwrap();
        let environment: Environment = [("XDG_CONFIG_HOME", shown)].into_iter().collect();
        assert_eq!(sound(&environment).count(), 0);
        std::fs::write(folder.join("aliases"), "st = status\nst status\n").unwrap();
        let checks: Vec<Check> = sound(&environment).collect();
        assert_eq!(checks.len(), 1);
        let (state, detail) = (checks[0].state, &checks[0].detail);
        assert_eq!(state, crate::check::State::Warn);
        assert!(detail.contains("aliases: line 2 is no alias"), "{detail}");
    }
}
