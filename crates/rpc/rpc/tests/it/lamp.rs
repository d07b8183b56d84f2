//! Made-up interfaces of objects that inherit from each other, their server, and a channel to it.

use core::future::{Future, ready};

use dcerpc::AuthLevel;
use rpc::orpc::{ComVersion, IUnknown, IUnknownServer, OrpcThis};
use rpc::{CallInfo, Channel, FaultStatus, Method, ServerResult};
use wire::{Guid, HResult};

rpc::interface! {
    pub(crate) orpc interface ILamp: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd54") -> HResult {
        /// Says how bright it is.
        3 => GetBrightness() -> (brightness: u64);

        5 => GetCaller() -> (cid: Guid);
    }
}

rpc::interface! {
    /// A lamp that can be dimmed.
    pub(crate) orpc interface IDimmer: ILamp("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd55") -> HResult {
        /// Makes it as bright as that.
        6 => Dim(brightness: u64) -> (before: u64);
    }
}

rpc::interface! {
    /// A lamp that can be dimmed, and nothing more.
    pub(crate) orpc interface IDimmer2: IDimmer("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd56") -> HResult {}
}

rpc::interface! {
    /// A lamp that can be dimmed slowly.
    pub(crate) orpc interface IDimmer3: IDimmer2("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd57") -> HResult {
        /// Dims it in so many milliseconds.
        9 => DimSlowly as dim_slowly(brightness: u64, ms: u32);
    }
}

pub(crate) const IPID: Guid = Guid::from_u128(0x1b);

/// A lamp, and who called it last.
pub(crate) struct Lamp {
    pub(crate) brightness: u64,
    pub(crate) version: ComVersion,
    pub(crate) cid: Guid,
    pub(crate) called: Vec<&'static str>,
}

impl Default for Lamp {
    fn default() -> Self {
        Self { brightness: 3, version: ComVersion::V5_7, cid: Guid::NULL, called: Vec::new() }
    }
}

impl IUnknownServer for Lamp {
    fn version(&self) -> ComVersion {
        self.version
    }

    fn authorize(
        &mut self,
        call: &CallInfo,
        this: &OrpcThis<'_>,
        method: &Method,
    ) -> ServerResult<(), HResult> {
        self.called.push(method.name);
        self.cid = this.cid;
        if call.object == Some(IPID) { Ok(()) } else { Err(FaultStatus::RPC_E_DISCONNECTED.into()) }
    }
}

impl ILampServer for Lamp {
    fn get_brightness(&mut self, _: &GetBrightnessRequest) -> ServerResult<GetBrightnessReply, HResult> {
        Ok(GetBrightnessReply { brightness: self.brightness, status: HResult::S_OK })
    }

    fn get_caller(&mut self, _: &GetCallerRequest) -> ServerResult<GetCallerReply, HResult> {
        Ok(GetCallerReply { cid: self.cid, status: HResult::S_FALSE })
    }
}

impl IDimmerServer for Lamp {
    fn dim(&mut self, request: &DimRequest) -> ServerResult<DimReply, HResult> {
        if request.brightness > 10 {
            return Err(HResult::E_INVALIDARG.into());
        }
        let before = std::mem::replace(&mut self.brightness, request.brightness);
        Ok(DimReply { before, status: HResult::S_OK })
    }
}

impl IDimmer2Server for Lamp {}

impl IDimmer3Server for Lamp {}

/// Leads to a lamp.
#[derive(Default)]
pub(crate) struct Wire {
    pub(crate) lamp: Lamp,
    pub(crate) stubs: Vec<Vec<u8>>,
}

impl Channel for Wire {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        self.stubs.push(stub.to_vec());
        let call = CallInfo { auth_level: AuthLevel::PKT_PRIVACY, object };
        ready(IDimmer3::dispatch(&mut self.lamp, &call, opnum, stub))
    }
}
