/// Where rules get documents from: files of the folder of the run.
pub trait Documents {
    /// The bytes of a file. `name` is one component of a path: it has no separators and no colon, and is neither `.` nor `..`.
    ///
    /// # Errors
    /// A phrase on why there is no such file, for the report.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String>;
}

impl<F: FnMut(&str) -> Result<Vec<u8>, String>> Documents for F {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self(name)
    }
}

/// How much rules may be and do. Defaults leave much room for rules as Windows has them, and end in a few seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps and actions of a document of rules.
    pub actions_max: usize,
    /// Bytes of one expression, after variables were replaced.
    pub expression_bytes_max: usize,
    /// Expressions in expressions.
    pub depth_max: u32,
    /// Bytes of the value of a variable.
    pub value_bytes_max: usize,
    /// Units of work: about one for each node that is looked at, and for four bytes of texts, sets of nodes and documents that are
    /// made or read.
    pub work_max: usize,
    /// Nodes and attributes that the report may have at last.
    pub nodes_max: usize,
    /// Bytes of names and texts that the report may have at last.
    pub bytes_max: usize,
    /// Documents that are read.
    pub documents_max: usize,
    /// Failures that are told; what is above is counted.
    pub failures_max: usize,
    /// Lines of the log.
    pub log_lines_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            actions_max: 10_000,
            expression_bytes_max: 4096,
            depth_max: 24,
            value_bytes_max: 16 << 10,
            work_max: 50_000_000,
            nodes_max: 1_000_000,
            bytes_max: 64 << 20,
            documents_max: 100,
            failures_max: 50,
            log_lines_max: 1000,
        }
    }
}

/// What rules did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Warnings that were inserted.
    pub warnings: usize,
    /// What failed. The rest was done, unless the work was too much.
    pub failures: Vec<Failure>,
    /// What rules would write to their file of `Logging`, if that asks for it.
    pub log: Vec<String>,
    /// Units of work that were done.
    pub work: usize,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Failure {
    /// Group and rule.
    pub place: String,
    /// What failed, and the next step.
    pub reason: String,
}
