//! Failed attempts to come in, and what they lead to.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use openclaw_settings::gateway::RateLimit;

use super::{Denied, Peer};

/// Addresses that are remembered. An attacker with more of them pushes the
/// oldest out, and each still costs him its attempts.
const REMEMBERED: usize = 4096;

/// Failed attempts by who made them.
#[derive(Debug, Default)]
pub struct Failures(Mutex<HashMap<Who, Attempts>>);

/// Pages in a browser of this machine are not its programs: what a page does
/// must not lock the user's own clients out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Who {
    address: IpAddr,
    page: bool,
}

#[derive(Debug, Clone, Copy)]
struct Attempts {
    count: u32,
    since: Instant,
    locked: Option<Instant>,
}

impl Failures {
    /// Whether another attempt is listened to.
    pub fn allowed(&self, peer: &Peer, limit: &RateLimit) -> Result<(), Denied> {
        let Some(who) = who(peer, limit) else {
            return Ok(());
        };
        let mut known = self.lock();
        let Some(locked) = known.get(&who).and_then(|attempts| attempts.locked) else {
            return Ok(());
        };
        let left = limit.lockout.saturating_sub(locked.elapsed());
        if left.is_zero() {
            known.remove(&who);
            return Ok(());
        }
        Err(Denied::Limited(left))
    }

    /// Counts a failed attempt.
    pub fn failed(&self, peer: &Peer, limit: &RateLimit) {
        let Some(who) = who(peer, limit) else {
            return;
        };
        let mut known = self.lock();
        make_room(&mut known, &who);
        let fresh = Attempts {
            count: 0,
            since: Instant::now(),
            locked: None,
        };
        let attempts = known.entry(who).or_insert(fresh);
        if attempts.since.elapsed() > limit.window {
            *attempts = fresh;
        }
        attempts.count += 1;
        if attempts.count >= limit.attempts && attempts.locked.is_none() {
            attempts.locked = Some(Instant::now());
            tracing::warn!(
                peer = %peer.addr,
                origin = peer.origin.as_deref().unwrap_or_default(),
                "{} failed attempts: nothing is accepted from there for {} s",
                attempts.count,
                limit.lockout.as_secs()
            );
        }
    }

    /// Forgets the failed attempts of somebody who has the secret after all.
    pub fn succeeded(&self, peer: &Peer, limit: &RateLimit) {
        if let Some(who) = who(peer, limit) {
            self.lock().remove(&who);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Who, Attempts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_room(known: &mut HashMap<Who, Attempts>, who: &Who) {
    if known.len() < REMEMBERED || known.contains_key(who) {
        return;
    }
    let oldest = known.iter().min_by_key(|(_, attempts)| attempts.since);
    if let Some(oldest) = oldest.map(|(who, _)| *who) {
        known.remove(&oldest);
    }
}

/// Who is counted; nobody for programs of this machine, which could read the token's file anyway.
fn who(peer: &Peer, limit: &RateLimit) -> Option<Who> {
    if limit.exempt_loopback && peer.is_local_program() {
        return None;
    }
    Some(Who {
        address: network(peer.addr.ip()),
        page: peer.origin.is_some(),
    })
}

/// Whoever has one address of an IPv6 /64 has all of them (RFC 6177).
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::front::Admission;

    const LIMIT: RateLimit = RateLimit {
        attempts: 3,
        window: Duration::from_secs(60),
        lockout: Duration::from_secs(300),
        exempt_loopback: true,
    };

    fn peer(address: &str, origin: Option<&str>) -> Peer {
        Peer {
            addr: (address.parse::<IpAddr>().unwrap(), 1).into(),
            host: "localhost".to_owned(),
            origin: origin.map(str::to_owned),
            origin_ok: true,
            forwarded: false,
            admission: Admission::default(),
        }
    }

    fn fail(failures: &Failures, peer: &Peer, times: u32) {
        for _ in 0..times {
            assert!(failures.allowed(peer, &LIMIT).is_ok());
            failures.failed(peer, &LIMIT);
        }
    }

    #[test]
    fn page_on_this_machine_is_locked_out_and_programs_are_not() {
        let failures = Failures::default();
        let (page, program) = (peer("127.0.0.1", Some("http://x")), peer("127.0.0.1", None));
        fail(&failures, &program, 20);
        fail(&failures, &page, 3);
        let refused = failures.allowed(&page, &LIMIT).unwrap_err();
        assert!(matches!(refused, Denied::Limited(left) if left > Duration::from_secs(290)));
        assert!(failures.allowed(&program, &LIMIT).is_ok());
        let short = RateLimit {
            lockout: Duration::ZERO,
            ..LIMIT
        };
        assert!(failures.allowed(&page, &short).is_ok(), "the lockout ends");
    }

    #[test]
    fn neighbours_of_one_network_share_their_attempts() {
        let failures = Failures::default();
        fail(&failures, &peer("2001:db8::1", None), 3);
        assert!(
            failures
                .allowed(&peer("2001:db8::2", None), &LIMIT)
                .is_err()
        );
        assert!(
            failures
                .allowed(&peer("2001:db8:0:1::1", None), &LIMIT)
                .is_ok()
        );
        assert!(failures.allowed(&peer("10.0.0.1", None), &LIMIT).is_ok());
    }

    #[test]
    fn success_clears_the_count_and_old_failures_do_not_add_up() {
        let failures = Failures::default();
        let peer = peer("10.0.0.1", None);
        fail(&failures, &peer, 2);
        failures.succeeded(&peer, &LIMIT);
        fail(&failures, &peer, 2);
        let now = RateLimit {
            window: Duration::ZERO,
            ..LIMIT
        };
        failures.failed(&peer, &now);
        assert!(failures.allowed(&peer, &LIMIT).is_ok());
    }

    #[test]
    fn failures_what_is_remembered_has_a_limit() {
        let failures = Failures::default();
        for n in 0..u32::try_from(REMEMBERED).unwrap() + 100 {
            let address = IpAddr::V4(std::net::Ipv4Addr::from(0x0a00_0000 + n));
            failures.failed(&peer(&address.to_string(), None), &LIMIT);
        }
        assert_eq!(failures.lock().len(), REMEMBERED);
    }
}
