//! The data manager of a set, as XML.

use super::Error;
use super::element::{Attribute, Element, Node};
use super::field::Field;
use super::read::Limits;
use super::record::record;
use super::{read, write};
use crate::types::{FolderActionSteps, ResourcePolicy};

record! {
    /// See section 3.2.4.2 of [MS-PLA].
    DataManager = "DataManager" {
        one {
            /// Whether it does anything after a run.
            is_enabled: bool = "Enabled",
            /// Whether the limits are checked before a run, too.
            checks_before_running: bool = "CheckBeforeRunning",
            /// MB that have to be free on the disk; 0 is no limit.
            free_disk_min_mb: u32 = "MinFreeDisk",
            /// MB that all folders may take; 0 is no limit.
            size_max_mb: u32 = "MaxSize",
            /// Folders that there may be; 0 is no limit.
            folders_max: u32 = "MaxFolderCount",
            /// Which folders are deleted first.
            resource_policy: ResourcePolicy = "ResourcePolicy",
            /// The file of the report in HTML.
            report_file_name: String = "ReportFileName",
            /// The file of the report in XML.
            rule_target_file_name: String = "RuleTargetFileName",
            /// The file for events of a trace.
            events_file_name: String = "EventsFileName",
            /// What reports contain, with a namespace or without. The printed schema lacks it.
            report_schema: Element = "ReportSchema",
            rules: Element = "Rules",
        }
        many {
            /// What is done with old and large folders.
            folder_actions: FolderAction = "FolderAction",
        }
    }
}

record! {
    /// See section 3.2.4.3 of [MS-PLA].
    FolderAction = "FolderAction" {
        one {
            /// MB from which it is done; 0 is any.
            size_mb: u32 = "Size",
            /// Days after which it is done; 0 is at once.
            age_days: u32 = "Age",
            actions: FolderActionSteps = "Actions",
            /// The folder to which cabinet files are sent.
            send_cab_to: String = "SendCabTo",
        }
        many {}
    }
}

impl DataManager {
    /// [MS-PLA] 2.2.3.3: the files of the host whose reports the report schema imports.
    #[must_use]
    pub fn imports(&self) -> Vec<&str> {
        let mut imports = Vec::new();
        let mut open: Vec<&Element> = self.report_schema.iter().collect();
        while let Some(element) = open.pop() {
            if element.local_name() == "Import" {
                imports.extend(element.attribute("file"));
            }
            // The last one is looked at first.
            let at = open.len();
            open.extend(element.elements());
            open[at..].reverse();
        }
        imports
    }
}
