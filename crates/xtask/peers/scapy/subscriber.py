#!/usr/bin/env python3
"""Is a subscriber of COM+ tracker events made of Scapy's RPC server: its resolver, its references, OnNewTrackingInfo; all
without security.

Prints `listening on ADDRESS`, where its resolver is, the OBJREF of the subscriber as `reference HEX`, for each event that
is not like the last one `state JSON` with its processes, and `problem: …` for whatever is wrong about a call. SIGTERM ends
it: with 1 if there was a problem.
"""

import json
import signal
import sys
import threading
import uuid

import comt
import orpc
import tracking_info
from scapy.layers.dcerpc import find_dcerpc_interface
from scapy.layers.msrpce import msdcom
from scapy.layers.msrpce.raw import ms_dcom
from scapy.layers.msrpce.rpcserver import DCERPC_Server

OXID, OID = 0x1122334455667788, 0x99AABBCCDDEEFF00
IPID_UNKNOWN = uuid.UUID("5b5c0000-0000-4000-8000-000000000001")
IPID_EVENTS = uuid.UUID("5b5c0000-0000-4000-8000-000000000002")
IPID_REM_UNKNOWN = uuid.UUID("5b5c0000-0000-4000-8000-000000000003")
IID_UNKNOWN = uuid.UUID("00000000-0000-0000-c000-000000000046")
REFERENCES = 5
AUTHN_NONE = 1
OR_INVALID_OXID = 1910
E_NOINTERFACE, E_FAIL = -0x7FFFBFFE, 0x80004005

EXPORTER = find_dcerpc_interface("IObjectExporter").opnums
EVENTS = orpc.serve_interface("events", comt.IID_EVENTS, comt.EVENTS_METHODS)
REM_UNKNOWN = orpc.serve_interface(
    "remote unknown", msdcom.find_com_interface("IRemUnknown").uuid, comt.REM_UNKNOWN_METHODS
)
REM_UNKNOWN2 = orpc.serve_interface(
    "remote unknown 2", msdcom.find_com_interface("IRemUnknown2").uuid, comt.REM_UNKNOWN_METHODS
)


class State:
    def __init__(self):
        self.problems, self.lock = 0, threading.Lock()
        self.program_port, self.last = None, None

    def connected(self):
        pass

    def disconnected(self):
        pass

    def problem(self, text):
        with self.lock:
            self.problems += 1
        print(f"problem: {text}", flush=True)

    def event(self, processes):
        with self.lock:
            if processes != self.last:
                print(f"state {json.dumps(processes)}", flush=True)
            self.last = processes

    def expect(self, what, found, wanted):
        if found != wanted:
            self.problem(f"{what} is {found!r} and not {wanted!r}")


class Resolver(orpc.Server):
    @DCERPC_Server.answer(EXPORTER[5].request)
    def server_alive2(self, _):
        return ms_dcom.ServerAlive2_Response(
            pComVersion=orpc.version(), ppdsaOrBindings=orpc.dual_string_array(orpc.LOOPBACK), ndr64=False
        )

    @DCERPC_Server.answer(EXPORTER[4].request)
    def resolve_oxid2(self, request):
        call = request[EXPORTER[4].request]
        self.state.expect("pOxid", call.pOxid, OXID)
        self.state.expect("arRequestedProtseqs", call.valueof("arRequestedProtseqs"), [orpc.TCP])
        return ms_dcom.ResolveOxid2_Response(
            ppdsaOxidBindings=orpc.dual_string_array(f"{orpc.LOOPBACK}[{self.state.program_port}]"),
            pipidRemUnknown=orpc.guid(IPID_REM_UNKNOWN),
            pAuthnHint=AUTHN_NONE,
            pComVersion=orpc.version(),
            ndr64=False,
        )


class Program(orpc.Server):
    def begin(self, name, request, method, ipid):
        call = request[method.request]
        self.state.expect(f"{name}: IPID", orpc.object_of(request), ipid)
        version = call.orpc.version
        self.state.expect(f"{name}: version", (version.MajorVersion, version.MinorVersion), orpc.VERSION)
        self.state.expect(f"{name}: extensions", call.orpc.extensions, None)
        return call

    def rem_query_interface(self, request, method):
        call = self.begin("RemQueryInterface", request, method, IPID_REM_UNKNOWN)
        self.state.expect("ripid", orpc.from_guid(call.ripid), IPID_UNKNOWN)
        results = [self.result(orpc.from_guid(one), call.cRefs) for one in call.valueof("iids")]
        return method.response(ppQIResults=results, ndr64=False)

    @staticmethod
    def result(iid, references):
        if iid != comt.IID_EVENTS:
            return ms_dcom.REMQIRESULT(hResult=E_NOINTERFACE)
        std = ms_dcom.STDOBJREF(
            flags=orpc.NO_PING, cPublicRefs=references, oxid=OXID, oid=OID, ipid=orpc.guid(IPID_EVENTS)
        )
        return ms_dcom.REMQIRESULT(hResult=0, std=std)

    @DCERPC_Server.answer(REM_UNKNOWN[3].request)
    def first_rem_query_interface(self, request):
        return self.rem_query_interface(request, REM_UNKNOWN[3])

    @DCERPC_Server.answer(REM_UNKNOWN2[3].request)
    def second_rem_query_interface(self, request):
        return self.rem_query_interface(request, REM_UNKNOWN2[3])

    @DCERPC_Server.answer(REM_UNKNOWN2[4].request)
    def rem_add_ref(self, request):
        call = self.begin("RemAddRef", request, REM_UNKNOWN2[4], IPID_REM_UNKNOWN)
        return REM_UNKNOWN2[4].response(pResults=[0] * call.cInterfaceRefs, ndr64=False)

    @DCERPC_Server.answer(REM_UNKNOWN2[5].request)
    def rem_release(self, request):
        self.begin("RemRelease", request, REM_UNKNOWN2[5], IPID_REM_UNKNOWN)
        return REM_UNKNOWN2[5].response(ndr64=False)

    @DCERPC_Server.answer(EVENTS[3].request)
    def on_new_tracking_info(self, request):
        call = self.begin("OnNewTrackingInfo", request, EVENTS[3], IPID_EVENTS)
        self.state.expect("protection of an event", self.session.sspcontext, None)
        try:
            processes = tracking_info.read(bytes(call.valueof("pToplevelCollection").abData))
        except ValueError as error:
            self.state.problem(f"an event cannot be read: {error}")
            return EVENTS[3].response(status=E_FAIL, ndr64=False)
        self.state.event(processes)
        return EVENTS[3].response(ndr64=False)


def reference():
    std = msdcom.STDOBJREF(
        flags=orpc.NO_PING, cPublicRefs=REFERENCES, oxid=OXID, oid=OID, ipid=IPID_UNKNOWN
    )
    objref = msdcom.OBJREF(flags=1, iid=IID_UNKNOWN)
    return bytes(objref / msdcom.OBJREF_STANDARD(std=std, saResAddr=orpc.dual_string_array(orpc.LOOPBACK)))


def main():
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    state = State()
    state.program_port = orpc.serve(Program, state)
    print(f"listening on {orpc.LOOPBACK}:{orpc.serve(Resolver, state)}")
    print(f"reference {reference().hex()}", flush=True)
    ended.wait()
    return 1 if state.problems else 0


if __name__ == "__main__":
    sys.exit(main())
