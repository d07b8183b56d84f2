//! [MS-PLA] 3.2.4.17: [`IValueMapItem`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer, VariantBool};
use wire::HResult;

use crate::types::{AnyVariant, ValueMapType};

rpc::interface! {
    /// [MS-PLA] 3.2.4.17: a value with a name, which may be chosen.
    pub orpc interface IValueMapItem: IDispatch("03837533-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.17.1: a text.
        7 => get_Description() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.17.2: sets it.
        8 => put_Description(value: Bstr);

        /// [MS-PLA] 3.2.4.17.3: whether it is chosen.
        9 => get_Enabled() -> (value: VariantBool);
        /// [MS-PLA] 3.2.4.17.4: sets it.
        10 => put_Enabled(value: VariantBool);

        /// [MS-PLA] 3.2.4.17.5: the name.
        11 => get_Key() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.17.6: sets it.
        12 => put_Key(value: Bstr);

        /// [MS-PLA] 3.2.4.17.7: the value.
        13 => get_Value() -> (value: AnyVariant<'stub>);
        /// [MS-PLA] 3.2.4.17.8: sets it.
        14 => put_Value(value: AnyVariant<'stub>);

        /// [MS-PLA] 3.2.4.17.9: the kind of the map that it is for.
        15 => get_ValueMapType() -> (value: ValueMapType);
        /// [MS-PLA] 3.2.4.17.10: sets it.
        16 => put_ValueMapType(value: ValueMapType);
    }
}
