//! A class that hosts do not come with: made up here, and added to a host's objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dcerpc::FaultStatus;
use rpc::orpc::{IUnknown, IUnknownServer, ObjectInterface};
use rpc::{CallInfo, Interface, ServerResult};
use windows_sim::HostState;
use windows_sim::service::Call;
use windows_sim::service::objects::{ComClass, ComInterface, ComObject, Program, Refusing};
use wire::{Guid, HResult};

rpc::interface! {
    pub orpc interface ILamp: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd60") -> HResult {
        /// Says how bright it is.
        3 => GetBrightness() -> (brightness: u32);
    }
}
rpc::interface! {
    /// Something with a switch.
    pub orpc interface ISwitch: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd61") -> HResult {
        3 => Toggle();
    }
}
rpc::interface! {
    /// What a lamp is not.
    pub orpc interface IHeater: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd62") -> HResult {
        /// Says how warm it is.
        3 => GetHeat() -> (heat: u32);
    }
}

pub(crate) const LAMP: Guid = Guid::from_u128(0x1a3b);

/// Makes lamps, and counts those that are there.
#[derive(Clone, Default)]
pub(crate) struct LampClass(pub(crate) Arc<AtomicU32>);

struct Lamp {
    count: Arc<AtomicU32>,
    is_on: bool,
}

impl ComClass for LampClass {
    fn clsid(&self) -> Guid {
        LAMP
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[
            ComInterface { name: "lamp", syntax_id: ILamp::SYNTAX_ID, refuse: ILamp::dispatch },
            ComInterface { name: "switch", syntax_id: ISwitch::SYNTAX_ID, refuse: ISwitch::dispatch },
        ];
        INTERFACES
    }

    fn create(&self, _: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Lamp { count: Arc::clone(&self.0), is_on: false }))
    }
}

impl Drop for Lamp {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ComObject for Lamp {
    fn call(&mut self, iid: Guid, call: &Call<'_>, _: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        let info = CallInfo { auth_level: call.auth_level, object: call.object };
        match iid {
            ILamp::IID => ILamp::dispatch(self, &info, call.opnum, call.stub),
            _ => ISwitch::dispatch(self, &info, call.opnum, call.stub),
        }
    }
}

impl IUnknownServer for Lamp {}

impl ILampServer for Lamp {
    fn get_brightness(&mut self, _: &GetBrightnessRequest) -> ServerResult<GetBrightnessReply, HResult> {
        Ok(GetBrightnessReply { brightness: if self.is_on { 40 } else { 0 }, status: HResult::S_OK })
    }
}

impl ISwitchServer for Lamp {
    fn toggle(&mut self, _: &ToggleRequest) -> ServerResult<ToggleReply, HResult> {
        self.is_on = !self.is_on;
        Ok(ToggleReply { status: HResult::S_OK })
    }
}

impl ILampServer for Refusing {}

impl ISwitchServer for Refusing {}
