"""Runs a command on a pseudo-terminal, and resizes the terminal, or answers or interrupts a question of the command.

Usage: on-pty.py PLAN COMMAND...
PLAN is JSON: `size`, and `resize` (COLUMNSxROWS) to apply once the output has the text `until`; or a `question` and
`how` to react: the name of a signal, `Ctrl-C` for the key, or `type:TEXT` for a line of text.
Prints JSON: the output before and after a resize (base64), and the exit status (null if the command had to be killed,
because it still ran 60 s after the reaction, or after 120 s).
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


def react(how):
    # The command prints the question before it reads the answer.
    time.sleep(0.2)
    if how == 'Ctrl-C':
        os.write(terminal, b'\x03')
    elif how.startswith('type:'):
        os.write(terminal, how.removeprefix('type:').encode() + b'\r')
    else:
        os.kill(child, getattr(signal, how))


child, terminal = pty.fork()
if child == 0:
    # Set the size of the window before the command reads it.
    if 'size' in plan:
        size(0, plan['size'])
    os.execvp(command[0], command)

shown = {'before': b'', 'after': b''}
now = 'before'
reacted = 'question' not in plan
limit = time.monotonic() + 120
while time.monotonic() < limit:
    if now == 'before' and 'resize' in plan and plan['until'].encode() in shown['before']:
        size(terminal, plan['resize'])
        os.kill(child, signal.SIGWINCH)
        now = 'after'
    if not reacted and plan['question'].encode() in shown['before']:
        react(plan['how'])
        reacted = True
        limit = time.monotonic() + 60
    if not select.select([terminal], [], [], 0.05)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    shown[now] += data
else:
    os.kill(child, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
result = {when: base64.b64encode(text).decode() for when, text in shown.items()}
print(json.dumps({**result, 'status': None if status == -signal.SIGKILL else status}))
