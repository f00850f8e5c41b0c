//! The end of a backup's file: a zstd frame that every reader skips (RFC 8878
//! §3.1.2), with the SHA-256 of all bytes before it. It finds what the disk or a
//! transfer did to the file; it is not a signature.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN};

use crate::error::Error;

/// A frame to be skipped, and the bytes that follow.
const HEAD: [u8; 8] = [0x53, 0x2a, 0x4d, 0x18, 40, 0, 0, 0];
const TAG: &[u8; 8] = b"openclaw";
/// Bytes of a seal.
const LENGTH: u64 = (HEAD.len() + TAG.len() + SHA256_OUTPUT_LEN) as u64;

/// Sums up what is written through it.
pub(crate) struct Sealing<W> {
    inner: W,
    sum: Context,
}

impl<W: Write> Sealing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            sum: Context::new(&SHA256),
        }
    }

    /// Writes the seal; nothing may follow.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let sum = self.sum.finish();
        for part in [&HEAD[..], TAG, sum.as_ref()] {
            self.inner.write_all(part)?;
        }
        self.inner.flush()?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Bytes of the archive in `file`, which is as it was sealed.
pub(crate) fn sealed(file: &mut File, path: &Path) -> Result<u64, Error> {
    let read = Error::io("read", path);
    let content = check(file).map_err(read)?;
    content.map_err(|problem| Error::unsound(path, problem))
}

fn check(file: &mut File) -> io::Result<Result<u64, &'static str>> {
    const ENDS: &str = "it does not end as a backup does; a part of it may be missing";
    let length = file.seek(SeekFrom::End(0))?;
    let Some(content) = length.checked_sub(LENGTH) else {
        return Ok(Err(ENDS));
    };
    file.rewind()?;
    let mut sum = Context::new(&SHA256);
    let mut rest = io::BufReader::with_capacity(1 << 16, &mut *file);
    let mut left = content;
    let mut buffer = vec![0; 1 << 16];
    while left > 0 {
        let step = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        rest.read_exact(&mut buffer[..step])?;
        sum.update(&buffer[..step]);
        left -= step as u64;
    }
    let mut seal = Vec::new();
    rest.take(LENGTH).read_to_end(&mut seal)?;
    let Some(found) = seal.strip_prefix(&HEAD).and_then(|it| it.strip_prefix(TAG)) else {
        return Ok(Err(ENDS));
    };
    if found != sum.finish().as_ref() {
        return Ok(Err(
            "its bytes are not those that were written: the sum is another",
        ));
    }
    Ok(Ok(content))
}
