use cap_std::fs::Dir;
use jiff::Timestamp;
use ms_pla::DataManagerSteps;

/// What a data manager is run on.
pub struct Request<'a> {
    /// The set's folder.
    pub root: &'a Dir,
    /// Whether a folder is of a run that goes on, and is not touched. It is asked before anything is done with a folder.
    pub is_in_use: &'a dyn Fn(&str) -> bool,
    /// The time, from which the age of folders follows.
    pub now: Timestamp,
    /// Where cabinet files are sent. It should be a folder of this set alone: names of folders are unique in a set only.
    pub send_to: Option<&'a Dir>,
    /// [MS-PLA] 2.2.2.6: what is done. Only folder actions and freeing of resources mean something here.
    pub steps: DataManagerSteps,
    /// Whether to stop. It is asked between any two changes on the disk.
    pub stop: &'a dyn Fn() -> bool,
}

impl<'a> Request<'a> {
    /// All steps on the folders in `root`, without a run that goes on and without a place for cabinet files.
    #[must_use]
    pub fn new(root: &'a Dir, now: Timestamp) -> Self {
        let steps = DataManagerSteps::FOLDER_ACTIONS | DataManagerSteps::RESOURCE_FREEING;
        Self { root, is_in_use: &|_| false, now, send_to: None, steps, stop: &|| false }
    }
}
