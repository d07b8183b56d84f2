//! The explain texts that the hosts have in German. Names stand beside the English ones.

use wire::Guid;

use super::{FILE_SYSTEM_DISK_ACTIVITY, PROCESS_V2, PROCESSOR_INFORMATION};

/// What a counterset is about.
pub(crate) fn counterset_explain(guid: Guid) -> Option<&'static str> {
    Some(match guid {
        guid if guid == PROCESSOR_INFORMATION.guid => {
            "Was jeder logische Prozessor tut und wie schnell er l\u{e4}uft."
        }
        guid if guid == PROCESS_V2.guid => "Jeder laufende Prozess.",
        guid if guid == FILE_SYSTEM_DISK_ACTIVITY.guid => {
            "Bytes, die Dateisysteme von Datentr\u{e4}gern lesen und auf sie schreiben."
        }
        _ => return None,
    })
}

/// What a counter counts.
pub(crate) fn counter_explain(guid: Guid, counter: u32) -> Option<&'static str> {
    Some(match (guid, counter) {
        (guid, 0) if guid == PROCESSOR_INFORMATION.guid => {
            "Zeitanteil, in dem der Prozessor nicht im Leerlauf war."
        }
        (guid, 1) if guid == PROCESSOR_INFORMATION.guid => "Zeitanteil im Benutzermodus.",
        (guid, 1) if guid == PROCESS_V2.guid => "Zeitanteil, in dem Threads des Prozesses liefen.",
        (guid, 8) if guid == PROCESS_V2.guid => "K\u{fc}rzlich benutzte Speicherseiten, in Bytes.",
        (guid, 0) if guid == FILE_SYSTEM_DISK_ACTIVITY.guid => "Von Dateisystemen gelesene Bytes.",
        _ => return None,
    })
}
