//! [MS-COMT] 1.9 and footnote 15: classes. The identifiers of interfaces are with their declarations.

use wire::Guid;

/// Class of the object that is polled. It has the interface [`IGetTrackingData`](crate::comt::IGetTrackingData).
#[doc(alias = "CLSID_TrackerService")]
pub const TRACKER_SERVICE_CLASS: Guid = Guid::from_u128(0xecabafb9_7f19_11d2_978e_0000f8757e2a);

/// Class of the object that writes process dumps. It has the interface [`IProcessDump`](crate::comt::IProcessDump).
#[doc(alias = "CLSID_ProcessDump")]
pub const PROCESS_DUMP_CLASS: Guid = Guid::from_u128(0xecabb0c4_7f19_11d2_978e_0000f8757e2a);

/// Event class of the COM+ event system to which a client subscribes with an object that has
/// [`IComTrackingInfoEvents`](crate::comt::IComTrackingInfoEvents).
pub const EVENT_CLASS: Guid = Guid::from_u128(0xecabb0c3_7f19_11d2_978e_0000f8757e2a);

/// Unmarshaler that marks a TrackingInfoCollection in an OBJREF_CUSTOM.
#[doc(alias = "CLSID_TrkInfoCollUnmarshal")]
pub const COLLECTION_UNMARSHALER: Guid = Guid::from_u128(0xecabafcd_7f19_11d2_978e_0000f8757e2a);

/// Unmarshaler that marks a TrackingInfoObject in an OBJREF_CUSTOM.
#[doc(alias = "CLSID_TrkInfoObjUnmarshal")]
pub const OBJECT_UNMARSHALER: Guid = Guid::from_u128(0xecabafce_7f19_11d2_978e_0000f8757e2a);
