//! An open connection, with the data set of one log.

use std::error::Error as StdError;
use std::pin::pin;
use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use jiff::Timestamp;
use tokio::time::timeout;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use tokio_postgres::{Client, Error, Row, Transaction};

use super::connection::Connection;
use super::{Failed, PostgresSettings, tables, unavailable};
use crate::database::log::Log;
use crate::database::progress::Counted;
use crate::database::record::{time_text, values, zone_fields};
use crate::database::{COUNTER_DATA, Chunk, DataSetId, Outcome, failure};
use crate::{Batch, SinkError, SinkErrorKind};

/// An open connection, with the data set of one log.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    settings: Arc<PostgresSettings>,
    id: DataSetId,
    /// `CounterID` of each column.
    counters: Vec<Option<i32>>,
    /// What there was of the log when the connection was opened.
    pub(super) found: Counted,
}

impl Store {
    /// Connects, makes or checks the tables, and finds or begins the data set, whose first record is at `first`.
    pub(super) async fn open(
        settings: &Arc<PostgresSettings>,
        log: &Log,
        first: Timestamp,
    ) -> Result<Self, SinkError> {
        let mut connection = Connection::open(settings).await?;
        let name = settings.name();
        let prepared = prepare(&mut connection.client, &name, log, first);
        match timeout(settings.statement_timeout, prepared).await {
            Ok(Ok((id, counters, found))) => {
                Ok(Self { connection, settings: Arc::clone(settings), id, counters, found })
            }
            Ok(Err(Failed::Sink(error))) => Err(error),
            Ok(Err(Failed::Request(doing, error))) => Err(connection.failed(settings, doing, &error).await),
            Err(_) => Err(unavailable(settings, "no answer in time")),
        }
    }

    /// Adds records in one transaction. If that fails, or is dropped, the connection closes, and the transaction may be done
    /// or not.
    pub(super) async fn add(
        mut self,
        log: &Log,
        batch: &Batch,
        chunk: &Chunk,
    ) -> Result<(Self, Outcome), SinkError> {
        let after = chunk.after(log)?;
        let time = self.settings.statement_timeout;
        match timeout(time, self.transact(batch, chunk, after)).await {
            Ok(Ok(outcome)) => Ok((self, outcome)),
            Ok(Err(Failed::Sink(error))) => Err(error),
            Ok(Err(Failed::Request(doing, error))) => {
                Err(self.connection.failed(&self.settings, doing, &error).await)
            }
            Err(_) => Err(unavailable(&self.settings, "the records were not taken in time")),
        }
    }

    async fn transact(&mut self, batch: &Batch, chunk: &Chunk, after: u32) -> Result<Outcome, Failed> {
        let doing = |doing: &'static str| move |error| Failed::Request(doing, error);
        let transaction = self.connection.client.transaction().await.map_err(doing("begin a transaction"))?;
        let last = chunk.rows(batch).last().map_or(Timestamp::UNIX_EPOCH, |row| row.time);
        let sql = "UPDATE DisplayToID SET NumberOfRecords = $1, LogStopTime = $2 \
                   WHERE GUID = $3 AND NumberOfRecords = $4";
        // Both fit; a record has a number in an integer column.
        let (before, records) = (chunk.before.cast_signed(), after.cast_signed());
        let updated = transaction.execute(sql, &[&records, &time_text(last), &self.id, &before]).await;
        if updated.map_err(doing("count the records"))? != 1 {
            let found = counted(&transaction, self.id).await.map_err(doing("count the records"))?;
            return found.map(Outcome::Moved).ok_or_else(|| Failed::Sink(gone(&self.settings)));
        }
        let (rows, bytes) = copy(&transaction, self.id, &self.counters, batch, chunk)
            .await
            .map_err(doing("copy records into CounterData"))?;
        if rows.sent != rows.taken {
            let text =
                format!("{} of {} rows were taken; look for triggers of CounterData", rows.taken, rows.sent);
            let message = format!("{}: {text}", self.settings.name());
            return Err(Failed::Sink(failure(SinkErrorKind::Refused, message)));
        }
        transaction.commit().await.map_err(doing("commit"))?;
        Ok(Outcome::Done { records: after, bytes })
    }

    /// Takes leave of the server.
    pub(super) async fn close(self) {
        self.connection.close().await;
    }
}

/// Somebody deletes logs while they are written.
fn gone(settings: &PostgresSettings) -> SinkError {
    let message = format!(
        "{}: the log is no more in DisplayToID; it begins again with the next records",
        settings.name()
    );
    failure(SinkErrorKind::Unavailable, message)
}

/// In one transaction, and one writer at a time: makes or checks the tables, begins or finds the data set and the counters.
async fn prepare(
    client: &mut Client,
    database: &str,
    log: &Log,
    first: Timestamp,
) -> Result<(DataSetId, Vec<Option<i32>>, Counted), Failed> {
    let doing = |doing: &'static str| move |error| Failed::Request(doing, error);
    let transaction = client.transaction().await.map_err(doing("begin a transaction"))?;
    let locked = transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await;
    locked.map_err(doing("wait for other writers"))?;
    tables::prepare(&transaction, database).await?;
    let (id, found) = data_set(&transaction, log, first).await?;
    let counters = tables::counter_ids(&transaction, log).await;
    let counters = counters.map_err(doing("look up the counters in CounterDetails"))?;
    transaction.commit().await.map_err(doing("commit"))?;
    Ok((id, counters, found))
}

/// The id of the log, which is begun if it is not there, and what there is of it.
async fn data_set(
    transaction: &Transaction<'_>,
    log: &Log,
    first: Timestamp,
) -> Result<(DataSetId, Counted), Failed> {
    let doing = |doing: &'static str| move |error| Failed::Request(doing, error);
    let sql = "SELECT GUID FROM DisplayToID WHERE DisplayString = $1 LIMIT 1";
    let found = transaction.query_opt(sql, &[&log.name]).await;
    let found = found.map_err(doing("find the log in DisplayToID"))?;
    if let Some(row) = found {
        let id: DataSetId = row.try_get(0).map_err(doing("find the log in DisplayToID"))?;
        // Somebody else may have begun it, and not counted.
        let sql = "UPDATE DisplayToID SET NumberOfRecords = coalesce((SELECT max(RecordIndex) FROM CounterData \
                   WHERE CounterData.GUID = $1), 0) WHERE GUID = $1 AND NumberOfRecords IS NULL";
        transaction.execute(sql, &[&id]).await.map_err(doing("count the records"))?;
        if let Some(counted) = counted(transaction, id).await.map_err(doing("count the records"))? {
            return Ok((id, counted));
        }
    }
    let no_random = || failure(SinkErrorKind::Other, "the system has no random bytes for the id of a log");
    let id = DataSetId::random().ok_or_else(|| Failed::Sink(no_random()))?;
    let (minutes, zone) = zone_fields(&log.zone, first);
    let start = time_text(first);
    let sql = "INSERT INTO DisplayToID (GUID, RunID, DisplayString, LogStartTime, LogStopTime, NumberOfRecords, \
               MinutesToUTC, TimeZoneName) VALUES ($1, 0, $2, $3, $3, 0, $4, $5)";
    let begun = transaction.execute(sql, &[&id, &log.name, &start, &minutes, &zone]).await;
    begun.map_err(doing("begin the log in DisplayToID"))?;
    Ok((id, Counted { records: 0, stop: start }))
}

/// What there is of a log; nothing if the log is not there.
async fn counted(transaction: &Transaction<'_>, id: DataSetId) -> Result<Option<Counted>, Error> {
    let sql =
        "SELECT coalesce(NumberOfRecords, 0), coalesce(LogStopTime, '') FROM DisplayToID WHERE GUID = $1";
    let read = |row: Row| {
        let (records, stop) = (row.try_get::<_, i32>(0)?, row.try_get::<_, &str>(1)?);
        Ok(Counted { records: u32::try_from(records).unwrap_or(0), stop: stop.trim_end().to_owned() })
    };
    transaction.query_opt(sql, &[&id]).await?.map(read).transpose()
}

/// Rows that were sent, and that the server says it has taken.
struct CopiedRows {
    sent: u64,
    taken: u64,
}

/// Sends rows of `CounterData` in the binary format of COPY. They go out while they are made, some kilobytes at a time.
async fn copy(
    transaction: &Transaction<'_>,
    id: DataSetId,
    counters: &[Option<i32>],
    batch: &Batch,
    chunk: &Chunk,
) -> Result<(CopiedRows, u64), Error> {
    let sql = format!("COPY CounterData ({}) FROM STDIN (FORMAT binary)", COUNTER_DATA.column_names());
    let sink = transaction.copy_in(&sql).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &TYPES));
    let mut sent = 0;
    for (index, is_first, row) in chunk.numbered(batch) {
        let time = time_text(row.time);
        for value in values(row, counters, is_first) {
            let raw = value.raw;
            let raw = raw
                .map(|raw| [raw.first.low, raw.first.high, raw.second.low, raw.second.high, raw.multi_count]);
            let part = |index: usize| raw.map(|raw| raw[index]);
            let (a, b, c, d, count) = (part(0), part(1), part(2), part(3), part(4));
            let fields: [&(dyn ToSql + Sync); 10] =
                [&id, &value.counter, &index, &time, &value.value, &a, &b, &c, &d, &count];
            writer.as_mut().write(&fields).await?;
            sent += 1;
        }
    }
    let taken = writer.finish().await?;
    Ok((CopiedRows { sent, taken }, sent * ROW_BYTES))
}

/// The columns of `CounterData` in their order.
const TYPES: [Type; 10] = [
    Type::UUID,
    Type::INT4,
    Type::INT4,
    Type::BPCHAR,
    Type::FLOAT8,
    Type::INT4,
    Type::INT4,
    Type::INT4,
    Type::INT4,
    Type::INT4,
];

/// What a row takes on the server's disk, by its documentation: the head of a row and its place in a page (28), the columns
/// with their alignment (81), and an entry of the index (36).
const ROW_BYTES: u64 = 145;

/// The lock of all writers of PDH's tables in a database, of any process: `PDH` in ASCII.
const LOCK: i64 = 0x0050_4448;

impl ToSql for DataSetId {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.put_slice(&self.0);
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for DataSetId {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw.try_into()?))
    }

    accepts!(UUID);
}
