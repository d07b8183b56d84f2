//! The tables in SQLite: made if they are missing, and checked if they are there.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{Kind, SELECT_COUNTERS, TABLES, Table, TableColumn};
use super::failed;
use crate::database::failure;
use crate::database::log::{Counter, Halves, Log};
use crate::{SinkError, SinkErrorKind};

/// Makes what is missing, and refuses tables of another form.
pub(super) fn prepare(connection: &Connection, database: &str) -> Result<(), SinkError> {
    for table in TABLES {
        let sql = "SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE";
        let found = connection.query_row(sql, [table.name], |row| row.get::<_, String>(0)).optional();
        match found.map_err(|error| failed(database, "read the schema", &error))?.as_deref() {
            None => {
                // The primary key is the table, so that the values of a counter are side by side.
                let ending = if table.name == "CounterData" { " WITHOUT ROWID" } else { "" };
                let made = connection.execute_batch(&table.create(type_of, ending));
                made.map_err(|error| failed(database, "make the tables", &error))?;
            }
            Some("table") => check(connection, database, table)?,
            Some(other) => return Err(of_another_form(database, table, &format!("it is a {other}"))),
        }
    }
    Ok(())
}

fn type_of(kind: Kind) -> String {
    match kind {
        Kind::Guid => "CHAR(36)".to_owned(),
        Kind::Identity => "INTEGER".to_owned(),
        Kind::Int => "INT".to_owned(),
        Kind::Float => "FLOAT".to_owned(),
        Kind::Char(length) => format!("CHAR({length})"),
        Kind::Varchar(length) => format!("VARCHAR({length})"),
    }
}

/// A column as the database describes it.
struct Found {
    name: String,
    declared: String,
    is_required: bool,
    key: i64,
}

fn check(connection: &Connection, database: &str, table: &Table) -> Result<(), SinkError> {
    let sql =
        "SELECT name, upper(type), \"notnull\" <> 0 AND dflt_value IS NULL, pk FROM pragma_table_info(?1)";
    let read = |row: &Row<'_>| {
        Ok(Found { name: row.get(0)?, declared: row.get(1)?, is_required: row.get(2)?, key: row.get(3)? })
    };
    let columns = connection
        .prepare(sql)
        .and_then(|mut statement| statement.query_map([table.name], read)?.collect::<Result<Vec<_>, _>>())
        .map_err(|error| failed(database, "read the schema", &error))?;
    for wanted in table.columns {
        let found = columns.iter().find(|column| column.name.eq_ignore_ascii_case(wanted.name));
        match found {
            None => {
                return Err(of_another_form(database, table, &format!("it has no column {}", wanted.name)));
            }
            Some(found) if fits(wanted, found) => {}
            Some(found) => {
                let what = format!("its column {} is {}", wanted.name, found.declared);
                return Err(of_another_form(database, table, &what));
            }
        }
    }
    let is_ours = |name: &str| table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    match columns.iter().find(|column| column.is_required && !is_ours(&column.name)) {
        Some(column) => {
            let what = format!("its column {} has no default", column.name);
            Err(of_another_form(database, table, &what))
        }
        None => Ok(()),
    }
}

/// By the rules by which SQLite finds the affinity of a column.
fn fits(wanted: &TableColumn, found: &Found) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| found.declared.contains(part));
    match wanted.kind {
        Kind::Guid | Kind::Char(_) | Kind::Varchar(_) => !has(&["INT"]) && has(&["CHAR", "CLOB", "TEXT"]),
        Kind::Float => !has(&["INT", "CHAR", "CLOB", "TEXT"]) && has(&["REAL", "FLOA", "DOUB"]),
        Kind::Int => has(&["INT"]),
        // Only this type numbers its rows by itself.
        Kind::Identity => found.declared == "INTEGER" && found.key == 1,
    }
}

fn of_another_form(database: &str, table: &Table, what: &str) -> SinkError {
    let message = format!(
        "{database}: table {} is not as Windows makes it: {what}; use another file, or rename the table",
        table.name
    );
    failure(SinkErrorKind::Refused, message)
}

/// `CounterID` of each column of the log; nothing where the column is the same counter as an earlier one. Counters that the
/// table does not have are added. Call it within a transaction that writes.
pub(super) fn counter_ids(connection: &Connection, log: &Log) -> rusqlite::Result<Vec<Option<i32>>> {
    let mut wanted: HashMap<&Counter, usize> = HashMap::with_capacity(log.counters.len());
    for (column, counter) in log.counters.iter().enumerate() {
        wanted.entry(counter).or_insert(column);
    }
    let mut ids = vec![None; log.counters.len()];
    let mut machines: Vec<&str> = log.counters.iter().map(|counter| counter.machine.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let sql = format!("{SELECT_COUNTERS} WHERE MachineName = ?1 ORDER BY CounterID");
    let mut select = connection.prepare(&sql)?;
    for machine in machines {
        let mut rows = select.query([machine])?;
        while let Some(row) = rows.next()? {
            let Some((id, counter)) = read_counter(row) else { continue };
            // A counter that is twice in the table has the smaller id.
            if let Some(column) = wanted.remove(&counter) {
                ids[column] = Some(id);
            }
        }
    }
    let mut missing: Vec<_> = wanted.into_iter().collect();
    missing.sort_unstable_by_key(|(_, column)| *column);
    for (counter, column) in missing {
        ids[column] = Some(insert(connection, counter)?);
    }
    Ok(ids)
}

/// A row of another writer may have values that a counter of ours cannot have; it is none of ours then.
fn read_counter(row: &Row<'_>) -> Option<(i32, Counter)> {
    let counter = Counter {
        machine: row.get(1).ok()?,
        object: row.get(2).ok()?,
        counter: row.get(3).ok()?,
        counter_type: row.get(4).ok()?,
        default_scale: row.get(5).ok()?,
        instance: row.get(6).ok()?,
        instance_index: row.get(7).ok()?,
        parent: row.get(8).ok()?,
        time_base: Halves { low: row.get(9).ok()?, high: row.get(10).ok()? },
    };
    Some((row.get(0).ok()?, counter))
}

fn insert(connection: &Connection, counter: &Counter) -> rusqlite::Result<i32> {
    let sql = "INSERT INTO CounterDetails (MachineName, ObjectName, CounterName, CounterType, DefaultScale, InstanceName, \
               InstanceIndex, ParentName, TimeBaseA, TimeBaseB) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
               RETURNING CounterID";
    let values = params![
        counter.machine,
        counter.object,
        counter.counter,
        counter.counter_type,
        counter.default_scale,
        counter.instance,
        counter.instance_index,
        counter.parent,
        counter.time_base.low,
        counter.time_base.high,
    ];
    connection.query_row(sql, values, |row| row.get(0))
}
