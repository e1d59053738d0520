"""used.py COMMAND...: runs a command, and prints as JSON when it began (ms since the epoch), its CPU time (ms) and its
peak memory (MiB). SIGTERM kills it. Node cannot ask for what a child has used."""

import json
import os
import signal
import sys
import time

silent = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
began = time.time() * 1000
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
_, status, used = os.wait4(child, 0)
cpu = (used.ru_utime + used.ru_stime) * 1000
code = os.waitstatus_to_exitcode(status)
print(json.dumps({"began": began, "cpuMs": cpu, "peakMiB": used.ru_maxrss / 1024, "exitCode": code}))
