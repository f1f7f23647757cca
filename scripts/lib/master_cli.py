"""master_cli.py SOCKET COMMAND: sends one short line to HAProxy's master socket and prints the answer, read to its end.

Debian's base has no socat; an answer that is abandoned would leak one of the master's ten connection slots.
"""

import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.settimeout(10)
    connection.connect(sys.argv[1])
    connection.sendall(sys.argv[2].encode() + b"\n")
    # the master closes only after a half-close; 3.4 then loses long payloads, which is why a controller must not do this
    connection.shutdown(socket.SHUT_WR)
    try:
        while data := connection.recv(65536):
            sys.stdout.write(data.decode(errors="replace"))
    except ConnectionResetError:
        pass  # before 2.7 `reload` has no answer: the master re-executes itself
