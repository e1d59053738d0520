"""Runs a command on a pseudo-terminal and resizes it in the middle.

Usage: run-on-pty.py COLUMNSxROWS COLUMNSxROWS SECONDS COMMAND...
Prints JSON: the bytes before and after the resize (base64) and the exit status.
"""
import base64
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def size(fd, text):
    columns, rows = (int(part) for part in text.split('x'))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


first, second, seconds, command = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
child, terminal = pty.fork()
if child == 0:
    # The window has its size before anybody asks for it.
    size(0, first)
    os.execvp(command[0], command)

before, after = b'', b''
begun = None
resized = False
limit = time.monotonic() + 60
while time.monotonic() < limit:
    if begun is not None and not resized and time.monotonic() - begun > seconds:
        size(terminal, second)
        os.kill(child, signal.SIGWINCH)
        resized = True
    if not select.select([terminal], [], [], 0.05)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    # Counted from the first sign of life: how long a program takes to start says nothing.
    begun = begun or time.monotonic()
    if resized:
        after += data
    else:
        before += data
_, status = os.waitpid(child, 0)
print(
    json.dumps(
        {
            'before': base64.b64encode(before).decode(),
            'after': base64.b64encode(after).decode(),
            'status': os.waitstatus_to_exitcode(status),
        }
    )
)
