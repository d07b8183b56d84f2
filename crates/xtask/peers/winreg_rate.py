"""How many small sealed calls a second impacket makes of Samba's remote registry, on one connection.

usage: winreg_rate.py HOST PORT USER PASSWORD_FILE CALLS
"""

import sys
import time

from impacket.dcerpc.v5 import rrp, transport
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_PKT_PRIVACY


def main() -> None:
    host, port, user, password_file, calls = sys.argv[1:]
    with open(password_file, encoding="utf-8") as secret:
        password = secret.read().removesuffix("\n")
    pipe = transport.DCERPCTransportFactory(rf"ncacn_np:{host}[\pipe\winreg]")
    pipe.set_dport(int(port))
    pipe.set_credentials(user, password)
    dce = pipe.get_dce_rpc()
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
    dce.connect()
    dce.bind(rrp.MSRPC_UUID_RRP)
    key = rrp.hOpenLocalMachine(dce)["phKey"]
    rrp.hBaseRegGetVersion(dce, key)
    begun = time.perf_counter()
    for _ in range(int(calls)):
        rrp.hBaseRegGetVersion(dce, key)
    print(int(calls) / (time.perf_counter() - begun))


if __name__ == "__main__":
    main()
