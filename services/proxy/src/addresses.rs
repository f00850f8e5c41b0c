//! Addresses that no name may lead to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Whether it is an address of the public internet: not this machine's, not of
/// its networks, not its provider's metadata service (169.254.169.254 and
/// fd00:ec2::254 are among the link-local and unique local ones).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether it is an address of this machine itself or of its links, which no
/// process of a turn reaches whatever it is granted: of one of its interfaces,
/// loopback, unspecified (which is loopback too), link-local, multicast and broadcast, and where
/// providers of machines answer with these machines' own credentials.
pub(super) fn is_own(address: IpAddr) -> bool {
    if METADATA.contains(&address) || is_of_an_interface(address) {
        return true;
    }
    match address {
        IpAddr::V4(address) => is_own_v4(address),
        IpAddr::V6(address) => {
            let [first, ..] = address.segments();
            // fe80::/10 link-local, fec0::/10 site-local before RFC 3879.
            let of_links = (first & 0xff80) == 0xfe80;
            address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || of_links
                || inner_v4(address).is_some_and(|inner| is_own(IpAddr::V4(inner)))
        }
    }
}

/// Addresses for documentation (RFC 5737, RFC 3849), which no machine has.
const NOBODYS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 254)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 0xfffe)),
];

/// Whether one of this machine's interfaces has the address: no other can be listened at
/// (bind(2), EADDRNOTAVAIL), unless the machine lets everything be (`ip_nonlocal_bind`,
/// ip(7)), which tells nothing then.
fn is_of_an_interface(address: IpAddr) -> bool {
    let can_be_listened_at = |address: IpAddr| UdpSocket::bind((address, 0)).is_ok();
    let mut nobodys = NOBODYS
        .into_iter()
        .filter(|it| it.is_ipv4() == address.is_ipv4());
    can_be_listened_at(address) && !nobodys.any(can_be_listened_at)
}

/// Metadata services outside of the link-local addresses: of Amazon, Oracle,
/// Alibaba and Azure.
const METADATA: [IpAddr; 4] = [
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
];

fn is_own_v4(address: Ipv4Addr) -> bool {
    let [first, ..] = address.octets();
    first == 0
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
}

/// IANA's special-purpose registry (RFC 6890), as far as it is not global.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation();
    // 0.0.0.0/8 this host, 100.64.0.0/10 shared, 192.0.0.0/24 protocols,
    // 198.18.0.0/15 benchmarks, 240.0.0.0/4 reserved.
    let reserved = first == 0
        || first >= 240
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && (second & 0xfe) == 18);
    !special && !reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // An address of the other kind in the clothes of this one.
    if let Some(inner) = inner_v4(address) {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    let documentation = (first == 0x2001 && second == 0xdb8) || (first & 0xfff0) == 0x3ff0;
    // Only 2000::/3 is given out; unique local, link-local, multicast, ::1 are
    // not in it. 2001::/23 are protocols.
    (first & 0xe000) == 0x2000 && !documentation && !(first == 0x2001 && second < 0x200)
}

/// Mapped (RFC 4291), compatible, NAT64 (RFC 6052) and 6to4 (RFC 3056).
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let of = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(of(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_only_the_public_internet_is_public() {
        for address in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "192.0.2.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2001:db8::1",
            "2001::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2002:808:808::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn own_addresses_are_known_in_all_their_forms() {
        for address in [
            "127.0.0.1",
            "127.255.0.1",
            "0.0.0.0",
            "169.254.169.254",
            "169.254.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "224.0.0.251",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0.0.0.0",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(is_own(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "10.1.2.3",
            "192.168.1.10",
            "100.64.0.1",
            "fd00::1",
            "2606:4700::1111",
            "::ffff:10.0.0.1",
        ] {
            assert!(!is_own(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_this_machines_interfaces_are_its_own() {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        // Nothing is sent; where there is no way out there is no such address.
        if socket.connect("198.51.100.1:9").is_err() {
            return;
        }
        let IpAddr::V4(address) = socket.local_addr().unwrap().ip() else {
            panic!("not of version 4");
        };
        assert!(is_own(IpAddr::V4(address)), "{address}");
        assert!(is_own(IpAddr::V6(address.to_ipv6_mapped())), "{address}");
    }
}
