#!/usr/bin/env python3
"""Reads the COM+ tracker of a server with Scapy's DCOM client: resolver, activation, references, pings, and the methods of
tracker and process dumps. The server's clock has to stand still.

    client.py --host 127.0.0.1 --port 1135 --account 'SIM\\metrics' --password-file /run/secrets/password

With --dump CONTAINER it has that container's process dumped instead. Prints one JSON object; ends with 1 if the server
does something else than [MS-DCOM] and [MS-COMT] say.
"""

import argparse
import json
import sys
import uuid

import comt
import orpc
from msrpcs import ms_comt
from scapy.layers import ntlm
from scapy.layers.dcerpc import DCE_C_AUTHN_LEVEL, DCERPC_Transport, DceRpc5Fault, find_dcerpc_interface
from scapy.layers.msrpce import msdcom
from scapy.layers.msrpce.raw import ms_dcom
from scapy.layers.msrpce.rpcclient import DCERPC_Client
from scapy.layers.ntlm import NTLMSSP, NTLMv2_RESPONSE

TRACKER = orpc.call_interface("tracker", comt.IID_TRACKER, comt.TRACKER_METHODS)
DUMP = orpc.call_interface("process dump", comt.IID_DUMP, comt.DUMP_METHODS)
EXPORTER = find_dcerpc_interface("IObjectExporter")

S_OK, E_NOINTERFACE, E_INVALIDARG = 0, 0x80004002, 0x80070057
OR_INVALID_SET, RPC_E_DISCONNECTED = 1912, 0x80010108
# [MS-NLMP] 2.2.2.1 MsvAvTimestamp
TIMESTAMP = 7
NO_CONTAINER, NO_SET = 0x7FFFFFFF, 0x0123456789ABCDEF
INVENTED = uuid.UUID("5ca90000-0000-4000-8000-000000000001")
FIGURES = (
    "cTotalReferences",
    "cBoundReferences",
    "cPooledInstances",
    "cInstancesInCall",
    "dwResponseTime",
    "cCallsCompleted",
    "cCallsFailed",
)


class Response(NTLMv2_RESPONSE):
    """With the time that the server told, as [MS-NLMP] 3.1.5.2.1 wants it. Scapy has its own, of which the NTLM of our
    simulated host makes other keys."""

    def computeNTProofStr(self, key, challenge):
        self.TimeStamp = next(pair.Value for pair in self.AvPairs if pair.AvId == TIMESTAMP)
        return super().computeNTProofStr(key, challenge)


ntlm.NTLMv2_RESPONSE = Response


class Client(msdcom.DCOM_Client):
    """Scapy's client at a port of our choice, with the references of [MS-DCOM] 3.1.1.5.6."""

    IREMUNKNOWN = orpc.call_interface(
        "remote unknown", msdcom.find_com_interface("IRemUnknown2").uuid, comt.REM_UNKNOWN_METHODS
    )

    def __init__(self, host, port, ssp):
        super().__init__(ssp=ssp, auth_level=DCE_C_AUTHN_LEVEL.PKT_PRIVACY, verb=False)
        DCERPC_Client.connect(self, host=host, port=port)

    def resolver(self, opnum, request):
        self.bind_or_alter(EXPORTER)
        return DCERPC_Client.sr1_req(self, request, opnum=opnum)

    def ipid_rem_unknown(self, ipid):
        return self.OXID_table[self.IPID_table[ipid].oxid].ipid_IRemUnknown

    def query(self, ipid, interfaces, references):
        """A result for each interface: RemQueryInterface."""
        iids = [orpc.guid(one.uuid) for one in interfaces]
        request = ms_dcom.RemQueryInterface_Request(
            ripid=orpc.guid(ipid), cRefs=references, cIids=len(iids), iids=iids
        )
        response = self.sr1_orpc_req(request, self.ipid_rem_unknown(ipid))
        if response.status != S_OK:
            raise ValueError(f"RemQueryInterface: {response.status:#x}")
        return response.valueof("ppQIResults")

    def learn(self, interface, result):
        """An interface that RemQueryInterface found: its IPID, for calls."""
        std = msdcom.STDOBJREF(bytes(result.std))
        entry = msdcom.IPID_Entry()
        entry.ipid, entry.oxid, entry.oid = std.ipid, std.oxid, std.oid
        entry.iid, entry.iface, entry.cPublicRefs = interface.uuid, interface, std.cPublicRefs
        self.IPID_table[std.ipid] = entry
        return std

    def count(self, request, ipid, references):
        """RemAddRef or RemRelease."""
        one = ms_dcom.REMINTERFACEREF(ipid=orpc.guid(ipid), cPublicRefs=references, cPrivateRefs=0)
        return self.sr1_orpc_req(request(cInterfaceRefs=1, InterfaceRefs=[one]), self.ipid_rem_unknown(ipid))

    def is_gone(self, ipid):
        """Whether calls of this interface are answered by a fault; Scapy's own function expects none."""
        entry = self.OXID_table[self.IPID_table[ipid].oxid]
        entry.client.bind_or_alter(TRACKER)
        this = ms_dcom.ORPCTHIS(version=entry.version, cid=self.cid, ndr64=False)
        request = this / ms_comt.GetContainerData_Request(ndr64=False)
        answer = entry.client.sr1_req(request, opnum=4, objectuuid=ipid)
        return DceRpc5Fault in answer and answer.status == RPC_E_DISCONNECTED


class Check:
    def __init__(self):
        self.problems = []

    def expect(self, what, found, wanted):
        if found != wanted:
            self.problems.append(f"{what} is {found!r} and not {wanted!r}")


def server_alive(arguments, check):
    """[MS-DCOM] 3.1.2.5.1.6, at our port and without security."""
    client = DCERPC_Client(
        DCERPC_Transport.NCACN_IP_TCP, ndr64=False, auth_level=DCE_C_AUTHN_LEVEL.NONE, verb=False
    )
    client.connect(arguments.host, port=arguments.port)
    client.bind(EXPORTER)
    alive = client.sr1_req(ms_dcom.ServerAlive2_Request(ndr64=False))
    client.close()
    strings, security = msdcom._ParseStringArray(alive.valueof("ppdsaOrBindings"))
    version = (alive.pComVersion.MajorVersion, alive.pComVersion.MinorVersion)
    check.expect("ServerAlive2", (alive.status, version), (S_OK, orpc.VERSION))
    # The short name of the host comes first, as of Windows.
    addresses = [(one.wTowerId, one.aNetworkAddr) for one in strings]
    check.expect("addresses", addresses[1:], [(orpc.TCP, arguments.host)])
    check.expect("a name without dots", "." in addresses[0][1], False)
    check.expect("NTLM among the services", NTLMSSP.auth_type in [one.wAuthnSvc for one in security], True)


def resolve(client, ipid, check):
    """The resolver says of the program what the activation said."""
    entry = client.OXID_table[client.IPID_table[ipid].oxid]
    request = ms_dcom.ResolveOxid2_Request(pOxid=entry.oxid, arRequestedProtseqs=[orpc.TCP], ndr64=False)
    answer = client.resolver(4, request)
    strings, _ = msdcom._ParseStringArray(answer.valueof("ppdsaOxidBindings"))
    found = (orpc.from_guid(answer.pipidRemUnknown), client._ChoseRPCBinding(strings), answer.pAuthnHint)
    check.expect("ResolveOxid2", found, (entry.ipid_IRemUnknown, entry.bindingInfo, entry.authnHint))


def ping(client, oid, check):
    def complex_ping(**fields):
        answer = client.resolver(2, comt.ComplexPingRequest(ndr64=False, **fields))
        check.expect("ComplexPing", answer.status, S_OK)
        return answer.pSetId

    def simple_ping(number):
        return client.resolver(1, ms_dcom.SimplePing_Request(pSetId=number, ndr64=False)).status

    number = complex_ping(SequenceNum=1, AddToSet=[oid])
    check.expect("a set has a number", number != 0, True)
    check.expect("SimplePing", simple_ping(number), S_OK)
    check.expect("the set that loses its object", complex_ping(pSetId=number, SequenceNum=2, DelFromSet=[oid]), number)
    check.expect("SimplePing of no set", simple_ping(NO_SET), OR_INVALID_SET)


def components_of(client, ipid, container, check):
    """The components of a container, which are the same one by one."""
    request = ms_comt.GetComponentDataByContainer_Request(idContainer=container)
    components = client.sr1_orpc_req(request, ipid).valueof("aComponentData") or []
    for component in components:
        one = by_class(client, ipid, container, component.clsid)
        found = (one.status, bytes(one.valueof("ppComponentData") or b""))
        check.expect(f"opnum 6 of container {container}", found, (S_OK, bytes(component)))
    return components


def by_class(client, ipid, container, clsid):
    request = ms_comt.GetComponentDataByContainerAndCLSID_Request(
        idContainer=container, clsid=ms_comt.GUID(bytes(clsid))
    )
    return client.sr1_orpc_req(request, ipid)


def read_tracker(client, ipid, check):
    """All containers with all components, in the names of the document."""
    answer = client.sr1_orpc_req(ms_comt.GetContainerData_Request(), ipid)
    check.expect("GetContainerData", answer.status, S_OK)
    containers = []
    for one in answer.valueof("aContainerData"):
        text, rest = one.wszApplicationIdentifier[:38], one.wszApplicationIdentifier[38:]
        check.expect("the end of an identifier", rest, "\0\0")
        statistics = one.statistics
        containers.append(
            {
                "dwLegacyId": one.dwLegacyId,
                "wszApplicationIdentifier": text,
                "dwProcessId": one.dwProcessId,
                **{field.name: getattr(statistics, field.name) for field in statistics.fields_desc},
                "components": [
                    {"clsid": str(orpc.from_guid(component.clsid))}
                    | {name: tracked(getattr(component, name)) for name in FIGURES}
                    for component in components_of(client, ipid, one.dwLegacyId, check)
                ],
            }
        )
    unknown = client.sr1_orpc_req(ms_comt.GetComponentDataByContainer_Request(idContainer=NO_CONTAINER), ipid)
    found = (unknown.nComponents, unknown.aComponentData, unknown.status)
    check.expect("components of no container", found, (0, None, E_INVALIDARG))
    unknown = by_class(client, ipid, containers[0]["dwLegacyId"], INVENTED.bytes_le)
    check.expect("no component", (unknown.ppComponentData, unknown.status), (None, E_INVALIDARG))
    return containers


def tracked(figure):
    return None if figure == comt.UNTRACKED else figure


def use_tracker(client, check):
    tracker = client.RemoteCreateInstance(comt.TRACKER_CLASS, [TRACKER])
    [ipid] = client.OID_table[tracker.oid].ipids
    references = client.IPID_table[ipid].cPublicRefs
    resolve(client, ipid, check)
    ping(client, tracker.oid, check)
    containers = read_tracker(client, ipid, check)
    # Two interfaces at once: one that it has, and one that another class has.
    again, refused = client.query(ipid, [TRACKER, DUMP], 2)
    check.expect("IProcessDump of the tracker", refused.hResult & 0xFFFFFFFF, E_NOINTERFACE)
    std = client.learn(TRACKER, again)
    found = (again.hResult, std.oid, std.ipid, std.cPublicRefs)
    check.expect("the same interface once more", found, (S_OK, tracker.oid, ipid, 2))
    added = client.count(ms_dcom.RemAddRef_Request, ipid, 3)
    check.expect("RemAddRef", (added.valueof("pResults"), added.status), ([S_OK], S_OK))
    for number in (references, 2):
        check.expect("RemRelease", client.count(ms_dcom.RemRelease_Request, ipid, number).status, S_OK)
    check.expect("the object is gone while it is referred to", client.is_gone(ipid), False)
    client.count(ms_dcom.RemRelease_Request, ipid, 3)
    check.expect("the object is gone without references", client.is_gone(ipid), True)
    return containers


def use_dump(client, container, check):
    """A process dump of a container, and of one that nobody has. The answer is the file's path."""
    dump = client.RemoteCreateInstance(comt.DUMP_CLASS, [DUMP])
    [first] = client.OID_table[dump.oid].ipids
    references = client.IPID_table[first].cPublicRefs
    refused, found = client.query(first, [TRACKER, DUMP], 1)
    check.expect("IGetTrackingData of process dumps", refused.hResult & 0xFFFFFFFF, E_NOINTERFACE)
    check.expect("IProcessDump", found.hResult, S_OK)
    ipid = client.learn(DUMP, found).ipid
    client.count(ms_dcom.RemRelease_Request, first, references)
    check.expect("IsSupported", client.sr1_orpc_req(ms_comt.IsSupported_Request(), ipid).status, S_OK)

    def write(identifier):
        request = ms_comt.DumpProcess_Request(bstrContainerID=bstr(identifier), bstrDirectory=None, dwMaxFiles=1)
        return client.sr1_orpc_req(request, ipid)

    check.expect("a dump of no container", write("{" + str(INVENTED) + "}").status, E_INVALIDARG)
    path = None
    if container:
        written = write(container)
        check.expect("DumpProcess", written.status, S_OK)
        path = bytes(written.valueof("pbstrDumpFile").asData).decode("utf-16le")
    client.count(ms_dcom.RemRelease_Request, ipid, 1)
    return path


def bstr(text):
    """[MS-OAUT] 2.2.23.2; Scapy would count bytes for units."""
    data = text.encode("utf-16le")
    return ms_comt.FLAGGED_WORD_BLOB(cBytes=len(data), clSize=len(text), asData=data, max_count=len(text))


def main():
    parser = argparse.ArgumentParser()
    for name in ("host", "account", "password-file"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dump", metavar="CONTAINER")
    arguments = parser.parse_args()
    password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    domain, user = arguments.account.split("\\")
    client = Client(arguments.host, arguments.port, NTLMSSP(UPN=f"{user}@{domain}", PASSWORD=password))
    check, found = Check(), {}
    if arguments.dump:
        found["file"] = use_dump(client, arguments.dump, check)
    else:
        server_alive(arguments, check)
        found["containers"] = use_tracker(client, check)
        use_dump(client, None, check)
    client.close()
    print(json.dumps(found | {"problems": check.problems}))
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
