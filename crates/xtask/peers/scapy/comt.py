"""The methods of [MS-COMT], and of [MS-DCOM] where these are needed, in shapes by the IDL out of Scapy's own fields.

Scapy's generated shapes are used where they are those of the IDL. They are not for these: the arrays of opnums 4 and 5
and of RemQueryInterface are behind one pointer, and are no arrays of pointers; the object of opnum 3 is behind a pointer;
the BSTR of opnum 8 is behind one pointer, not two; the lists of ComplexPing are behind one each."""

import uuid

from msrpcs import ms_comt
from scapy.layers.dcerpc import (
    NDRConfFieldListField,
    NDRConfPacketListField,
    NDRFullPointerField,
    NDRIntField,
    NDRLongField,
    NDRPacket,
    NDRPacketField,
    NDRShortField,
)
from scapy.layers.msrpce.raw import ms_dcom

TRACKER_CLASS = uuid.UUID("ECABAFB9-7F19-11D2-978E-0000F8757E2A")
DUMP_CLASS = uuid.UUID("ECABB0C4-7F19-11D2-978E-0000F8757E2A")
IID_TRACKER = uuid.UUID("B60040E0-BCF3-11D1-861D-0080C729264D")
IID_EVENTS = uuid.UUID("4E6CDCC9-FB25-4FD5-9CC5-C9F4B6559CEC")
IID_DUMP = uuid.UUID("23C9DD26-2355-4FE2-84DE-F779A238ADBD")
UNTRACKED = 0xFFFFFFFF


def array(name, structure, count):
    """`[size_is(,*count)] structure**`"""
    items = NDRConfPacketListField(name, [], structure, size_is=lambda pkt: getattr(pkt, count))
    return NDRFullPointerField(items)


class GetContainerDataResponse(NDRPacket):
    fields_desc = [
        NDRIntField("nContainers", None, size_of="aContainerData"),
        array("aContainerData", ms_comt.ContainerData, "nContainers"),
        NDRIntField("status", 0),
    ]


class GetComponentDataByContainerResponse(NDRPacket):
    fields_desc = [
        NDRIntField("nComponents", None, size_of="aComponentData"),
        array("aComponentData", ms_comt.ComponentData, "nComponents"),
        NDRIntField("status", 0),
    ]


class OnNewTrackingInfoRequest(NDRPacket):
    fields_desc = [
        NDRFullPointerField(
            NDRPacketField("pToplevelCollection", ms_dcom.MInterfacePointer(), ms_dcom.MInterfacePointer)
        )
    ]


class DumpProcessResponse(NDRPacket):
    fields_desc = [
        NDRFullPointerField(
            NDRPacketField("pbstrDumpFile", ms_comt.FLAGGED_WORD_BLOB(), ms_comt.FLAGGED_WORD_BLOB)
        ),
        NDRIntField("status", 0),
    ]


class RemQueryInterfaceResponse(NDRPacket):
    """[MS-DCOM] 3.1.1.5.6.1.1; how many results there are is in the request."""

    fields_desc = [
        NDRFullPointerField(
            NDRConfPacketListField("ppQIResults", [], ms_dcom.REMQIRESULT, size_is=lambda pkt: pkt.cIids)
        ),
        NDRIntField("status", 0),
    ]


class ComplexPingRequest(NDRPacket):
    """[MS-DCOM] 3.1.2.5.1.3"""

    fields_desc = [
        NDRLongField("pSetId", 0),
        NDRShortField("SequenceNum", 0),
        NDRShortField("cAddToSet", None, size_of="AddToSet"),
        NDRShortField("cDelFromSet", None, size_of="DelFromSet"),
        *(
            NDRFullPointerField(
                NDRConfFieldListField(name, [], NDRLongField("", 0), size_is=lambda pkt, of=count: getattr(pkt, of))
            )
            for name, count in (("AddToSet", "cAddToSet"), ("DelFromSet", "cDelFromSet"))
        ),
    ]


TRACKER_METHODS = {
    4: (ms_comt.GetContainerData_Request, GetContainerDataResponse),
    5: (ms_comt.GetComponentDataByContainer_Request, GetComponentDataByContainerResponse),
    6: (
        ms_comt.GetComponentDataByContainerAndCLSID_Request,
        ms_comt.GetComponentDataByContainerAndCLSID_Response,
    ),
}
EVENTS_METHODS = {3: (OnNewTrackingInfoRequest, ms_comt.OnNewTrackingInfo_Response)}
DUMP_METHODS = {
    7: (ms_comt.IsSupported_Request, ms_comt.IsSupported_Response),
    8: (ms_comt.DumpProcess_Request, DumpProcessResponse),
}
REM_UNKNOWN_METHODS = {
    3: (ms_dcom.RemQueryInterface_Request, RemQueryInterfaceResponse),
    4: (ms_dcom.RemAddRef_Request, ms_dcom.RemAddRef_Response),
    5: (ms_dcom.RemRelease_Request, ms_dcom.RemRelease_Response),
}


def container_data(one):
    """A container, from the names of [MS-COMT] 2.2.3."""
    statistics = ("cCalls", "cComponentInstances", "cComponents", "cCallsPerSecond")
    return ms_comt.ContainerData(
        dwLegacyId=one["dwLegacyId"],
        wszApplicationIdentifier=one["wszApplicationIdentifier"].ljust(40, "\0"),
        dwProcessId=one["dwProcessId"],
        statistics=ms_comt.ContainerStatistics(**{name: one[name] for name in statistics}),
    )


def component_data(one):
    """A component, from the names of [MS-COMT] 2.2.4."""
    figures = {name: UNTRACKED if figure is None else figure for name, figure in one.items() if name != "clsid"}
    return ms_comt.ComponentData(clsid=ms_comt.GUID(uuid.UUID(one["clsid"]).bytes_le), **figures)
