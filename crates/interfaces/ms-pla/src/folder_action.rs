//! [MS-PLA] 3.2.4.3: [`IFolderAction`] and the messages of its methods.

use com::oaut::{Bstr, IDispatch, IDispatchServer};
use wire::HResult;

use crate::types::FolderActionSteps;

rpc::interface! {
    /// [MS-PLA] 3.2.4.3: what is done with a folder of data that is old and large enough.
    pub orpc interface IFolderAction: IDispatch("03837543-098b-11d8-9414-505054503030") -> HResult {
        /// [MS-PLA] 3.2.4.3.1: days after which it is done; 0 is at once.
        7 => get_Age() -> (value: u32);
        /// [MS-PLA] 3.2.4.3.2: sets it.
        8 => put_Age(value: u32);

        /// [MS-PLA] 3.2.4.3.3: MB from which it is done; 0 is any.
        9 => get_Size() -> (value: u32);
        /// [MS-PLA] 3.2.4.3.4: sets it.
        10 => put_Size(value: u32);

        /// [MS-PLA] 3.2.4.3.5: what is done.
        11 => get_Actions() -> (value: FolderActionSteps);
        /// [MS-PLA] 3.2.4.3.6: sets it.
        12 => put_Actions(value: FolderActionSteps);

        /// [MS-PLA] 3.2.4.3.7: the folder to which cabinet files are sent.
        13 => get_SendCabTo() -> (value: Bstr);
        /// [MS-PLA] 3.2.4.3.8: sets it.
        14 => put_SendCabTo(value: Bstr);
    }
}
