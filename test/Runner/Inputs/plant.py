# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pipe|link FOLDER: puts a named pipe, or a link to the file "victim", in the place of each entry of a cache."""
import os
import sys

kind, folder = sys.argv[1:]
os.makedirs(folder, mode=0o700, exist_ok=True)
victim = os.path.abspath(os.path.join(folder, "victim"))
for name in os.listdir(folder):
    if not name.endswith(".tessera"):
        continue
    path = os.path.join(folder, name)
    os.remove(path)
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    else:
        with open(victim, "w") as file:
            file.write("untouched\n")
        os.symlink(victim, path)
