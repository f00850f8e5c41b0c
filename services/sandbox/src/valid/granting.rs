//! The granted paths of a plan, checked.

use std::cell::OnceCell;
use std::ffi::CString;
use std::path::{Component, Path, PathBuf};

use super::{Access, Grant, PATHS_MAX, PlanError};
use crate::real::{Real, Resolver};

/// The grants, as they are checked.
pub(super) struct Granting {
    pub(super) resolver: Resolver,
    pub(super) grants: Vec<Grant>,
    contested: Vec<PathBuf>,
    /// Those without links, when somebody's link asked for them.
    real: OnceCell<Vec<PathBuf>>,
}

impl Granting {
    pub(super) fn new(contested: Vec<PathBuf>) -> Self {
        Self {
            resolver: Resolver::default(),
            grants: Vec::new(),
            contested,
            real: OnceCell::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        what: &'static str,
        paths: Vec<PathBuf>,
        access: Access,
    ) -> Result<(), PlanError> {
        count(what, paths.len(), PATHS_MAX)?;
        for path in paths {
            let real = resolve(&mut self.resolver, what, &path)?;
            if let Some(link) = self.contested(&real) {
                let link = link.to_owned();
                return Err(PlanError::Contested { what, path, link });
            }
            let real = real.path;
            self.grants.push(Grant { path, real, access });
        }
        Ok(())
    }

    /// The link on the way that an agent may have made.
    fn contested<'a>(&mut self, found: &'a Real) -> Option<&'a Path> {
        if found.links.is_empty() {
            return None;
        }
        let (resolver, contested) = (&mut self.resolver, &self.contested);
        let places = self.real.get_or_init(|| places(resolver, contested));
        found.link_in(places.iter().map(PathBuf::as_path))
    }
}

/// Where `contested` really is. Enclosing ones come first; one that a link in such a place leads
/// elsewhere is where the agent put it, and says nothing.
fn places(resolver: &mut Resolver, contested: &[PathBuf]) -> Vec<PathBuf> {
    let mut sorted: Vec<&PathBuf> = contested.iter().collect();
    sorted.sort_by_key(|path| path.components().count());
    let mut places: Vec<PathBuf> = Vec::new();
    for path in sorted {
        // What is not there holds no link.
        let Ok(found) = resolver.resolve(path) else {
            continue;
        };
        if found.link_in(places.iter().map(PathBuf::as_path)).is_none() {
            places.push(found.path);
        }
    }
    places
}

pub(super) fn count(what: &'static str, count: usize, max: usize) -> Result<(), PlanError> {
    if count > max {
        Err(PlanError::TooMany { what, count, max })
    } else {
        Ok(())
    }
}

pub(super) fn resolve(
    resolver: &mut Resolver,
    what: &'static str,
    path: &Path,
) -> Result<Real, PlanError> {
    let nul = CString::new(path.as_os_str().as_encoded_bytes()).is_err();
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if nul || climbs || !path.is_absolute() {
        let path = path.to_owned();
        return Err(PlanError::NotAbsolute { what, path });
    }
    resolver.resolve(path).map_err(|source| PlanError::Missing {
        what,
        path: path.to_owned(),
        source,
    })
}
