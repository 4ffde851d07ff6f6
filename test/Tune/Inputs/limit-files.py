"""LIMIT COMMAND...: runs a command no file of which may grow beyond LIMIT bytes, as on a full disk."""
import resource
import signal
import subprocess
import sys


def limit():
    # A write beyond the limit fails, and does not end the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))


sys.exit(subprocess.run(sys.argv[2:], preexec_fn=limit, restore_signals=False).returncode)
