//! [MS-PLA] 2.2.2.7: PDH's three tables, with the columns that PDH really makes: `MultiCount`, `TimeBaseA` and `TimeBaseB` are
//! not in the text.

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [TableColumn],
    /// What follows the columns.
    pub(crate) keys: &'static str,
    /// An index on this column, for our own look-ups.
    pub(crate) index: Option<&'static str>,
}

/// A column of a table.
#[derive(Debug)]
pub(crate) struct TableColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_required: bool,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Guid,
    /// A number that the database gives.
    Identity,
    Int,
    Float,
    /// A text of fixed length.
    Char(i32),
    /// A text of variable length.
    Varchar(i32),
}

pub(crate) const COUNTER_DATA: Table = Table {
    name: "CounterData",
    columns: &[
        required("GUID", Kind::Guid),
        required("CounterID", Kind::Int),
        required("RecordIndex", Kind::Int),
        required("CounterDateTime", Kind::Char(24)),
        required("CounterValue", Kind::Float),
        optional("FirstValueA", Kind::Int),
        optional("FirstValueB", Kind::Int),
        optional("SecondValueA", Kind::Int),
        optional("SecondValueB", Kind::Int),
        optional("MultiCount", Kind::Int),
    ],
    keys: "PRIMARY KEY (GUID, CounterID, RecordIndex)",
    index: None,
};

/// The counters of all logs.
pub(crate) const COUNTER_DETAILS: Table = Table {
    name: "CounterDetails",
    columns: &[
        required("CounterID", Kind::Identity),
        required("MachineName", Kind::Varchar(1024)),
        required("ObjectName", Kind::Varchar(1024)),
        required("CounterName", Kind::Varchar(1024)),
        required("CounterType", Kind::Int),
        required("DefaultScale", Kind::Int),
        optional("InstanceName", Kind::Varchar(1024)),
        optional("InstanceIndex", Kind::Int),
        optional("ParentName", Kind::Varchar(1024)),
        optional("ParentObjectID", Kind::Int),
        optional("TimeBaseA", Kind::Int),
        optional("TimeBaseB", Kind::Int),
    ],
    keys: "PRIMARY KEY (CounterID)",
    index: Some("MachineName"),
};

pub(crate) const DISPLAY_TO_ID: Table = Table {
    name: "DisplayToID",
    columns: &[
        required("GUID", Kind::Guid),
        optional("RunID", Kind::Int),
        required("DisplayString", Kind::Varchar(1024)),
        optional("LogStartTime", Kind::Char(24)),
        optional("LogStopTime", Kind::Char(24)),
        optional("NumberOfRecords", Kind::Int),
        optional("MinutesToUTC", Kind::Int),
        optional("TimeZoneName", Kind::Char(32)),
    ],
    keys: "PRIMARY KEY (GUID), UNIQUE (DisplayString)",
    index: None,
};

pub(crate) const TABLES: [&Table; 3] = [&COUNTER_DATA, &COUNTER_DETAILS, &DISPLAY_TO_ID];

/// What the columns of a log's counters are read by.
pub(crate) const SELECT_COUNTERS: &str = "SELECT CounterID, MachineName, ObjectName, CounterName, CounterType, DefaultScale, \
     InstanceName, InstanceIndex, ParentName, TimeBaseA, TimeBaseB FROM CounterDetails";

impl Table {
    /// The statements that make the table; `type_of` says what a dialect calls its types, `ending` what it wants after it.
    pub(crate) fn create(&self, type_of: fn(Kind) -> String, ending: &str) -> String {
        let column = |column: &TableColumn| {
            let null = if column.is_required { " NOT NULL" } else { "" };
            format!("{} {}{null}", column.name, type_of(column.kind))
        };
        let columns: Vec<_> = self.columns.iter().map(column).collect();
        let mut statements =
            format!("CREATE TABLE {} ({}, {}){ending};", self.name, columns.join(", "), self.keys);
        if let Some(column) = self.index {
            let name = self.name;
            statements.push_str(&format!(" CREATE INDEX {name}_{column} ON {name} ({column});"));
        }
        statements
    }

    /// The names of its columns.
    pub(crate) fn column_names(&self) -> String {
        self.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

const fn required(name: &'static str, kind: Kind) -> TableColumn {
    TableColumn { name, kind, is_required: true }
}

const fn optional(name: &'static str, kind: Kind) -> TableColumn {
    TableColumn { name, kind, is_required: false }
}
