//! [MS-DCOM] 3.1.2.5.2.2, the interface `IRemoteSCMActivator` of a host's object resolver, which creates objects: plain RPC
//! whose methods have what comes before the parameters of objects as parameters of their own.

use rpc::ndr::InterfacePointer;
use rpc::orpc::{OrpcThat, OrpcThis};
use wire::HResult;

rpc::interface! {
    /// [MS-DCOM] 1.9: remote activation, version 0.0.
    pub interface IRemoteSCMActivator("000001a0-0000-0000-c000-000000000046", 0.0) -> HResult {
        /// [MS-DCOM] 3.1.2.5.2.3: the factory of a class. `properties` is an
        /// [`ActivationRequest`](crate::dcom::activation::ActivationRequest), `activated` an
        /// [`Activation`](crate::dcom::activation::Activation).
        3 => RemoteGetClassObject(
            #[ndr(name = "orpcthis")] this: OrpcThis<'stub>,
            #[ndr(name = "pActProperties")] properties: Option<Box<InterfacePointer<'stub>>>,
        ) -> (
            #[ndr(name = "orpcthat")] that: OrpcThat<'stub>,
            #[ndr(name = "ppActProperties")] activated: Option<Box<InterfacePointer<'stub>>>,
        );

        /// [MS-DCOM] 3.1.2.5.2.3: a new object of a class. `outer` means nothing; the others are those of
        /// [`RemoteGetClassObjectRequest`].
        4 => RemoteCreateInstance(
            #[ndr(name = "orpcthis")] this: OrpcThis<'stub>,
            #[ndr(name = "pUnkOuter")] outer: Option<Box<InterfacePointer<'stub>>>,
            #[ndr(name = "pActProperties")] properties: Option<Box<InterfacePointer<'stub>>>,
        ) -> (
            #[ndr(name = "orpcthat")] that: OrpcThat<'stub>,
            #[ndr(name = "ppActProperties")] activated: Option<Box<InterfacePointer<'stub>>>,
        );
    }
}
