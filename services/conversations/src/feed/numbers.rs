//! The numbers of events: only ever higher, whatever becomes of the gateway or of the machine.
//!
//! A block of them is taken before any of it is given. The ledger may lag half
//! a second when the machine loses power, so the next block is taken when half
//! of one is left: what was given is then always below what the disk says is
//! taken. A gateway that was not stopped leaves the rest of its block unused.

use rusqlite::Connection;

/// Numbers taken at once: twice as many as happen before a sync of the ledger on the fastest disk.
const BLOCK: u64 = 1 << 16;

#[derive(Debug)]
pub(crate) struct Numbers {
    /// The last that was given.
    last: u64,
    /// Numbers up to this one are taken.
    taken: u64,
}

impl Numbers {
    /// Goes on after those that were taken before. Whoever opens the ledger
    /// puts it on disk before a number is given.
    pub(crate) fn open(connection: &Connection) -> rusqlite::Result<Self> {
        let taken = read(connection, "SELECT taken FROM event_series")?;
        let mut numbers = Self { last: taken, taken };
        numbers.reserve(connection)?;
        Ok(numbers)
    }

    /// The last that was given.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Takes `count` numbers and returns the last one.
    pub(crate) fn give(&mut self, connection: &Connection, count: usize) -> rusqlite::Result<u64> {
        self.last += count as u64;
        if self.last + BLOCK / 2 > self.taken {
            self.reserve(connection)?;
        }
        Ok(self.last)
    }

    /// The ledger may lack what was written of them.
    pub(crate) fn doubt(&mut self) {
        self.taken = self.last;
    }

    /// Leaves the rest of the block to the next gateway; no number is given after that.
    pub(crate) fn give_back(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.taken = self.last;
        self.write(connection)
    }

    fn reserve(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.taken = self.last + BLOCK;
        self.write(connection)
    }

    fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let taken = i64::try_from(self.taken).unwrap_or(i64::MAX);
        connection
            .execute("UPDATE event_series SET taken = ?1", [taken])
            .map(drop)
    }
}

/// Begins another series: the numbers of this one were given on to others since
/// the ledger was copied.
pub(crate) fn begin_anew(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "UPDATE event_series SET epoch = lower(hex(randomblob(8)))";
    connection.execute(sql, []).map(drop)
}

/// The name of the series.
pub(crate) fn epoch(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("SELECT epoch FROM event_series", [], |row| row.get(0))
}

/// Up to this number nothing is told any more.
pub(super) fn pruned(connection: &Connection) -> rusqlite::Result<u64> {
    read(connection, "SELECT pruned FROM event_series")
}

/// The first run that is told of, by the number of its acceptance.
pub(super) fn first_run(connection: &Connection) -> rusqlite::Result<u64> {
    read(connection, "SELECT first_run FROM event_series")
}

/// A number that a query gives; 0 where it gives none.
pub(super) fn read(connection: &Connection, sql: &str) -> rusqlite::Result<u64> {
    let value: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?;
    Ok(value.and_then(|it| u64::try_from(it).ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn numbers_only_grow_whatever_becomes_of_the_gateway() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::bring_up_to_date(&mut connection).unwrap();
        let mut numbers = Numbers::open(&connection).unwrap();
        assert_eq!(numbers.give(&connection, 2).unwrap(), 2);
        assert_eq!(numbers.give(&connection, 1).unwrap(), 3);
        numbers.give_back(&connection).unwrap();

        let mut stopped = Numbers::open(&connection).unwrap();
        assert_eq!(stopped.give(&connection, 1).unwrap(), 4);
        let mut killed = Numbers::open(&connection).unwrap();
        let first = killed.give(&connection, 1).unwrap();
        assert!(first > 4, "{first}");
        for _ in 0..4 {
            killed.give(&connection, BLOCK as usize / 3).unwrap();
        }
        let last = killed.last();
        let next = Numbers::open(&connection).unwrap();
        assert!(next.last() >= last + BLOCK / 2, "{next:?} after {last}");
    }

    #[test]
    fn numbers_are_taken_again_after_a_write_that_failed() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::bring_up_to_date(&mut connection).unwrap();
        let mut numbers = Numbers::open(&connection).unwrap();
        let transaction = connection.transaction().unwrap();
        numbers.give(&transaction, BLOCK as usize).unwrap();
        drop(transaction);
        numbers.doubt();
        let last = numbers.give(&connection, 1).unwrap();
        assert!(Numbers::open(&connection).unwrap().last() > last);
    }
}
