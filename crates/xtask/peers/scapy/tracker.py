#!/usr/bin/env python3
"""Is a host with a COM+ tracker made of Scapy's RPC server and NTLM within SPNEGO: object resolver, activation, calls.

    tracker.py --account 'SIM\\metrics' --password-file /run/secrets/password --containers containers.json --clients 2

The file has containers in the names of [MS-COMT] 2.2.3, each with its components. Prints `resolving objects on ADDRESS`,
and when so many clients have given their object back and have gone, one JSON object about what they sent. Ends with 1 if anything
about that is wrong.
"""

import argparse
import json
import signal
import sys
import threading
import uuid

import comt
import orpc
from msrpcs import ms_comt
from scapy.layers.dcerpc import DCE_C_AUTHN_LEVEL, find_dcerpc_interface
from scapy.layers.msrpce import msdcom
from scapy.layers.msrpce.raw import ms_dcom
from scapy.layers.msrpce.rpcserver import DCERPC_Server
from scapy.layers.ntlm import NTLMSSP, MD4le
from scapy.layers.spnego import SPNEGOSSP

OXID, OID = 0x0A1B2C3D4E5F6071, 0x8192A3B4C5D6E7F8
IPID = uuid.UUID("7ac4e201-0000-4000-8000-000000000001")
IPID_REM_UNKNOWN = uuid.UUID("7ac4e201-0000-4000-8000-000000000002")
REFERENCES = 5
PRIVACY = DCE_C_AUTHN_LEVEL.PKT_PRIVACY
IDENTIFY = 2
ANY_SESSION = 0xFFFFFFFF
E_INVALIDARG = 0x80070057
TIMEOUT_S = 60
NTLM = 10
# The server takes SPNEGO alone; NTLM is within it.
SERVICES = [SPNEGOSSP.auth_type, NTLM]
# OBJREF; clsid, cbExtension and reserved of OBJREF_CUSTOM; dwSize and dwReserved.
BYTES_BEFORE_HEADER = 24 + 24 + 8

ACTIVATOR = find_dcerpc_interface("IRemoteSCMActivator").opnums
EXPORTER = find_dcerpc_interface("IObjectExporter").opnums
TRACKER = orpc.serve_interface("tracker", comt.IID_TRACKER, comt.TRACKER_METHODS)
REM_UNKNOWN = orpc.serve_interface(
    "remote unknown", msdcom.find_com_interface("IRemUnknown2").uuid, comt.REM_UNKNOWN_METHODS
)


class State:
    """What the host has, and what the client did."""

    def __init__(self, containers, clients):
        self.containers = containers
        self.lock = threading.Lock()
        self.open, self.clients, self.gone = 0, clients, threading.Event()
        self.problems, self.causalities, self.calls, self.activation = [], [], {}, None
        self.program_port = None

    def connected(self):
        with self.lock:
            self.open += 1

    def disconnected(self):
        with self.lock:
            self.open -= 1
            if not self.clients and not self.open:
                self.gone.set()

    def problem(self, text):
        print(text, file=sys.stderr, flush=True)
        with self.lock:
            self.problems.append(text)

    def expect(self, what, found, wanted):
        if found != wanted:
            self.problem(f"{what} is {found!r} and not {wanted!r}")

    def call(self, name, connection, this):
        """A call of an object, or of the activator."""
        self.calls[name] = self.calls.get(name, 0) + 1
        self.expect(f"{name}: level", connection.session.auth_level, PRIVACY)
        self.expect(f"{name}: version", (this.version.MajorVersion, this.version.MinorVersion), orpc.VERSION)
        self.expect(f"{name}: flags", (this.flags, this.reserved1, this.extensions), (0, 0, None))
        self.causalities.append(orpc.from_guid(this.cid))


class Resolver(orpc.Server):
    """The port 135 of other hosts."""

    @DCERPC_Server.answer(EXPORTER[5].request)
    def server_alive2(self, _):
        bindings = orpc.dual_string_array(orpc.LOOPBACK, SERVICES)
        return ms_dcom.ServerAlive2_Response(
            pComVersion=orpc.version(), ppdsaOrBindings=bindings, ndr64=False
        )

    @DCERPC_Server.answer(ACTIVATOR[4].request)
    def remote_create_instance(self, request):
        call = request[ACTIVATOR[4].request]
        self.state.call("RemoteCreateInstance", self, call.orpcthis)
        self.state.expect("pUnkOuter", call.pUnkOuter, None)
        read_activation(self.state, call.valueof("pActProperties").abData)
        return ACTIVATOR[4].response(
            ppActProperties=ms_dcom.MInterfacePointer(abData=bytes(activated(self.state))), ndr64=False
        )


def read_activation(state, data):
    """What Scapy's classes find in the properties of [MS-DCOM] 2.2.22.2."""
    objref = msdcom.OBJREF(data)
    state.expect("OBJREF", (objref.flags, objref.iid), (4, msdcom.IID_IActivationPropertiesIn))
    state.expect("OBJREF_CUSTOM", objref.clsid, msdcom.CLSID_ActivationPropertiesIn)
    blob = objref.pObjectData
    header = blob.CustomHeader
    sizes, formats = header.valueof("pSizes"), [orpc.from_guid(one) for one in header.valueof("pclsid")]
    state.expect("totalSize", header.totalSize, header.headerSize + sum(sizes))
    state.expect("dwSize", blob.dwSize, header.totalSize)
    state.expect("bytes behind dwReserved", len(bytes(data)) - BYTES_BEFORE_HEADER, header.totalSize)
    state.expect("destCtx", header.destCtx, 2)
    properties = dict(zip(formats, blob.Property, strict=True))
    check_properties(state, properties)
    state.activation = [type(one.payload.payload).__name__ for one in blob.Property]


def check_properties(state, properties):
    special = properties[msdcom.CLSID_SpecialSystemProperties][msdcom.SpecialPropertiesData]
    state.expect("dwSessionId", (special.dwSessionId, special.fRemoteThisSessionId), (ANY_SESSION, 0))
    state.expect("dwDefaultAuthnLvl", special.dwDefaultAuthnLvl, PRIVACY)
    instance = properties[msdcom.CLSID_InstantiationInfo][msdcom.InstantiationInfoData]
    state.expect("classId", orpc.from_guid(instance.classId), comt.TRACKER_CLASS)
    state.expect("pIID", [orpc.from_guid(one) for one in instance.valueof("pIID")], [comt.IID_TRACKER])
    version = instance.clientCOMVersion
    state.expect("clientCOMVersion", (version.MajorVersion, version.MinorVersion), orpc.VERSION)
    context = properties[msdcom.CLSID_ActivationContextInfo][msdcom.ActivationContextInfoData]
    client = msdcom.OBJREF(context.valueof("pIFDClientCtx").abData)
    state.expect("pIFDClientCtx", (client.iid, client.clsid), (msdcom.IID_IContext, msdcom.CLSID_ContextMarshaler))
    state.expect("Context", client.pObjectData.Flags.CTXMSHLFLAGS_BYVAL, True)
    security = properties[msdcom.CLSID_SecurityInfo][msdcom.SecurityInfoData]
    name = security.valueof("pServerInfo").valueof("pwszName")
    # Scapy answers UTF-16 in one byte a unit.
    state.expect("pwszName", name, orpc.LOOPBACK.encode())
    location = properties[msdcom.CLSID_ServerLocationInfo][msdcom.LocationInfoData]
    state.expect("machineName", location.machineName, None)
    request = properties[msdcom.CLSID_ScmRequestInfo][msdcom.ScmRequestInfoData].valueof("remoteRequest")
    state.expect("ClientImpLevel", request.ClientImpLevel, IDENTIFY)
    state.expect("pRequestedProtseqs", request.valueof("pRequestedProtseqs"), [orpc.TCP])


def activated(state):
    """The answer: where the object is."""
    std = msdcom.STDOBJREF(flags=0, cPublicRefs=REFERENCES, oxid=OXID, oid=OID, ipid=IPID)
    objref = msdcom.OBJREF(flags=1, iid=comt.IID_TRACKER) / msdcom.OBJREF_STANDARD(
        std=std, saResAddr=orpc.dual_string_array(orpc.LOOPBACK, SERVICES)
    )
    reply = msdcom.ScmReplyInfoData(
        remoteReply=msdcom.customREMOTE_REPLY_SCM_INFO(
            Oxid=OXID,
            pdsaOxidBindings=orpc.dual_string_array(f"{orpc.LOOPBACK}[{state.program_port}]", SERVICES),
            ipidRemUnknown=orpc.guid(IPID_REM_UNKNOWN),
            authnHint=PRIVACY,
            serverVersion=orpc.version(),
        ),
        ndr64=False,
    )
    out = msdcom.PropsOutInfo(
        piid=[orpc.guid(comt.IID_TRACKER)],
        phresults=[0],
        ppIntfData=[ms_dcom.MInterfacePointer(abData=bytes(objref))],
        ndr64=False,
    )
    properties = {msdcom.CLSID_PropsOutInfo: out, msdcom.CLSID_ScmReplyInfo: reply}
    header = msdcom.CustomHeader(
        pclsid=[orpc.guid(one) for one in properties],
        pSizes=[pickled(one) for one in properties.values()],
        ndr64=False,
    )
    header.headerSize = pickled(header)
    header.totalSize = header.headerSize + sum(header.valueof("pSizes"))
    blob = msdcom.ActivationPropertiesBlob(CustomHeader=header, Property=list(properties.values()))
    return msdcom.OBJREF(flags=4, iid=msdcom.IID_IActivationPropertiesOut) / msdcom.OBJREF_CUSTOM(
        clsid=msdcom.CLSID_ActivationPropertiesOut, pObjectData=blob
    )


def pickled(structure):
    """Bytes of a structure by type serialization: two headers of 8, and a multiple of 8."""
    size = len(bytes(structure))
    return 16 + size + -size % 8


class Program(orpc.Server):
    """The program with the tracker."""

    def begin(self, name, request, method, ipid):
        call = request[method.request]
        self.state.call(name, self, call.orpc)
        self.state.expect(f"{name}: IPID", orpc.object_of(request), ipid)
        return call

    def found(self, call):
        return next((one for one in self.state.containers if one["dwLegacyId"] == call.idContainer), None)

    @DCERPC_Server.answer(TRACKER[4].request)
    def get_container_data(self, request):
        self.begin("GetContainerData", request, TRACKER[4], IPID)
        containers = [comt.container_data(one) for one in self.state.containers]
        return TRACKER[4].response(aContainerData=containers, ndr64=False)

    @DCERPC_Server.answer(TRACKER[5].request)
    def get_component_data_by_container(self, request):
        call = self.begin("GetComponentDataByContainer", request, TRACKER[5], IPID)
        container = self.found(call)
        if container is None:
            return TRACKER[5].response(nComponents=0, aComponentData=None, status=E_INVALIDARG, ndr64=False)
        # [MS-COMT] 3.1.4.1.2: no components are NULL.
        components = [comt.component_data(one) for one in container["components"]] or None
        return TRACKER[5].response(aComponentData=components, ndr64=False)

    @DCERPC_Server.answer(TRACKER[6].request)
    def get_component_data_by_container_and_clsid(self, request):
        call = self.begin("GetComponentDataByContainerAndCLSID", request, TRACKER[6], IPID)
        clsid = str(orpc.from_guid(call.clsid))
        components = self.found(call)["components"]
        found = next((one for one in components if one["clsid"] == clsid), None)
        if found is None:
            return TRACKER[6].response(ppComponentData=None, status=E_INVALIDARG, ndr64=False)
        return TRACKER[6].response(ppComponentData=comt.component_data(found), ndr64=False)

    @DCERPC_Server.answer(REM_UNKNOWN[5].request)
    def rem_release(self, request):
        call = self.begin("RemRelease", request, REM_UNKNOWN[5], IPID_REM_UNKNOWN)
        given = [
            (orpc.from_guid(one.ipid), one.cPublicRefs, one.cPrivateRefs) for one in call.valueof("InterfaceRefs")
        ]
        self.state.expect("references given back", given, [(IPID, REFERENCES, 0)])
        with self.state.lock:
            self.state.clients -= 1
        return REM_UNKNOWN[5].response(ndr64=False)


def main():
    parser = argparse.ArgumentParser()
    for name in ("account", "password-file", "containers"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--clients", type=int, default=1)
    arguments = parser.parse_args()
    password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    state = State(json.load(open(arguments.containers, encoding="utf-8")), arguments.clients)
    domain, user = arguments.account.split("\\")
    ntlm = NTLMSSP(IDENTITIES={user: MD4le(password)}, DOMAIN_NB_NAME=domain, DOMAIN_FQDN="sim.example")
    ssp = SPNEGOSSP([ntlm])
    state.program_port = orpc.serve(Program, state, ssp=ssp, min_auth_level=PRIVACY)
    print(f"resolving objects on {orpc.LOOPBACK}:{orpc.serve(Resolver, state, ssp=ssp)}", flush=True)
    if not state.gone.wait(TIMEOUT_S):
        state.problem(f"not all clients have given their object back and gone within {TIMEOUT_S} s")
    state.expect("causality ids", len(set(state.causalities)), len(state.causalities))
    found = {"properties": state.activation, "calls": state.calls, "problems": state.problems}
    # From here on it ends by itself, and its status says how it went.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"report {json.dumps(found)}", flush=True)
    return 1 if state.problems else 0


if __name__ == "__main__":
    sys.exit(main())
