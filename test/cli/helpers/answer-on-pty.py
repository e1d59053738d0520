"""Runs a command on a pseudo-terminal, and answers or leaves as soon as it has asked something.

Usage: answer-on-pty.py HOW QUESTION COMMAND...
HOW is the name of a signal, `Ctrl-C` for the key, or `type:TEXT` for a line of text. Prints JSON: what stood on the terminal, the exit status (null
where the command is still there after 5 s, and had to be killed).
"""
import json
import os
import pty
import select
import signal
import sys
import time

how, question, command = sys.argv[1], sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)

shown = b''
left = False
limit = time.monotonic() + 30
while time.monotonic() < limit:
    if not left and question.encode() in shown:
        # The question is written before the answer is read.
        time.sleep(0.2)
        if how == 'Ctrl-C':
            os.write(terminal, b'\x03')
        elif how.startswith('type:'):
            os.write(terminal, how.removeprefix('type:').encode() + b'\r')
        else:
            os.kill(child, getattr(signal, how))
        left = True
        limit = time.monotonic() + 5
    if not select.select([terminal], [], [], 0.05)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    shown += data
else:
    os.kill(child, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps({'shown': shown.decode(), 'status': None if status == -signal.SIGKILL else status}))
