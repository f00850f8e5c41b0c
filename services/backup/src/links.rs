//! Where the links of a backup lead, by all that it holds: through others of its links, too.
//!
//! A path is gone name by name, as the kernel goes it: `up/../x` is in the folder around the one
//! that the link `up` leads to, wherever that is, and not beside `up`.

use std::collections::HashMap;
use std::path::{Component, Path};

use crate::manifest::{LeftOut, Link, Manifest, place_of_agents};

/// Links on the way to one place, as path_resolution(7) counts them. The kernel follows no more,
/// so that such a path leads nowhere.
const LINKS: usize = 40;
/// Names on the way to one place. Those of packages that lie in one another are a dozen.
const NAMES: usize = 512;

/// Why a link is none of a backup.
pub(crate) const ELSEWHERE: &str = "it is a link that leads elsewhere";
const FAR: &str = "it is a link that leads through too many folders";

/// Leaves out the links that lead out of their place by way of others.
pub(crate) fn leave_out(manifest: &mut Manifest) {
    let links = Links::new(&manifest.links);
    let reasons: Vec<_> = manifest.links.iter().map(|it| links.problem(it)).collect();
    let all = std::mem::take(&mut manifest.links);
    for (link, reason) in all.into_iter().zip(reasons) {
        match reason {
            None => manifest.links.push(link),
            Some(why) => manifest.left_out.push(LeftOut {
                path: link.path,
                why: why.to_owned(),
            }),
        }
    }
}

/// The links of one backup, with what each leads to.
struct Links<'a>(HashMap<&'a str, &'a str>);

impl<'a> Links<'a> {
    fn new(links: &'a [Link]) -> Self {
        Self(links.iter().map(|it| (&*it.path, &*it.target)).collect())
    }

    /// Why `link` is to be left out; None where it leads to something in its place, or nowhere.
    fn problem(&self, link: &'a Link) -> Option<&'static str> {
        let place = place_of_agents(&link.path).map(|length| &link.path[..length]);
        match (place, link.path.rsplit_once('/')) {
            (Some(place), Some((folder, _))) => self.walk(place, folder, &link.target),
            _ => Some(ELSEWHERE),
        }
    }

    /// Goes from `folder`, which lies in `place`, along `target`.
    fn walk(&self, place: &str, folder: &str, target: &'a str) -> Option<&'static str> {
        let mut at = folder.to_owned();
        // From the last name to the first.
        let mut names: Vec<Component<'a>> = Path::new(target).components().rev().collect();
        let (mut gone, mut followed) = (0, 0);
        while let Some(name) = names.pop() {
            gone += 1;
            if gone > NAMES {
                return Some(FAR);
            }
            match name {
                Component::CurDir => {}
                Component::ParentDir if at.len() > place.len() => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                }
                Component::Normal(name) => {
                    let folder = at.len();
                    at.push('/');
                    at.push_str(&name.to_string_lossy());
                    if let Some(target) = self.0.get(&*at).copied() {
                        followed += 1;
                        if followed > LINKS {
                            return None;
                        }
                        at.truncate(folder);
                        names.extend(Path::new(target).components().rev());
                    }
                }
                _ => return Some(ELSEWHERE),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(path: &str, target: &str) -> Link {
        Link {
            path: format!("state/workspace/{path}"),
            target: target.to_owned(),
        }
    }

    /// What is said of the first of these, which stays, seen alone.
    fn problem(links: &[(&str, &str)]) -> Option<&'static str> {
        let links: Vec<Link> = links.iter().map(|(path, to)| link(path, to)).collect();
        assert!(links[0].stays(), "{:?}", links[0]);
        Links::new(&links).problem(&links[0])
    }

    #[test]
    fn link_through_another_leads_where_that_does() {
        let up = ("d/e/up", "../..");
        for (target, found) in [
            ("up", None),
            ("up/x", None),
            ("up/d/../x", None),
            ("up/../x", Some(ELSEWHERE)),
            ("up/../../x", Some(ELSEWHERE)),
            ("./up/./../workspace/x", Some(ELSEWHERE)),
            ("up/d/e/up/../x", Some(ELSEWHERE)),
            ("../e/up/..", Some(ELSEWHERE)),
        ] {
            assert_eq!(problem(&[("d/e/l", target), up]), found, "{target}");
        }
        assert_eq!(problem(&[("l", "out/x"), ("out", "../x")]), Some(ELSEWHERE));
        assert_eq!(problem(&[("l", "out/x"), ("out", "/etc")]), Some(ELSEWHERE));
        // It leads deeper than it is called.
        assert_eq!(problem(&[("l", "deep/../x"), ("deep", "d/e/f")]), None);
    }

    #[test]
    fn link_in_a_circle_leads_nowhere() {
        assert_eq!(problem(&[("l", "l")]), None);
        assert_eq!(problem(&[("l", "m/x"), ("m", "l/y")]), None);
    }

    #[test]
    fn links_are_followed_within_a_bound() {
        let wide = "d/../".repeat(NAMES / 4);
        assert_eq!(problem(&[("l", &wide), ("m", &wide)]), None);
        let twice = [("l", "m/m/m"), ("m", wide.as_str())];
        assert_eq!(problem(&twice), Some(FAR));
    }

    /// What is left is judged alike when it is read.
    #[test]
    fn links_that_are_left_out_take_along_those_through_them() {
        let links = [
            link("d/e/up", "../.."),
            link("d/e/l", "up/../../x"),
            link("m", "d/e/l/y"),
            link("n", "d/e/up/n"),
        ];
        let mut manifest = Manifest {
            links: links.to_vec(),
            ..Manifest::default()
        };
        leave_out(&mut manifest);
        assert_eq!(manifest.links, [links[0].clone(), links[3].clone()]);
        let left_out: Vec<_> = manifest.left_out.iter().map(|it| &*it.path).collect();
        assert_eq!(left_out, ["state/workspace/d/e/l", "state/workspace/m"]);
        let once = manifest.clone();
        leave_out(&mut manifest);
        assert_eq!(manifest, once);
    }
}
