#!/usr/bin/env python3
"""Activates the tracker of COM+ on a server with impacket, reads applications and components, and gives the object back.
The server's clock has to stand still.

    impacket_dcom.py --host 127.0.0.1 --port 1135 --account 'CORP\\svc-metrics' --password-file /run/secrets/password

Prints one JSON object.
"""

import argparse
import json
import sys

from impacket.dcerpc.v5 import transport
from impacket.dcerpc.v5.dcomrt import DCOMANSWER, DCOMCALL, DCOMConnection, IObjectExporter, IRemoteSCMActivator
from impacket.dcerpc.v5.dtypes import GUID, LONG, ULONG
from impacket.dcerpc.v5.ndr import NDRPOINTER, NDRSTRUCT, NDRUniConformantArray, NDRUniFixedArray
from impacket.dcerpc.v5.rpcrt import (
    RPC_C_AUTHN_LEVEL_PKT_INTEGRITY,
    RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
    DCERPCException,
)
from impacket.uuid import string_to_bin, uuidtup_to_bin

TRACKER = string_to_bin("ECABAFB9-7F19-11D2-978E-0000F8757E2A")
GET_TRACKING_DATA = uuidtup_to_bin(("B60040E0-BCF3-11D1-861D-0080C729264D", "0.0"))


class Identifier(NDRUniFixedArray):
    def getDataLen(self, data, offset=0):
        return 80


class Container(NDRSTRUCT):
    structure = (
        ("dwLegacyId", ULONG),
        ("wszApplicationIdentifier", Identifier),
        ("dwProcessId", ULONG),
        ("cCalls", ULONG),
        ("cComponentInstances", ULONG),
        ("cComponents", ULONG),
        ("cCallsPerSecond", ULONG),
    )


class Component(NDRSTRUCT):
    structure = (
        ("clsid", GUID),
        ("cTotalReferences", ULONG),
        ("cBoundReferences", ULONG),
        ("cPooledInstances", ULONG),
        ("cInstancesInCall", ULONG),
        ("dwResponseTime", ULONG),
        ("cCallsCompleted", ULONG),
        ("cCallsFailed", ULONG),
    )


class Containers(NDRUniConformantArray):
    item = Container


class PContainers(NDRPOINTER):
    referent = (("Data", Containers),)


class Components(NDRUniConformantArray):
    item = Component


class PComponents(NDRPOINTER):
    referent = (("Data", Components),)


class GetContainerData(DCOMCALL):
    opnum = 4
    structure = ()


class GetContainerDataResponse(DCOMANSWER):
    structure = (("nContainers", ULONG), ("aContainerData", PContainers), ("ErrorCode", LONG))


class GetComponentDataByContainer(DCOMCALL):
    opnum = 5
    structure = (("idContainer", ULONG),)


class GetComponentDataByContainerResponse(DCOMANSWER):
    structure = (("nComponents", ULONG), ("aComponentData", PComponents), ("ErrorCode", LONG))


def connect(arguments, password, level=RPC_C_AUTHN_LEVEL_PKT_PRIVACY):
    domain, user = arguments.account.split("\\")
    tcp = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{arguments.host}[{arguments.port}]")
    tcp.set_credentials(user, password, domain)
    dce = tcp.get_dce_rpc()
    dce.set_auth_level(level)
    dce.connect()
    return dce


def read(tracker):
    ask = lambda request: tracker.request(request, GET_TRACKING_DATA, tracker.get_iPid())
    containers = ask(GetContainerData())["aContainerData"]
    found, problems = 0, []
    for container in containers:
        request = GetComponentDataByContainer()
        request["idContainer"] = container["dwLegacyId"]
        components = ask(request)["aComponentData"]
        found += len(components)
        if len(components) != container["cComponents"]:
            problems.append(f"{len(components)} components instead of {container['cComponents']}")
        calls = [one["cCallsCompleted"] + one["cCallsFailed"] for one in components]
        if 0xFFFFFFFF not in [one["cCallsFailed"] for one in components]:
            if sum(calls) // 4 != container["cCallsPerSecond"]:
                problems.append(f"{calls} calls in four seconds, and {container['cCallsPerSecond']} a second")
    names = {container["wszApplicationIdentifier"].decode("utf-16le")[:38] for container in containers}
    return len(names), len(containers), found, problems


def main():
    parser = argparse.ArgumentParser()
    for name in ("host", "port", "account", "password-file"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    bindings = IObjectExporter(connect(arguments, password)).ServerAlive2()
    dce = connect(arguments, password)
    # A connection to a port of our choice, in place of DCOMConnection's to 135.
    DCOMConnection.PORTMAPS[arguments.host] = dce
    tracker = IRemoteSCMActivator(dce).RemoteCreateInstance(TRACKER, GET_TRACKING_DATA)
    applications, containers, components, problems = read(tracker)
    further = tracker.RemQueryInterface(1, (GET_TRACKING_DATA,))
    if read(further)[:3] != (applications, containers, components):
        problems.append("another interface of the object tells something else")
    try:
        unsealed = connect(arguments, password, RPC_C_AUTHN_LEVEL_PKT_INTEGRITY)
        IRemoteSCMActivator(unsealed).RemoteCreateInstance(TRACKER, GET_TRACKING_DATA)
        problems.append("an object is activated without privacy")
    except DCERPCException as error:
        if "access_denied" not in str(error):
            problems.append(f"without privacy: {error}")
    tracker.RemRelease()
    further.RemRelease()
    found = {
        "bindings": len(bindings),
        "applications": applications,
        "containers": containers,
        "components": components,
        "problems": problems,
    }
    print(json.dumps(found))
    return 1 if problems or not components else 0


if __name__ == "__main__":
    sys.exit(main())
