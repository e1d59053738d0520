"""Runs a command on a pseudo-terminal, and resizes it, or answers or leaves as soon as it has asked something.

Usage: on-pty.py PLAN COMMAND...
PLAN is JSON: `size` and, so many `seconds` after the first sign of life, `resize` (COLUMNSxROWS); or a `question`, and
`how` it is met: the name of a signal, `Ctrl-C` for the key, or `type:TEXT` for a line of text.
Prints JSON: what stood on the terminal before and after a resize (base64), and the exit status (null where the command
is still there 5 s after its answer, or after 60 s, and had to be killed).
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

plan, command = json.loads(sys.argv[1]), sys.argv[2:]


def size(fd, text):
    columns, rows = (int(part) for part in text.split('x'))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


def meet(how):
    # The question is written before the answer is read.
    time.sleep(0.2)
    if how == 'Ctrl-C':
        os.write(terminal, b'\x03')
    elif how.startswith('type:'):
        os.write(terminal, how.removeprefix('type:').encode() + b'\r')
    else:
        os.kill(child, getattr(signal, how))


child, terminal = pty.fork()
if child == 0:
    # The window has its size before anybody asks for it.
    if 'size' in plan:
        size(0, plan['size'])
    os.execvp(command[0], command)

shown = {'before': b'', 'after': b''}
begun = None
now = 'before'
met = 'question' not in plan
limit = time.monotonic() + 60
while time.monotonic() < limit:
    if begun is not None and now == 'before' and 'resize' in plan and time.monotonic() - begun > plan['seconds']:
        size(terminal, plan['resize'])
        os.kill(child, signal.SIGWINCH)
        now = 'after'
    if not met and plan['question'].encode() in shown['before']:
        meet(plan['how'])
        met = True
        limit = time.monotonic() + 5
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
    shown[now] += data
else:
    os.kill(child, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
told = {when: base64.b64encode(text).decode() for when, text in shown.items()}
print(json.dumps({**told, 'status': None if status == -signal.SIGKILL else status}))
