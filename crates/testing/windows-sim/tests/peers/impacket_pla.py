#!/usr/bin/env python3
"""Lists, reads, starts and stops data collector sets with impacket. impacket knows nothing of [MS-PLA]: the stubs of its
methods are packed and read here by hand, from the documents.

    impacket_pla.py --host 127.0.0.1 --port 1135 --account 'CORP\\\\svc-metrics' --password-file /run/secrets/password

The host has the sets that the simulated host comes with, and refuses changes. Prints one JSON object.
"""

import argparse
import json
import struct
import sys
import xml.etree.ElementTree as ElementTree
from threading import current_thread

from impacket.dcerpc.v5 import transport
from impacket.dcerpc.v5.dcomrt import (
    IID_IRemUnknown,
    INTERFACE,
    DCOMConnection,
    IRemoteSCMActivator,
    IRemUnknown,
)
from impacket.dcerpc.v5.rpcrt import (
    RPC_C_AUTHN_LEVEL_PKT_INTEGRITY,
    RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
    DCERPCException,
)
from impacket.uuid import string_to_bin, uuidtup_to_bin

END = "-098b-11d8-9414-505054503030"
SET, SETS, SERVER_SETS, BOOT_SETS = (string_to_bin(first + END) for first in ("03837521", "03837525", "03837532", "03837539"))


def iid(first):
    return uuidtup_to_bin((first + END, "0.0"))


I_SET, I_SETS, I_COLLECTOR, I_COLLECTORS, I_ALERT = map(iid, ("03837520", "03837524", "038374ff", "03837502", "03837516"))
VT_I4, VT_BSTR, VT_UI4 = 3, 8, 19
S_OK = 0
E_NOTIMPL, E_ACCESSDENIED, DISP_E_BADINDEX = 0x80004001, 0x80070005, 0x8002000B
DCS_NOT_FOUND, DCS_IN_USE, DCS_NOT_RUNNING = 0x80300002, 0x803000AA, 0x80300104
STOPPED, RUNNING = 0, 1


class Failure(Exception):
    """A method returned a status of failure."""


class Writer:
    """The parameters of a request."""

    def __init__(self):
        self.bytes = b""

    def align(self, to):
        self.bytes += b"\0" * (-len(self.bytes) % to)

    def pointer(self):
        self.align(4)
        self.bytes += struct.pack("<L", 0x20000 + len(self.bytes))

    def null(self):
        self.align(4)
        self.bytes += b"\0" * 4
        return self

    def bstr(self, text):
        units = text.encode("utf-16le")
        self.pointer()
        self.bytes += struct.pack("<LLL", len(units) // 2, len(units), len(units) // 2) + units
        return self

    def number(self, vt, number):
        self.pointer()
        # Behind an ORPCTHIS of 32 bytes; what is behind the pointer is aligned to eight.
        self.align(8)
        self.bytes += struct.pack("<LLHHHHL", 3, 0, vt, 0, 0, 0, vt) + struct.pack("<l" if vt == VT_I4 else "<L", number)
        return self

    def boolean(self, value):
        self.align(2)
        self.bytes += struct.pack("<h", -1 if value else 0)
        return self


class Reader:
    """The parameters of a reply."""

    def __init__(self, stub):
        self.stub, self.at = stub, 0
        flags, extensions = self.take("<LL")
        if (flags, extensions) != (0, 0):
            raise Failure(f"ORPCTHAT has the flags {flags} and extensions at {extensions}")

    def take(self, layout):
        size = struct.calcsize(layout)
        self.at += -self.at % min(size, 4)
        found = struct.unpack_from(layout, self.stub, self.at)
        self.at += size
        return found

    def one(self, layout):
        return self.take(layout)[0]

    def blob(self):
        most, size, count = self.take("<LLL")
        if (most, size) != (count, 2 * count):
            raise Failure(f"a BSTR of {size} bytes has {count} units in an array of {most}")
        units = self.stub[self.at : self.at + size]
        self.at += size
        return units.decode("utf-16le")

    def bstr(self):
        return self.blob() if self.one("<L") else None

    def bstrs(self):
        """A SAFEARRAY of BSTR behind two pointers."""
        if not self.one("<L") or not self.one("<L"):
            return None
        bounds, dimensions, features, _, locks = self.take("<LHHLL")
        kind, count, array = self.take("<LLL")
        elements, lower = self.take("<Ll")
        if (bounds, dimensions, kind, lower) != (1, 1, VT_BSTR, 0) or locks >> 16 != VT_BSTR or not features & 0x100:
            raise Failure(f"an array of the type {kind} with {dimensions} dimensions from {lower}")
        if count != elements or not array or self.one("<L") != count:
            raise Failure(f"an array of {count} texts has {elements} elements")
        pointers = [self.one("<L") for _ in range(count)]
        return [self.blob() if pointer else None for pointer in pointers]

    def object(self):
        if not self.one("<L"):
            return None
        most, size = self.take("<LL")
        if most != size:
            raise Failure(f"a reference of {size} bytes in an array of {most}")
        data = self.stub[self.at : self.at + size]
        self.at += size
        return data


class Object:
    """An interface of an object of the host."""

    # impacket makes a new presentation context whenever another interface is called, and servers limit their number.
    contexts = {}

    def __init__(self, proxy, interface):
        self.proxy, self.interface = proxy, interface

    def select(self, interface):
        """Calls go to an interface, by the context that it has."""
        oxid = self.proxy.get_oxid()
        known = self.contexts.setdefault(oxid, {})
        if known:
            # The number of a new context is one more than that of the context that makes it: the newest one has to.
            dce = known.get(interface) or list(known.values())[-1]
            current = interface if interface in known else None
            connections = INTERFACE.CONNECTIONS[self.proxy.get_target()][current_thread().name]
            connections[oxid].update(dce=dce, currentBinding=current)
        self.proxy.connect(interface)
        known.setdefault(interface, self.proxy.get_dce_rpc())

    def ask(self, opnum, parameters=None):
        """The reply of a method, and its status."""
        self.select(self.interface)
        dce = self.proxy.get_dce_rpc()
        this = struct.pack("<HHLL16sL", 5, 7, 0, 0, b"impacket calls..", 0)
        dce.call(opnum, this + (parameters.bytes if parameters else b""), self.proxy.get_iPid())
        reply = Reader(dce.recv())
        return reply, struct.unpack("<L", reply.stub[-4:])[0]

    def status(self, opnum, parameters=None):
        return self.ask(opnum, parameters)[1]

    def call(self, opnum, parameters=None):
        reply, status = self.ask(opnum, parameters)
        if status >> 31:
            raise Failure(f"opnum {opnum}: {status:#010x}")
        return reply

    def returned(self, interface, opnum, parameters=None):
        """The object that a method returns."""
        reference = self.call(opnum, parameters).object()
        if reference is None:
            raise Failure(f"opnum {opnum} returned no object")
        of = self.proxy
        proxy = INTERFACE(of.get_cinstance(), reference, of.get_ipidRemUnknown(), target=of.get_target())
        return Object(proxy, interface)

    def query(self, interface):
        self.select(IID_IRemUnknown)
        return Object(IRemUnknown(self.proxy).RemQueryInterface(1, (interface,)), interface)

    def release(self):
        self.select(IID_IRemUnknown)
        IRemUnknown(self.proxy).RemRelease()


class Host:
    """The host, as an account."""

    def __init__(self, arguments):
        self.arguments = arguments
        with open(arguments.password_file, encoding="utf-8") as file:
            self.password = file.read().removesuffix("\n")

    def connect(self, level=RPC_C_AUTHN_LEVEL_PKT_PRIVACY):
        domain, user = self.arguments.account.split("\\")
        tcp = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{self.arguments.host}[{self.arguments.port}]")
        tcp.set_credentials(user, self.password, domain)
        dce = tcp.get_dce_rpc()
        dce.set_auth_level(level)
        dce.connect()
        if level == RPC_C_AUTHN_LEVEL_PKT_PRIVACY:
            # A connection to a port of our choice, in place of DCOMConnection's to 135.
            DCOMConnection.PORTMAPS[self.arguments.host] = dce
        return dce

    def activate(self, clsid, interface):
        # impacket binds for each activation, and a connection is bound once.
        return Object(IRemoteSCMActivator(self.connect()).RemoteCreateInstance(clsid, interface), interface)


def list_sets(host):
    """The names of all sets, and those of the sets that clients make: by a filter, which means nothing."""
    names = {}
    for clsid in (SETS, SERVER_SETS):
        sets = host.activate(clsid, I_SETS)
        sets.call(14, Writer().null().bstr("name like 'Web%'"))
        count = sets.call(7).one("<l")
        by_type = []
        for vt in (VT_I4, VT_UI4):
            items = [sets.returned(I_SET, 8, Writer().number(vt, index)) for index in range(count)]
            by_type.append([item.call(20).bstr() for item in items])
        if by_type[0] != by_type[1]:
            raise Failure(f"by VT_I4 there are {by_type[0]}, and by VT_UI4 {by_type[1]}")
        past = sets.status(8, Writer().number(VT_I4, count))
        if past != DISP_E_BADINDEX:
            raise Failure(f"the item behind the last has the status {past:#010x}")
        names[clsid] = by_type[0]
        sets.release()
    return names[SETS], names[SERVER_SETS]


def read_set(host, name):
    """A set by its methods and as XML, which have to agree; and the thresholds of its alerts."""
    found = host.activate(SET, I_SET)
    missing = found.status(59, Writer().bstr("No Such Set").null())
    if missing != DCS_NOT_FOUND:
        raise Failure(f"a set that is not there: {missing:#010x}")
    found.call(59, Writer().bstr(name.upper()).null())
    document = ElementTree.fromstring(found.call(52).bstr().encode("utf-16"))
    if found.call(20).bstr() != document.findtext("Name"):
        raise Failure(f"the set of {document.findtext('Name')} has another name")
    if found.call(33).one("<L") != int(document.findtext("Status")):
        raise Failure(f"the set {name} has another status than its XML")
    collectors = found.returned(I_COLLECTORS, 7)
    thresholds, kinds = [], []
    for index in range(collectors.call(7).one("<l")):
        collector = collectors.returned(I_COLLECTOR, 8, Writer().number(VT_UI4, index))
        kinds.append(collector.call(9).one("<L"))
        if kinds[-1] == 3:
            alert = collector.query(I_ALERT)
            thresholds += alert.call(32).bstrs()
            if alert.call(34).one("<h") not in (0, -1) or alert.call(36).one("<L") < 1:
                raise Failure(f"an alert of {name} has no EventLog, or no SampleInterval")
        collector.release()
    written = [alert.text for alert in document.iter("Alert")]
    if thresholds != written:
        raise Failure(f"the thresholds {thresholds} are {written} in the XML of {name}")
    return found, thresholds, len(kinds)


def start_and_stop(one):
    """The status after each call; what does not fit is refused."""
    for opnum, status, is_running in (
        (63, DCS_NOT_RUNNING, STOPPED),
        (62, S_OK, RUNNING),
        (62, DCS_IN_USE, RUNNING),
        (63, S_OK, STOPPED),
    ):
        found = one.status(opnum, Writer().boolean(True))
        now = one.call(33).one("<L")
        if (found, now) != (status, is_running):
            raise Failure(f"opnum {opnum}: {found:#010x} instead of {status:#010x}, and then the status {now}")
    deleted = one.status(61)
    if deleted != E_ACCESSDENIED:
        raise Failure(f"a set is removed: {deleted:#010x}")


def refuse_boot_trace(host):
    """A trace of the next boot is not started."""
    sets = host.activate(BOOT_SETS, I_SETS)
    sets.call(14, Writer().null().null())
    trace = sets.returned(I_SET, 8, Writer().number(VT_I4, 0))
    started = trace.status(62, Writer().boolean(True))
    if started != E_NOTIMPL:
        raise Failure(f"a trace of the next boot is started: {started:#010x}")


def refuse_integrity(host):
    """Objects are not activated on a connection that is only signed."""
    try:
        unsealed = host.connect(RPC_C_AUTHN_LEVEL_PKT_INTEGRITY)
        IRemoteSCMActivator(unsealed).RemoteCreateInstance(SETS, I_SETS)
    except DCERPCException as error:
        if "access_denied" not in str(error):
            raise Failure(f"without privacy: {error}") from error
        return
    raise Failure("sets are activated without privacy")


def main():
    parser = argparse.ArgumentParser()
    for name in ("host", "port", "account", "password-file"):
        parser.add_argument(f"--{name}", required=True)
    host = Host(parser.parse_args())
    every, own = list_sets(host)
    thresholds, collectors = [], 0
    for name in own:
        found, read, count = read_set(host, name)
        thresholds += read
        collectors += count
        start_and_stop(found)
        found.release()
    refuse_boot_trace(host)
    refuse_integrity(host)
    print(json.dumps({"sets": every, "own": own, "collectors": collectors, "thresholds": thresholds}))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(str(failure))
