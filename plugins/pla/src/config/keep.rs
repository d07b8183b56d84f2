//! What the data manager of a set of the configuration does.

use ms_pla::xml::{DataManager, FolderAction};
use ms_pla::{FolderActionSteps, ResourcePolicy};

use super::log_settings::{ActionSettings, Days, DeleteFirst, KeepSettings};
use super::{Refusal, Settings};

/// A set of the configuration has a report of each run, and limits and actions where it says so.
pub(super) fn manager(settings: &Settings, keep: Option<&KeepSettings>) -> Result<DataManager, Refusal> {
    let KeepSettings { folders, size, free, delete, actions } = keep.cloned().unwrap_or_default();
    if actions.len() > ACTIONS_MAX {
        return Err(("/keep/actions".to_owned(), format!("list at most {ACTIONS_MAX} actions")));
    }
    let actions = actions.iter().enumerate().map(|(index, it)| {
        action(settings, it).map_err(|message| (format!("/keep/actions/{index}/do"), message.to_owned()))
    });
    Ok(DataManager {
        is_enabled: Some(true),
        folders_max: folders,
        size_max_mb: size.map(|size| size.0),
        free_disk_min_mb: free.map(|free| free.0),
        resource_policy: Some(match delete {
            DeleteFirst::Oldest => ResourcePolicy::DELETE_OLDEST,
            DeleteFirst::Largest => ResourcePolicy::DELETE_LARGEST,
        }),
        folder_actions: actions.collect::<Result<_, Refusal>>()?,
        ..DataManager::default()
    })
}

fn action(settings: &Settings, action: &ActionSettings) -> Result<FolderAction, &'static str> {
    let ActionSettings { age, size, steps } = action;
    let steps = steps.iter().fold(FolderActionSteps(0), |all, step| all | step.bit());
    if steps == FolderActionSteps(0) {
        return Err("name at least one step, such as `create_cab`");
    }
    if steps.contains(FolderActionSteps::SEND_CAB) && settings.cabinets.is_none() {
        return Err("write where cabinet files are sent, `cabinets` at the module");
    }
    Ok(FolderAction {
        age_days: age.map(|Days(days)| days),
        size_mb: size.map(|size| size.0),
        actions: Some(steps),
        // For messages.
        send_cab_to: settings.cabinets.as_ref().map(|directory| directory.display().to_string()),
        ..FolderAction::default()
    })
}

const ACTIONS_MAX: usize = 16;
