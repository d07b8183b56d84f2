use ms_pla::xml;
use ms_pla::{FolderActionSteps, ResourcePolicy};

/// Bytes of a megabyte, in which [MS-PLA] gives sizes.
pub(crate) const MB: u64 = 1024 * 1024;

/// [MS-PLA] 3.2.4.2: the properties of a data manager that concern folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerSettings {
    /// `Enabled`: whether it does anything at all.
    pub is_enabled: bool,
    /// `CheckBeforeRunning`: whether a run needs the limits to hold.
    pub checks_before_running: bool,
    /// The limits of what the set keeps on disk.
    pub limits: FolderLimits,
    /// `ResourcePolicy`: which folders are deleted first.
    pub policy: ResourcePolicy,
    /// `FolderActions`, in this order.
    pub folder_actions: Vec<FolderAction>,
    /// `RuleTargetFileName` and `ReportFileName`: the files of a run that are its report.
    pub report_files: Vec<String>,
}

/// What a set may keep on disk. 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderLimits {
    /// `MaxSize`: MB of all files below the set's folder.
    pub size_max_mb: u32,
    /// `MinFreeDisk`: MB that have to be free on the disk.
    pub free_disk_min_mb: u32,
    /// `MaxFolderCount`: folders of runs.
    pub folders_max: u32,
}

/// [MS-PLA] 3.2.4.3: what is done with a folder that is old and large enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderAction {
    /// `Age`: days since the folder was made; 0 is any age.
    pub age_min_days: u32,
    /// `Size`: MB of its files; 0 is any size.
    pub size_min_mb: u32,
    /// `Actions`: what is done.
    pub steps: FolderActionSteps,
    /// `SendCabTo`, as the set has it. It is only repeated in messages: where cabinet files go is in
    /// [`Request::send_to`](crate::data_manager::Request::send_to).
    pub send_cab_to: String,
}

impl Default for ManagerSettings {
    fn default() -> Self {
        Self {
            is_enabled: false,
            checks_before_running: false,
            limits: FolderLimits::default(),
            policy: ResourcePolicy::DELETE_LARGEST,
            folder_actions: Vec::new(),
            report_files: Vec::new(),
        }
    }
}

impl From<&xml::DataManager> for ManagerSettings {
    fn from(manager: &xml::DataManager) -> Self {
        let limits = FolderLimits {
            size_max_mb: manager.size_max_mb.unwrap_or(0),
            free_disk_min_mb: manager.free_disk_min_mb.unwrap_or(0),
            folders_max: manager.folders_max.unwrap_or(0),
        };
        let actions = manager.folder_actions.iter().map(|action| FolderAction {
            age_min_days: action.age_days.unwrap_or(0),
            size_min_mb: action.size_mb.unwrap_or(0),
            steps: action.actions.unwrap_or(FolderActionSteps(0)),
            send_cab_to: action.send_cab_to.clone().unwrap_or_default(),
        });
        let reports = [&manager.rule_target_file_name, &manager.report_file_name];
        Self {
            is_enabled: manager.is_enabled.unwrap_or(false),
            checks_before_running: manager.checks_before_running.unwrap_or(false),
            limits,
            policy: manager.resource_policy.unwrap_or(ResourcePolicy::DELETE_LARGEST),
            folder_actions: actions.collect(),
            report_files: reports.into_iter().flatten().filter(|name| !name.is_empty()).cloned().collect(),
        }
    }
}
