#!/usr/bin/env python3
"""Stores a transient subscription at a COM+ event system with impacket, reads its SubscriberInterface back, and follows it as the
event system does: resolver, IRemUnknown2, OnNewTrackingInfo.

    impacket_events.py --host 127.0.0.1 --port 1135 --account 'CORP\\svc-metrics' --password-file /run/secrets/password \\
        --reference 4d454f57… --resolver-port 2135

With --remove it removes the subscription instead. Prints one JSON object.
"""

import argparse
import contextlib
import io
import json
import struct
import sys

from impacket.dcerpc.v5 import transport
from impacket.dcerpc.v5.dcom import comev
from impacket.dcerpc.v5.dcomrt import (
    DCOMANSWER,
    DCOMCALL,
    IID_IObjectExporter,
    IID_IRemUnknown2,
    INTERFACE,
    OBJREF_STANDARD,
    ORPCTHIS,
    STRINGBINDING,
    DCOMConnection,
    IObjectExporter,
    IRemoteSCMActivator,
    PMInterfacePointer,
    RemAddRef,
    RemQueryInterface,
    RemRelease,
    ResolveOxid2,
    REMINTERFACEREF,
    IID,
)
from impacket.dcerpc.v5.dtypes import BOOL, LONG, NULL
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_NONE, RPC_C_AUTHN_LEVEL_PKT_PRIVACY, DCERPCException
from impacket.uuid import generate, string_to_bin, uuidtup_to_bin

EVENT_SYSTEM = string_to_bin("4E14FBA2-2E22-11D1-9964-00C04FBBB345")
EVENT_SUBSCRIPTION = string_to_bin("7542E960-79C7-11D1-88F9-0080C7D771BF")
EVENT_CLASS = "{ECABB0C3-7F19-11D2-978E-0000F8757E2A}"
EVENTS = "4E6CDCC9-FB25-4FD5-9CC5-C9F4B6559CEC"
IID_EVENTS = uuidtup_to_bin((EVENTS, "0.0"))
SUBSCRIPTIONS = "EventSystem.EventSubscriptionCollection"
ID = "{5B5C0000-0000-4000-8000-0000000000A1}"
CRITERIA = f"SubscriptionID={ID}"


class OnNewTrackingInfo(DCOMCALL):
    opnum = 3
    structure = (("pToplevelCollection", PMInterfacePointer),)


class OnNewTrackingInfoResponse(DCOMANSWER):
    structure = (("ErrorCode", LONG),)


class PutEnabled(DCOMCALL):
    # The document has a BOOL of four bytes, impacket one of one.
    opnum = 26
    structure = (("fEnabled", BOOL),)


class PutEnabledResponse(DCOMANSWER):
    structure = (("ErrorCode", LONG),)


def connect(arguments, password):
    domain, user = arguments.account.split("\\")
    tcp = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{arguments.host}[{arguments.port}]")
    tcp.set_credentials(user, password, domain)
    dce = tcp.get_dce_rpc()
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
    dce.connect()
    # A connection to a port of our choice, in place of DCOMConnection's to 135.
    DCOMConnection.PORTMAPS[arguments.host] = dce
    return dce


def unsecured(binding):
    dce = transport.DCERPCTransportFactory(binding).get_dce_rpc()
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_NONE)
    return dce


def pointer(field, data):
    field["ulCntData"] = len(data)
    field["abData"] = list(data)


def put(subscription, request, value):
    # impacket names the only parameter in several ways.
    name = request.structure[0][0]
    if isinstance(value, str):
        request[name]["asData"] = value
    else:
        request[name] = value
    subscription.request(request, iid=comev.IID_IEventSubscription, uuid=subscription.get_iPid())


def activate(arguments, password, clsid, iid):
    return IRemoteSCMActivator(connect(arguments, password)).RemoteCreateInstance(clsid, iid)


def store(arguments, password, system, reference):
    subscription = activate(arguments, password, EVENT_SUBSCRIPTION, comev.IID_IEventSubscription)
    # The reference to the subscription that Store gets, before anything else of impacket's uses it.
    objref = OBJREF_STANDARD()
    objref["iid"] = comev.IID_IEventSubscription[:16]
    objref["std"]["flags"], objref["std"]["cPublicRefs"] = 0, 1
    for field, value in (("oxid", subscription.get_oxid()), ("oid", subscription.get_oid())):
        objref["std"][field] = value
    objref["std"]["ipid"] = subscription.get_iPid()
    objref["saResAddr"] = struct.pack("<HHHHHH", 4, 2, 0, 0, 0, 0)
    put(subscription, comev.IEventSubscription_put_SubscriptionID(), ID)
    put(subscription, comev.IEventSubscription_put_SubscriptionName(), "impacket")
    put(subscription, comev.IEventSubscription_put_EventClassID(), EVENT_CLASS)
    put(subscription, comev.IEventSubscription_put_InterfaceID(), "{" + EVENTS + "}")
    put(subscription, PutEnabled(), 1)
    request = comev.IEventSubscription_put_SubscriberInterface()
    pointer(request["pSubscriberInterface"], reference)
    subscription.request(request, iid=comev.IID_IEventSubscription, uuid=subscription.get_iPid())
    request = comev.IEventSystem_Store()
    request["progID"]["asData"] = "EventSystem.EventSubscription"
    pointer(request["pInterface"], objref.getData())
    system.request(request, iid=comev.IID_IEventSystem, uuid=system.get_iPid())


def stored_reference(system, problems):
    """The SubscriberInterface of the subscription that a query finds."""
    collection = system.Query(SUBSCRIPTIONS, CRITERIA)
    count = collection.get_Count()["pCount"]
    if count != 1:
        problems.append(f"{count} subscriptions are found")
    item = collection.get_NewEnum().Next(1)[0].RemQueryInterface(1, (comev.IID_IEventSubscription,))
    request = comev.IEventSubscription_get_SubscriberInterface()
    answer = item.request(request, iid=comev.IID_IEventSubscription, uuid=item.get_iPid())
    return b"".join(answer["ppSubscriberInterface"]["abData"])


def remove(system):
    # impacket's own method names no interface.
    request = comev.IEventSystem_RemoveS()
    request["progID"]["asData"], request["queryCriteria"]["asData"] = SUBSCRIPTIONS, CRITERIA
    system.request(request, iid=comev.IID_IEventSystem, uuid=system.get_iPid())


def bindings(array):
    units = b"".join(struct.pack("<H", unit) for unit in array["aStringArray"])
    strings, security = units[: array["wSecurityOffset"] * 2], units[array["wSecurityOffset"] * 2 :]
    found = []
    while strings[:2] != b"\0\0":
        binding = STRINGBINDING(strings)
        found.append((binding["wTowerId"], binding["aNetworkAddr"].rstrip("\0")))
        strings = strings[len(binding) :]
    return found, security


def orpc(request):
    request["ORPCthis"] = ORPCTHIS()
    request["ORPCthis"]["cid"] = generate()
    request["ORPCthis"]["extensions"] = NULL
    request["ORPCthis"]["flags"] = 0
    return request


def event():
    """[MS-COMT] 2.2.5.5 by hand: a collection of no processes."""
    collection = struct.pack("<HHIII", 1, 1, 0, 0, 0)
    unmarshaler = string_to_bin("ECABAFCD-7F19-11D2-978E-0000F8757E2A")
    unknown = string_to_bin("00000000-0000-0000-C000-000000000046")
    head = b"MEOW" + struct.pack("<I", 4) + unknown + unmarshaler
    return head + struct.pack("<II", 0, len(collection)) + collection


def follow(reference, resolver_port, problems):
    objref = OBJREF_STANDARD(reference)
    std = objref["std"]
    address = objref["saResAddr"][6:].decode("utf-16le").split("\0")[0]
    # Twice: a connection to the resolver for each of impacket's calls.
    alive = IObjectExporter(unsecured(f"ncacn_ip_tcp:{address}[{resolver_port}]")).ServerAlive2()
    if [binding["aNetworkAddr"].rstrip("\0") for binding in alive] != [address]:
        problems.append(f"the resolver says that it is at {alive}")
    dce = unsecured(f"ncacn_ip_tcp:{address}[{resolver_port}]")
    dce.connect()
    dce.bind(IID_IObjectExporter)
    request = ResolveOxid2()
    request["pOxid"], request["cRequestedProtseqs"] = std["oxid"], 1
    request["arRequestedProtseqs"].append(7)
    resolved = dce.request(request)
    found, security = bindings(resolved["ppdsaOxidBindings"])
    if len(found) != 1 or found[0][0] != 7 or security.strip(b"\0"):
        problems.append(f"the object is at {found}, with security {security.hex()}")
    version = (resolved["pComVersion"]["MajorVersion"], resolved["pComVersion"]["MinorVersion"])
    if version != (5, 7) or std["flags"] != 0x1000:
        problems.append(f"version {version}, flags {std['flags']:#x}")
    dce = unsecured(f"ncacn_ip_tcp:{found[0][1]}")
    dce.connect()
    dce.bind(IID_IRemUnknown2)
    remote_unknown = resolved["pipidRemUnknown"]
    request = orpc(RemQueryInterface())
    request["ripid"], request["cRefs"], request["cIids"] = std["ipid"], 1, 1
    wanted = IID()
    wanted["Data"] = IID_EVENTS[:16]
    request["iids"].append(wanted)
    ipid = dce.request(request, remote_unknown)["ppQIResults"]["std"]["ipid"]
    for request in (orpc(RemAddRef()), orpc(RemRelease())):
        one = REMINTERFACEREF()
        one["ipid"], one["cPublicRefs"], one["cPrivateRefs"] = ipid, 1, 0
        request["cInterfaceRefs"] = 1
        request["InterfaceRefs"].append(one)
        dce.request(request, remote_unknown)
    events = dce.alter_ctx(IID_EVENTS)
    request = orpc(OnNewTrackingInfo())
    pointer(request["pToplevelCollection"], event())
    return events.request(request, ipid)["ErrorCode"]


def main():
    parser = argparse.ArgumentParser()
    for name in ("host", "port", "account", "password-file"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--reference", default="")
    parser.add_argument("--resolver-port", default="135")
    parser.add_argument("--remove", action="store_true")
    arguments = parser.parse_args()
    password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    problems, found = [], {}
    # impacket prints some answers.
    with contextlib.redirect_stdout(io.StringIO()):
        system = comev.IEventSystem(activate(arguments, password, EVENT_SYSTEM, comev.IID_IEventSystem))
        if arguments.remove:
            remove(system)
            try:
                remove(system)
                problems.append("it can be removed twice")
            except DCERPCException:
                found["removed"] = True
        else:
            reference = bytes.fromhex(arguments.reference)
            store(arguments, password, system, reference)
            stored = stored_reference(system, problems)
            if stored != reference:
                problems.append(f"the reference is stored as {stored.hex()}")
            found["result"] = follow(stored, arguments.resolver_port, problems)
    print(json.dumps({**found, "problems": problems}))
    return 1 if problems or found.get("result") else 0


if __name__ == "__main__":
    sys.exit(main())
