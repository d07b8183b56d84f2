//! [MS-DCOM] 2.2.22: what a client wants activated, and what it gets. Both are properties, each pickled by itself, in an
//! object that marshals itself.

mod blob;
mod properties;
mod reply;
mod request;

pub use self::blob::{ActivationProperties, PROPERTIES_MAX, Property};
pub use self::properties::{
    ActivationContextInfo, CoServerInfo, InstantiationInfo, LocationInfo, Pointers, PropsOutInfo, ScmReply,
    ScmReplyInfo, ScmRequest, ScmRequestInfo, SecurityInfo, SpecialProperties,
};
pub use self::reply::{Activation, InterfaceResult, ObjectExporter};
pub use self::request::{ANY_SESSION, ActivationRequest};
