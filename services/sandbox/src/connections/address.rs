//! An address as connect(2) is given it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use nix::errno::Errno;
use nix::libc;

/// Bytes of the longest address that the kernel takes (`sockaddr_storage`).
pub(super) const LONGEST: usize = 128;
/// Bytes of `sockaddr_in`, and of the shortest `sockaddr_in6` (RFC 2133).
const IPV4: usize = 16;
const IPV6: usize = 24;

/// Where a socket is to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Nowhere any more (`AF_UNSPEC`).
    Nothing,
    Address(SocketAddr),
    /// An address of another family.
    Other,
}

impl Wanted {
    /// Reads what the agent gave. What is not plain is left out of the copy: scope and flow label.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Errno> {
        let family = u16::from_ne_bytes(at(bytes, 0)?);
        match i32::from(family) {
            libc::AF_UNSPEC => Ok(Self::Nothing),
            libc::AF_INET => {
                long(bytes, IPV4)?;
                let host = Ipv4Addr::from(at::<4>(bytes, 4)?);
                let address = SocketAddrV4::new(host, port(bytes)?);
                Ok(Self::Address(address.into()))
            }
            libc::AF_INET6 => {
                long(bytes, IPV6)?;
                let host = Ipv6Addr::from(at::<16>(bytes, 8)?);
                let address = SocketAddrV6::new(host, port(bytes)?, 0, 0);
                Ok(Self::Address(address.into()))
            }
            _ => Ok(Self::Other),
        }
    }
}

fn port(bytes: &[u8]) -> Result<u16, Errno> {
    at(bytes, 2).map(u16::from_be_bytes)
}

fn long(bytes: &[u8], length: usize) -> Result<(), Errno> {
    (bytes.len() >= length).then_some(()).ok_or(Errno::EINVAL)
}

fn at<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N], Errno> {
    let part = bytes.get(offset..).and_then(<[u8]>::first_chunk);
    part.copied().ok_or(Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(family: i32, rest: &[u8]) -> Vec<u8> {
        let family = u16::try_from(family).unwrap().to_ne_bytes();
        [&family, rest].concat()
    }

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let ipv4 = bytes(
            libc::AF_INET,
            &[&[0x1f, 0x90, 127, 0, 0, 1][..], &[7; 8]].concat(),
        );
        let read = Wanted::read(&ipv4).unwrap();
        assert_eq!(read, Wanted::Address("127.0.0.1:8080".parse().unwrap()));
        assert_eq!(Wanted::read(&ipv4[..15]), Err(Errno::EINVAL));
        let mut host = [0; 16];
        host[15] = 1;
        let ipv6 = bytes(libc::AF_INET6, &[&[0, 80, 9, 9, 9, 9][..], &host].concat());
        let read = Wanted::read(&ipv6).unwrap();
        assert_eq!(read, Wanted::Address("[::1]:80".parse().unwrap()));
        assert_eq!(Wanted::read(&ipv6[..23]), Err(Errno::EINVAL));
    }

    #[test]
    fn address_other_families_are_none_of_ours() {
        let unix = bytes(libc::AF_UNIX, b"/run/socket");
        assert_eq!(Wanted::read(&unix), Ok(Wanted::Other));
        let none = bytes(libc::AF_UNSPEC, &[]);
        assert_eq!(Wanted::read(&none), Ok(Wanted::Nothing));
        assert_eq!(Wanted::read(&[2]), Err(Errno::EINVAL));
    }
}
