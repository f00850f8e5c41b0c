//! The journal's side of its native protocol
//! (<https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>).

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// More than any record here has.
const LARGEST: usize = 1024 * 1024;

/// The fields of a record.
pub(crate) type Fields = BTreeMap<String, String>;

/// A socket that takes records.
#[derive(Debug)]
pub(crate) struct Journal(UnixDatagram);

impl Journal {
    pub(crate) fn at(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(socket)
    }

    /// The records that have come.
    pub(crate) fn records(&self) -> Vec<Fields> {
        let mut records = Vec::new();
        let mut buffer = vec![0; LARGEST];
        loop {
            match self.0.recv(&mut buffer) {
                // What a client asks first whether anybody listens with.
                Ok(0) => {}
                Ok(length) => records.push(fields(&buffer[..length])),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return records,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// `NAME=value`, or `NAME`, the value's length in 8 bytes, and the value.
fn fields(mut record: &[u8]) -> Fields {
    let mut fields = Fields::new();
    while !record.is_empty() {
        let end = record.iter().position(|byte| *byte == b'\n').unwrap();
        let (line, rest) = (&record[..end], &record[end + 1..]);
        let (name, value, after) = match line.iter().position(|byte| *byte == b'=') {
            Some(at) => (&line[..at], &line[at + 1..], rest),
            None => {
                let (length, rest) = rest.split_first_chunk().unwrap();
                let length = usize::try_from(u64::from_le_bytes(*length)).unwrap();
                assert_eq!(rest[length], b'\n', "a value ends with its line");
                (line, &rest[..length], &rest[length + 1..])
            }
        };
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        fields.insert(text(name), text(value));
        record = after;
    }
    fields
}
