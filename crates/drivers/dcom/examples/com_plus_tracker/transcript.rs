//! What is printed of a call, in the words of `crates/xtask/peers/wine/transcript.h`.

use core::fmt::Write;

use com::comt::{
    ComponentData, ContainerData, DumpProcessReply, DumpProcessRequest,
    GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IsSupportedReply, IsSupportedRequest,
};
use com::oaut::Bstr;
use rpc::Message;
use rpc::ndr::Conformant;
use rpc::orpc::{OrpcExtentArray, OrpcThat, OrpcThis};
use wire::HResult;

/// The lines of a message's parameters.
pub(crate) trait Parameters: Message {
    fn lines(&self) -> String;
}

pub(crate) fn print_request<M: Parameters>(this: &OrpcThis<'_>, request: &M) {
    let OrpcThis { version, flags, reserved1: _, cid, extensions } = this;
    let extents = extents(extensions.as_deref());
    println!("request {} version={version} flags={flags} cid={cid}{extents}", M::METHOD.name);
    print!("{}", request.lines());
}

pub(crate) fn print_reply<M: Parameters>(that: &OrpcThat<'_>, reply: &M) {
    let OrpcThat { flags, extensions } = that;
    println!("reply {} flags={flags}{}", M::METHOD.name, extents(extensions.as_deref()));
    print!("{}", reply.lines());
}

fn extents(extensions: Option<&OrpcExtentArray<'_>>) -> String {
    let Some(OrpcExtentArray { size, reserved: _, extent }) = extensions else { return String::new() };
    let mut text = format!(" size={size}");
    for extent in extent.iter().flat_map(|array| &array.0) {
        match extent {
            Some(extent) => {
                let data =
                    extent.data.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
                write!(text, "\nextent id={} size={} data={data}", extent.id, extent.size)
            }
            None => write!(text, "\nextent null"),
        }
        .expect("a String takes all that is written");
    }
    text
}

impl Parameters for GetContainerDataRequest {
    fn lines(&self) -> String {
        String::new()
    }
}

impl Parameters for GetContainerDataReply {
    fn lines(&self) -> String {
        let Self { count, data, status } = self;
        format!("results nContainers={count} {}", array(data.as_deref(), *status, container))
    }
}

impl Parameters for GetComponentDataByContainerRequest {
    fn lines(&self) -> String {
        format!("arguments idContainer={}\n", self.container)
    }
}

impl Parameters for GetComponentDataByContainerReply {
    fn lines(&self) -> String {
        let Self { count, data, status } = self;
        format!("results nComponents={count} {}", array(data.as_deref(), *status, component))
    }
}

impl Parameters for GetComponentDataByContainerAndClsidRequest {
    fn lines(&self) -> String {
        format!("arguments idContainer={} clsid={}\n", self.container, self.clsid)
    }
}

impl Parameters for GetComponentDataByContainerAndClsidReply {
    fn lines(&self) -> String {
        match &self.data {
            Some(data) => format!("results component {}{}", status(self.status), component(data)),
            None => format!("results null {}", status(self.status)),
        }
    }
}

impl Parameters for IsSupportedRequest {
    fn lines(&self) -> String {
        String::new()
    }
}

impl Parameters for IsSupportedReply {
    fn lines(&self) -> String {
        format!("results {}", status(self.status))
    }
}

impl Parameters for DumpProcessRequest {
    fn lines(&self) -> String {
        let Self { container, directory, files_max } = self;
        format!(
            "arguments bstrContainerID={} bstrDirectory={} dwMaxFiles={files_max}\n",
            bstr(container),
            bstr(directory)
        )
    }
}

impl Parameters for DumpProcessReply {
    fn lines(&self) -> String {
        format!("results pbstrDumpFile={} {}", bstr(&self.file), status(self.status))
    }
}

fn array<T>(data: Option<&Conformant<T>>, result: HResult, element: impl Fn(&T) -> String) -> String {
    match data {
        Some(Conformant(elements)) => {
            format!("array {}{}", status(result), elements.iter().map(element).collect::<String>())
        }
        None => format!("null {}", status(result)),
    }
}

fn container(container: &ContainerData) -> String {
    format!(
        "container dwLegacyId={} wszApplicationIdentifier={} dwProcessId={} cCalls={} cComponentInstances={} \
         cComponents={} cCallsPerSecond={}\n",
        container.legacy_id,
        units(&container.application.0),
        container.process_id,
        container.statistics.calls,
        container.statistics.instances,
        container.statistics.components,
        container.statistics.calls_per_second,
    )
}

fn component(component: &ComponentData) -> String {
    format!(
        "component clsid={} cTotalReferences={} cBoundReferences={} cPooledInstances={} cInstancesInCall={} \
         dwResponseTime={} cCallsCompleted={} cCallsFailed={}\n",
        component.clsid,
        component.total_references.0,
        component.bound_references.0,
        component.pooled_instances.0,
        component.instances_in_call.0,
        component.response_time_ms.0,
        component.calls_completed.0,
        component.calls_failed.0,
    )
}

/// Nothing has two forms, and they differ.
fn bstr(text: &Bstr) -> String {
    match &text.0 {
        Some(blob) => format!("{} asData={}", blob.bytes, units(&blob.units)),
        None => "null".to_owned(),
    }
}

fn units(units: &[u16]) -> String {
    units.iter().fold(String::new(), |digits, unit| format!("{digits}{unit:04x}"))
}

fn status(status: HResult) -> String {
    format!("status={:08x}\n", status.0)
}
