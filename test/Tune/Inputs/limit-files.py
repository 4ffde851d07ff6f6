# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FILE COMMAND...: runs a command no file of which may grow beyond the size that FILE has now, as on a full disk."""
import os
import resource
import signal
import subprocess
import sys


size = os.path.getsize(sys.argv[1])


def limit():
    # A write beyond the limit fails, and does not end the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


sys.exit(subprocess.run(sys.argv[2:], preexec_fn=limit, restore_signals=False).returncode)
