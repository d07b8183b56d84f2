"""What Scapy's RPC server and client need for object calls: a server that keeps several interfaces of one connection
apart, object calls whose first parameter is ORPCTHIS or ORPCTHAT, and identifiers."""

import socket
import threading
import traceback
import uuid

from scapy.config import conf
from scapy.layers.dcerpc import (
    DCE_RPC_INTERFACES,
    DCERPC_Transport,
    DceRpc5AlterContext,
    DceRpc5Bind,
    DceRpc5BindAck,
    DceRpc5Request,
    DceRpcOp,
    DceRpcSession,
    NDRPacket,
    NDRPacketField,
    find_com_interface,
    register_com_interface,
    register_dcerpc_interface,
)
from scapy.layers.msrpce import msdcom
from scapy.layers.msrpce.raw import ms_dcom
from scapy.layers.msrpce.rpcserver import DCERPC_Server

LOOPBACK = "127.0.0.1"
TCP = int(DCERPC_Transport.NCACN_IP_TCP)
VERSION = (5, 7)
HEADER_BYTES = 16
SUPPORT_HEADER_SIGN = 0x04
# A reference that keeps its object alive without pings.
NO_PING = 0x1000

conf.debug_dissector = True


def guid(value):
    """As a structure of Scapy's."""
    return ms_dcom.GUID(value.bytes_le)


def from_guid(structure):
    return uuid.UUID(bytes_le=bytes(structure))


def version():
    return ms_dcom.COMVERSION(MajorVersion=VERSION[0], MinorVersion=VERSION[1])


def dual_string_array(address, services=()):
    """[MS-DCOM] 2.2.19.1: one address of TCP, and authentication services. Scapy would count bytes for units."""
    strings = bytes(msdcom.STRINGBINDING(wTowerId=TCP, aNetworkAddr=address)) + bytes(2)
    security = b"".join(bytes(msdcom.SECURITYBINDING(wAuthnSvc=service)) for service in services) + bytes(2)
    count = len(strings + security) // 2
    return ms_dcom.DUALSTRINGARRAY(
        wNumEntries=count, wSecurityOffset=len(strings) // 2, aStringArray=strings + security, max_count=count
    )


def object_call(structure, first):
    """A request or a response with the parameter that all calls of objects have first.

    Scapy's session reads it by itself, but not where no other parameter follows."""
    field = NDRPacketField("orpc", first(), first)
    return type(structure.__name__, (NDRPacket,), {"fields_desc": [field, *structure.fields_desc]})


def serve_interface(name, iid, methods):
    """Declares an interface of objects for servers: requests and responses by opnum, without ORPCTHIS and ORPCTHAT."""
    opnums = {
        opnum: DceRpcOp(object_call(request, ms_dcom.ORPCTHIS), object_call(response, ms_dcom.ORPCTHAT))
        for opnum, (request, response) in methods.items()
    }
    register_dcerpc_interface(name=name, uuid=iid, version="0.0", opnums=opnums)
    return opnums


def call_interface(name, iid, methods):
    """Declares an interface of objects for clients."""
    opnums = {opnum: DceRpcOp(request, response) for opnum, (request, response) in methods.items()}
    register_com_interface(name=name, uuid=iid, opnums=opnums)
    return find_com_interface(name)


class Unfinished(Exception):
    """More fragments of a request are to come."""


class Session(DceRpcSession):
    """Scapy's session takes all requests for those of the interface that was bound last, and its server forgets to say
    that headers are signed ([MS-RPCE] 3.3.1.5.2.2), and to wait for a request's last fragment."""

    def __init__(self, **options):
        super().__init__(**options)
        self.interfaces = {}

    def _up_pkt(self, pkt, commit=True):
        if DceRpc5Bind in pkt or DceRpc5AlterContext in pkt:
            for context in pkt.context_elem:
                interface = DCE_RPC_INTERFACES.get((context.abstract_syntax.if_uuid, 0))
                self.interfaces[context.cont_id] = interface
        found = super()._up_pkt(pkt, commit=commit)
        if DceRpc5Request in pkt:
            self.rpc_bind_interface = self.interfaces[pkt.cont_id]
        return found

    def in_pkt(self, pkt, commit=True):
        found = super().in_pkt(pkt, commit=commit)
        if found is None:
            raise Unfinished
        return found

    def commit_rpc_interface(self):
        if self.rpc_bind_interface_commit is not None:
            super().commit_rpc_interface()

    def out_pkt(self, pkt):
        if DceRpc5BindAck in pkt and self.header_sign:
            pkt.pfc_flags = int(pkt.pfc_flags) | SUPPORT_HEADER_SIGN
        return super().out_pkt(pkt)


class Server(DCERPC_Server):
    """A connection of Scapy's RPC server, with a session of ours."""

    state = None

    def __init__(self, **options):
        super().__init__(DCERPC_Transport.NCACN_IP_TCP, ndr64=False, verb=False, **options)
        options.pop("port"), options.pop("min_auth_level", None)
        self.session = Session(**options)

    def recv(self, data):
        try:
            super().recv(data)
        except Unfinished:
            pass


def serve(server, state, **options):
    """Serves on a free port of loopback, which it answers; a failure of a connection is a problem of `state`."""
    listener = socket.create_server((LOOPBACK, 0))
    port = listener.getsockname()[1]

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection):
        state.connected()
        try:
            with connection:
                own = server(port=port, **options)
                own.state = state
                while pdu := read_pdu(connection):
                    own.recv(pdu)
                    while response := own.get_response():
                        connection.sendall(bytes(response))
        except Exception:
            state.problem(traceback.format_exc())
        finally:
            state.disconnected()

    threading.Thread(target=accept, daemon=True).start()
    return port


def read_pdu(connection):
    """One PDU; nothing at the end of the connection."""
    header = read_exactly(connection, HEADER_BYTES)
    if not header:
        return b""
    return header + read_exactly(connection, int.from_bytes(header[8:10], "little") - HEADER_BYTES)


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            if data:
                raise EOFError("the connection ends within a PDU")
            return b""
        data += part
    return data


def object_of(request):
    """The IPID that a request is for."""
    return request[DceRpc5Request].object
