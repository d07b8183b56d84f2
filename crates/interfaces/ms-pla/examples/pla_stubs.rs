//! Prints a request and a reply of each method of this crate's interfaces with made-up values, for readers that are not ours.
//! Each line has an interface, an opnum, `in` or `out`, and bytes in hexadecimal digits. Every stub was read and written by this
//! crate's declaration of its method. go-msrpc's forms are used: arrays behind one pointer, VARIANTs of requests behind none.
//!
//! `cargo run -p ms-pla --example pla_stubs`
//!
//! With the word `values` it prints what is in the parameters, in words, instead of the bytes.

use std::error::Error;

use ms_pla::{
    IAlertDataCollector, IApiTracingDataCollector, IConfigurationDataCollector, IDataCollector,
    IDataCollectorCollection, IDataCollectorSet, IDataCollectorSetCollection, IDataManager, IFolderAction,
    IFolderActionCollection, IPerformanceCounterDataCollector, ISchedule, IScheduleCollection,
    ITraceDataCollector, ITraceDataProvider, ITraceDataProviderCollection, IValueMap, IValueMapItem,
};
use rpc::ndr::{EncodeResult, EnumForm};
use rpc::{Direction, Interface};

use self::made_up::{DIRECTIONS, rows};

#[path = "../tests/it/made_up.rs"]
mod made_up;

type Recoded = Option<rpc::ndr::Result<EncodeResult<Vec<u8>>>>;

/// What an interface makes of a stub.
fn recode(name: &str, direction: Direction, opnum: u16, stub: &[u8]) -> Recoded {
    macro_rules! interfaces {
        ($($interface:ident)*) => {
            match name {
                $(stringify!($interface) => <$interface as Interface>::recode(direction, opnum, stub),)*
                _ => None,
            }
        };
    }
    interfaces! {
        IDataCollectorSet IDataManager IFolderAction IFolderActionCollection IDataCollector
        IPerformanceCounterDataCollector IConfigurationDataCollector IAlertDataCollector ITraceDataCollector
        IApiTracingDataCollector ITraceDataProvider ISchedule ITraceDataProviderCollection IScheduleCollection
        IDataCollectorCollection IDataCollectorSetCollection IValueMapItem IValueMap
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let has_values = std::env::args().nth(1).as_deref() == Some("values");
    for row in rows() {
        for (direction, word) in DIRECTIONS {
            let name = format!("{} {} {word}", row.interface, row.opnum);
            let (stub, words) = row.stub(direction, EnumForm::Either)?;
            if has_values {
                println!("{name} {words}");
                continue;
            }
            let recoded = recode(row.interface, direction, row.opnum, &stub);
            let mut stub = recoded.ok_or_else(|| format!("{name}: there is no such method"))???;
            if row.has_variant_without_pointer(direction) {
                // Behind ORPCTHIS; what follows the pointer is aligned to eight.
                stub.drain(32..40);
            }
            let digits: String = stub.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{name} {digits}");
        }
    }
    Ok(())
}
