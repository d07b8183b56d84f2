//! [MS-COMT] 1.9 and footnote 15: classes and interfaces.

use ms_dtyp::Guid;

/// Class of the object that is polled. It has the interface [`GET_TRACKING_DATA`].
#[doc(alias = "CLSID_TrackerService")]
pub const TRACKER_SERVICE_CLASS: Guid = Guid::from_u128(0xecabafb9_7f19_11d2_978e_0000f8757e2a);

/// Class of the object that writes process dumps. It has the interface [`PROCESS_DUMP`].
#[doc(alias = "CLSID_ProcessDump")]
pub const PROCESS_DUMP_CLASS: Guid = Guid::from_u128(0xecabb0c4_7f19_11d2_978e_0000f8757e2a);

/// Event class of the COM+ event system to which a client subscribes.
pub const EVENT_CLASS: Guid = Guid::from_u128(0xecabb0c3_7f19_11d2_978e_0000f8757e2a);

/// Unmarshaler that marks a TrackingInfoCollection in an OBJREF_CUSTOM.
#[doc(alias = "CLSID_TrkInfoCollUnmarshal")]
pub const COLLECTION_UNMARSHALER: Guid = Guid::from_u128(0xecabafcd_7f19_11d2_978e_0000f8757e2a);

/// Unmarshaler that marks a TrackingInfoObject in an OBJREF_CUSTOM.
#[doc(alias = "CLSID_TrkInfoObjUnmarshal")]
pub const OBJECT_UNMARSHALER: Guid = Guid::from_u128(0xecabafce_7f19_11d2_978e_0000f8757e2a);

/// The interface `IGetTrackingData`.
pub const GET_TRACKING_DATA: Guid = Guid::from_u128(0xb60040e0_bcf3_11d1_861d_0080c729264d);

/// The interface `IProcessDump`.
pub const PROCESS_DUMP: Guid = Guid::from_u128(0x23c9dd26_2355_4fe2_84de_f779a238adbd);

/// The interface `IComTrackingInfoEvents`, which the client implements.
pub const TRACKING_INFO_EVENTS: Guid = Guid::from_u128(0x4e6cdcc9_fb25_4fd5_9cc5_c9f4b6559cec);
