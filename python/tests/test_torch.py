# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on PyTorch's tensors, on a GPU where there is one."""

import pathlib
import threading

import pytest
import tessera

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no GPU", allow_module_level=True)

TARGET = "hip" if torch.version.hip else "cuda"

# Two matmuls, with a tensor between them that the program allocates.
CHAIN = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  %q = linalg.matmul ins(%p, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}
"""

F8 = """
func.func @main(%x: tensor<16x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN> {
  %e = tensor.empty() : tensor<16x16xf8E4M3FN>
  %t = linalg.transpose ins(%x : tensor<16x16xf8E4M3FN>) outs(%e : tensor<16x16xf8E4M3FN>)
      permutation = [1, 0]
  return %t : tensor<16x16xf8E4M3FN>
}
"""


@pytest.fixture(scope="module")
def chain():
    return tessera.compile(CHAIN, target=TARGET)


def integers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-2, 3, shape, generator=generator).float()


def expected(a, b):
    return (a.double() @ b.double() @ b.double()).float()


def test_results_stay_on_the_device(chain):
    a, b = integers(100, 64).cuda(), integers(64, 64, seed=1).cuda()
    q = chain(a, b)
    assert isinstance(q, torch.Tensor) and q.is_cuda and q.shape == (100, 64)
    torch.testing.assert_close(q.cpu(), expected(a.cpu(), b.cpu()), rtol=0, atol=0)


def test_tensors_of_the_host_come_back_as_such(chain):
    a, b = integers(17, 33), integers(33, 33, seed=1)
    q = chain(a, b)
    assert isinstance(q, torch.Tensor) and not q.is_cuda
    torch.testing.assert_close(q, expected(a, b), rtol=0, atol=0)


def test_work_is_in_the_order_of_the_current_stream(chain):
    """The work before takes long; the work after reads the result immediately."""
    stream = torch.cuda.Stream()
    big = torch.randn(6144, 6144, device="cuda")
    a, b = integers(256, 128), integers(128, 128, seed=3)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(6):
            big = big @ big * 1e-4
        late = torch.zeros(256, 128, device="cuda")
        late.copy_(a.pin_memory(), non_blocking=True)
        result = chain(late, b.cuda()) + 1
        late.zero_()
    stream.synchronize()
    torch.testing.assert_close(result.cpu(), expected(a, b) + 1, rtol=0, atol=0)


def test_memory_is_not_shared_between_streams(chain):
    """Temporary memory and results of one stream are not another's at the same time."""
    streams = [torch.cuda.Stream() for _ in range(3)]
    inputs = [(integers(512, 256, seed=i), integers(256, 256, seed=i + 9)) for i in range(3)]
    on_device = [(a.cuda(), b.cuda()) for a, b in inputs]
    torch.cuda.synchronize()
    kept = [[] for _ in streams]
    for _ in range(40):
        for i, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                # Some are dropped while others are still computed.
                kept[i] = kept[i][-2:] + [chain(*on_device[i])]
    torch.cuda.synchronize()
    for (a, b), results in zip(inputs, kept):
        for result in results:
            torch.testing.assert_close(result.cpu(), expected(a, b), rtol=0, atol=0)


def test_memory_is_kept_for_a_stream_of_the_callers(chain):
    """Arguments and results are dropped while the stream that was named still works on them."""
    stream = torch.cuda.Stream()
    big = torch.randn(6144, 6144, device="cuda")
    inputs = [(integers(512, 256, seed=i), integers(256, 256, seed=i + 9)) for i in range(8)]
    on_host = []
    for a, b in inputs:
        on_device = a.cuda(), b.cuda()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            big = big @ big * 1e-4
        result = chain(*on_device, stream=stream.cuda_stream)
        torch.cuda.current_stream().wait_stream(stream)
        on_host.append(result.clone())
        result.record_stream(torch.cuda.current_stream())
        del on_device, result
        # The next allocation is overwritten immediately, in the current stream.
        for rows in (512, 256):
            torch.full((rows, 256), float("nan"), device="cuda")
    torch.cuda.synchronize()
    for (a, b), result in zip(inputs, on_host):
        torch.testing.assert_close(result.cpu(), expected(a, b), rtol=0, atol=0)


def test_the_example_with_out_parameters():
    path = pathlib.Path(__file__).parents[2] / "examples" / "04-out-parameters.mlir"
    program = tessera.compile(path.read_text(), target=TARGET, file=path.name)
    a, b = integers(64, 128).cuda(), integers(128, 128, seed=1).cuda()
    out = torch.full((64, 128), float("nan"), device="cuda")
    assert program(a, b, out) is None
    torch.testing.assert_close(out.cpu(), (a @ b + a).cpu(), rtol=0, atol=0)


def test_launches_as_graphs(chain):
    """The same numbers as by direct launches, with tensors at other addresses in each call."""
    entry = tessera.Program(chain._program).entry(device=tessera.Device.get(TARGET))
    kept = []
    for index in range(6):
        entry.launch = "direct" if index % 3 == 0 else "graph"
        a, b = integers(64, 256, seed=index), integers(256, 256, seed=index + 9)
        kept.append((a, b, entry(a.cuda(), b.cuda())))
    for a, b, result in kept:
        torch.testing.assert_close(result.cpu(), expected(a, b), rtol=0, atol=0)
    statistics = entry.launch_statistics()
    assert (statistics.graph_runs, statistics.direct_runs) == (4, 2)
    assert statistics.graphs >= 1 and statistics.why_direct == ""


def test_a_graph_of_launches():
    """Without memory of its own a program can be captured."""
    path = pathlib.Path(__file__).parents[2] / "examples" / "04-out-parameters.mlir"
    program = tessera.compile(path.read_text(), target=TARGET)
    a, b = integers(64, 128).cuda(), integers(128, 128, seed=1).cuda()
    out = torch.zeros(64, 128, device="cuda")
    program(a, b, out)
    torch.cuda.synchronize()
    tessera.Device.get(TARGET).synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        program(a, b, out)
    a.copy_(integers(64, 128, seed=5))
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(out.cpu(), (a @ b + a).cpu(), rtol=0, atol=0)


def test_a_graph_of_a_program_with_a_result(chain):
    """The first call of an entry point is captured; its result is memory of the graph."""
    program = tessera.compile(CHAIN, target=TARGET)
    a, b = integers(64, 48).cuda(), integers(48, 48, seed=1).cuda()
    entry = program.entry(device=tessera.Device.get(TARGET))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = entry(a, b)
    for seed in range(5):
        a.copy_(integers(64, 48, seed=seed + 5))
        graph.replay()
        torch.testing.assert_close(result.cpu(), expected(a.cpu(), b.cpu()), rtol=0, atol=0)
        torch.testing.assert_close(chain(a, b), result, rtol=0, atol=0)


def test_results_are_memory_of_pytorchs_allocator(chain):
    a, b = integers(300, 200).cuda(), integers(200, 200, seed=1).cuda()
    for _ in range(2):
        q = chain(a, b)
        allocated = torch.cuda.memory_allocated()
        size = q.nbytes
        del q
        assert allocated - torch.cuda.memory_allocated() >= size
    # A size that the last call did not have.
    assert chain(a[:7], b).shape == (7, 200)


def test_a_result_that_the_allocator_has_no_memory_for():
    program = tessera.compile("""
func.func @main(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.empty() : tensor<4xf32>
  %s = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%r : tensor<4xf32>)
      -> tensor<4xf32>
  return %s, %i : tensor<4xf32>, tensor<?x?xf32>
}""", target=TARGET)
    x = torch.arange(4.0, device="cuda")
    allocated = torch.cuda.memory_allocated()
    for _ in range(5):
        with pytest.raises((tessera.Error, torch.cuda.OutOfMemoryError), match="(?i)memory"):
            program(x, 1 << 20)
        assert torch.cuda.memory_allocated() == allocated
        total, zeros = program(x, 3)
        assert torch.equal(total, x + x) and zeros.shape == (3, 3) and not zeros.any()
        del total, zeros


def test_threads_with_streams_of_their_own(chain):
    wrong = []

    def work(index):
        a, b = integers(40 + index, 64, seed=index), integers(64, 64, seed=index + 9)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            on_device = a.cuda(), b.cuda()
            results = [chain(*on_device) for _ in range(200)]
        stream.synchronize()
        right = expected(a, b)
        wrong.extend(index for result in results if not torch.equal(result.cpu(), right))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_types():
    program = tessera.compile(F8, target=TARGET)
    x = torch.randn(16, 16, device="cuda").to(torch.float8_e4m3fn)
    y = program(x)
    assert y.dtype == torch.float8_e4m3fn
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8).T.contiguous())


def test_mistakes_are_reported(chain):
    a = integers(8, 8).cuda()
    with pytest.raises(TypeError, match="call detach"):
        chain(a.requires_grad_(), a)
    a = a.detach()
    with pytest.raises(tessera.Error, match="pass a dense copy"):
        chain(a, a[:, ::2])
    with pytest.raises(TypeError, match="bfloat16, but the program expects float32"):
        chain(a.bfloat16(), a)
