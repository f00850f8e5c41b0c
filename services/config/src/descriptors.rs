//! How many files a daemon may have open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What is wanted: two descriptors a connection at worst, and the daemon's own. The units'
/// LimitNOFILE= is the same.
///
/// It is also more than a turn may have: the kernel counts descriptors that are on their way
/// through sockets for each user, and nobody of that user sends one while there are more than its
/// own limit (unix(7), ETOOMANYREFS).
const WANTED: u64 = 8192;

/// A shell's soft limit is usually 1024 (getrlimit(2)); the hard one is ours to use. What cannot be
/// raised stays.
pub fn raise_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return;
    };
    let wanted = WANTED.min(hard);
    if soft < wanted {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_as_many_as_wanted_or_allowed() {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, 256.min(soft), hard).unwrap();
        raise_limit();
        let (raised, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert_eq!(raised, WANTED.min(hard));
    }
}
