//! Laws of all declared interfaces.

use com::comev::{
    IEnumEventObject, IEventObjectCollection, IEventSubscription, IEventSubscription2, IEventSubscription3,
    IEventSystem, IEventSystem2,
};
use com::comt::{IComTrackingInfoEvents, IGetTrackingData, IProcessDump};
use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use com::oaut::{IDispatch, IEnumVARIANT};
use counters::pcq::perflibv2::methods::PerflibV2;
use counters::rrp::winreg::Winreg;
use ms_pla::{
    IAlertDataCollector, IApiTracingDataCollector, IConfigurationDataCollector, IDataCollector,
    IDataCollectorCollection, IDataCollectorSet, IDataCollectorSetCollection, IDataManager, IFolderAction,
    IFolderActionCollection, IPerformanceCounterDataCollector, ISchedule, IScheduleCollection,
    ITraceDataCollector, ITraceDataProvider, ITraceDataProviderCollection, IValueMap, IValueMapItem,
};
use rpc::endpoints::epm::ept::Ept;
use rpc::endpoints::mgmt::management::Mgmt;
use rpc::ndr::Error;
use rpc::{Direction, Interface, Method};
use wire::EncodeResult;

use crate::input::Input;

pub type Recode = fn(Direction, u16, &[u8]) -> Option<rpc::ndr::Result<EncodeResult<Vec<u8>>>>;

/// An interface, as far as its laws need it.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    pub name: &'static str,
    pub methods: &'static [Method],
    pub recode: Recode,
}

const DECLARED: &str = "the method is declared";

const fn declared<I: Interface>() -> Declared {
    Declared { name: I::NAME, methods: I::METHODS, recode: I::recode }
}

/// All declared interfaces. A test compares them with the declarations in the sources.
pub const INTERFACES: [Declared; 38] = [
    declared::<PerflibV2>(),
    declared::<Winreg>(),
    declared::<IObjectExporter>(),
    declared::<IRemoteSCMActivator>(),
    declared::<IRemUnknown>(),
    declared::<IRemUnknown2>(),
    declared::<IDispatch>(),
    declared::<IGetTrackingData>(),
    declared::<IProcessDump>(),
    declared::<IComTrackingInfoEvents>(),
    declared::<IEventSystem>(),
    declared::<IEventSystem2>(),
    declared::<IEventSubscription>(),
    declared::<IEventSubscription2>(),
    declared::<IEventSubscription3>(),
    declared::<IEventObjectCollection>(),
    declared::<IEnumEventObject>(),
    declared::<IEnumVARIANT>(),
    declared::<IDataCollectorSet>(),
    declared::<IDataManager>(),
    declared::<IFolderAction>(),
    declared::<IFolderActionCollection>(),
    declared::<IDataCollector>(),
    declared::<IPerformanceCounterDataCollector>(),
    declared::<IConfigurationDataCollector>(),
    declared::<IAlertDataCollector>(),
    declared::<ITraceDataCollector>(),
    declared::<IApiTracingDataCollector>(),
    declared::<ITraceDataProvider>(),
    declared::<ISchedule>(),
    declared::<ITraceDataProviderCollection>(),
    declared::<IScheduleCollection>(),
    declared::<IDataCollectorCollection>(),
    declared::<IDataCollectorSetCollection>(),
    declared::<IValueMapItem>(),
    declared::<IValueMap>(),
    declared::<Ept>(),
    declared::<Mgmt>(),
];

/// A stub of any declared method: interface, method and direction in three bytes, then the stub. What can be read is
/// written, and read and written again as it is; what cannot, is an error that says where.
pub fn stubs(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let interface = &INTERFACES[usize::from(input.byte()) % INTERFACES.len()];
    let method = &interface.methods[usize::from(input.byte()) % interface.methods.len()];
    let direction = if input.byte() & 1 == 0 { Direction::Request } else { Direction::Reply };
    let stub = input.rest();
    match (interface.recode)(direction, method.opnum, stub).expect(DECLARED) {
        Ok(written) => check_recoded(interface, direction, method.opnum, written),
        Err(error) => check_place(&error, stub),
    }
}

/// Reads a message, and writes and reads it again; whether it is one.
pub(crate) fn is_read<I: Interface>(direction: Direction, opnum: u16, stub: &[u8]) -> bool {
    let Ok(written) = I::recode(direction, opnum, stub).expect(DECLARED) else {
        return false;
    };
    check_recoded(&declared::<I>(), direction, opnum, written);
    true
}

/// What is written is read, and written again as it is.
fn check_recoded(interface: &Declared, direction: Direction, opnum: u16, written: EncodeResult<Vec<u8>>) {
    // A text that just fits without the NUL that some leave out does not fit with it.
    if let Ok(written) = written {
        let again = (interface.recode)(direction, opnum, &written).expect(DECLARED);
        let again = again.expect("what is written is read");
        assert_eq!(again.as_ref(), Ok(&written), "{} {opnum}", interface.name);
    }
}

/// An error names the structure or method, the field or parameter, and a place in the stub.
fn check_place(error: &Error, stub: &[u8]) {
    let (context, field, offset) = match error {
        Error::Decode(error) => (error.context, error.field, error.offset),
        Error::Range(error) => (error.context, error.field, error.offset),
    };
    assert!(!context.is_empty() && !field.is_empty(), "{error}");
    assert!(offset <= stub.len(), "{error}: the stub has {} bytes", stub.len());
}
