//! Programs that change something, and do with these options what their words say, whatever
//! any file says. Left out on purpose: those that take over what a file holds or is (cp, mv,
//! ln), give rights to it (chmod, chown), or run it.

use super::Program;
use super::programs::reads;

/// By name, with their options as in Debian 12.
pub(super) const PROGRAMS: &[Program] = &[
    reads("mkdir", "-pv -m: --parents --verbose --mode="),
    reads(
        "rm",
        "-fdirRIv --force --dir --recursive --verbose --one-file-system --preserve-root",
    ),
    reads(
        "rmdir",
        "-pv --parents --verbose --ignore-fail-on-non-empty",
    ),
    reads("touch", "-achm --no-create --no-dereference"),
];
