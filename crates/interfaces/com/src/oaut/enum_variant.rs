use rpc::ndr::{ConformantVarying, InterfacePointer};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::HResult;

use crate::oaut::variant::Variant;

rpc::interface! {
    /// [MS-OAUT] 3.3: a position in a collection of variants.
    pub orpc interface IEnumVARIANT: IUnknown("00020404-0000-0000-c000-000000000046") -> HResult {
        /// [MS-OAUT] 3.3.4.1: the next items; S_FALSE if there are fewer than `requested`, which is not 0.
        3 => Next as next_variants(#[ndr(name = "celt")] requested: u32) -> (
            #[ndr(name = "rgVar", size_is = requested, length_is = count)]
            items: ConformantVarying<Option<Box<Variant<'stub>>>>,
            #[ndr(name = "pCeltFetched")] count: u32,
        );

        /// [MS-OAUT] 3.3.4.2: passes over items; S_FALSE if there were fewer.
        4 => Skip as skip_variants(#[ndr(name = "celt")] count: u32);

        /// [MS-OAUT] 3.3.4.3: back to the first item.
        5 => Reset as reset_variants();

        /// [MS-OAUT] 3.3.4.4: another enumerator at the same position.
        6 => Clone as clone_enumerator() -> (
            #[ndr(name = "ppEnum")] enumerator: Option<Box<InterfacePointer<'stub>>>,
        );
    }
}
