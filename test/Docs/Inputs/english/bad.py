# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whoever calls this is spelled out."""
NAME = f"{products} of the bulk copy engine"  # A direct copy.
