//! What an operator may do.

/// A scope of the role `operator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// See.
    Read,
    /// Send messages; implies [`Scope::Read`].
    Write,
    /// Everything.
    Admin,
    /// Decide about approvals.
    Approvals,
    /// Decide about devices.
    Pairing,
}

impl Scope {
    /// The scope's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "operator.read",
            Self::Write => "operator.write",
            Self::Admin => "operator.admin",
            Self::Approvals => "operator.approvals",
            Self::Pairing => "operator.pairing",
        }
    }

    /// Whether `granted` contains this scope or one that implies it.
    pub fn is_in(self, granted: &[String]) -> bool {
        let has = |scope: Self| granted.iter().any(|name| name == scope.as_str());
        has(Self::Admin) || has(self) || (self == Self::Read && has(Self::Write))
    }
}

/// Whether every scope of `wanted` is in `granted`, by name or implied.
pub fn covers(granted: &[String], wanted: &[String]) -> bool {
    let admin = granted.iter().any(|scope| scope == Scope::Admin.as_str());
    wanted.iter().all(|scope| {
        granted.contains(scope)
            || (admin && scope.starts_with("operator."))
            || (scope == Scope::Read.as_str() && Scope::Read.is_in(granted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn admin_implies_all_and_write_implies_read() {
        assert!(Scope::Pairing.is_in(&list(&["operator.admin"])));
        assert!(Scope::Read.is_in(&list(&["operator.write"])));
        assert!(!Scope::Write.is_in(&list(&["operator.read"])));
        assert!(!Scope::Approvals.is_in(&list(&["operator.write"])));
        assert!(!Scope::Read.is_in(&[]));
    }

    #[test]
    fn grant_covers_what_it_implies() {
        let admin = list(&["operator.admin"]);
        assert!(covers(
            &admin,
            &list(&["operator.read", "operator.pairing"])
        ));
        let write = list(&["operator.write"]);
        assert!(covers(&write, &list(&["operator.read"])));
        assert!(!covers(&write, &list(&["operator.admin"])));
        assert!(covers(&[], &[]));
    }
}
