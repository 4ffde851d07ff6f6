# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix product in Triton: blocks in bands for the L2, the tile chosen by the autotuner."""

import torch
import triton
import triton.language as tl


def version():
    return triton.__version__


CONFIGS = [triton.Config({"BM": bm, "BN": bn, "BK": bk, "BAND": 8}, num_stages=stages, num_warps=warps)
           for bm, bn, bk, stages, warps in
           ((128, 256, 64, 3, 8), (256, 128, 64, 3, 8), (128, 128, 64, 4, 4), (128, 128, 64, 4, 8), (64, 128, 64, 4, 4),
            (128, 64, 64, 4, 4), (64, 64, 64, 4, 4), (16, 128, 128, 4, 4), (16, 64, 128, 5, 4), (32, 64, 64, 5, 4))]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr):
    tile = tl.program_id(0)
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    band = tile // (BAND * cols)
    height = min(rows - band * BAND, BAND)
    row = band * BAND + (tile % (BAND * cols)) % height
    col = (tile % (BAND * cols)) // height
    m = row * BM + tl.arange(0, BM)
    n = col * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        at = step * BK + k
        x = tl.load(a + m[:, None] * K + at[None, :], mask=(m[:, None] < M) & (at[None, :] < K), other=0.0)
        y = tl.load(b + at[:, None] * N + n[None, :], mask=(at[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](a, b, c, m, n, k)
    return c
