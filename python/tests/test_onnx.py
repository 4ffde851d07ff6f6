# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models as programs."""

import numpy as np
import pytest
import tessera
import tessera.onnx

onnx = pytest.importorskip("onnx", reason="the package onnx makes the models")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def make_model(nodes, inputs, outputs, initializers=(), opset=18):
    graph = helper.make_graph(nodes, "graph", [helper.make_tensor_value_info(*value) for value in inputs],
                              [helper.make_tensor_value_info(*value) for value in outputs],
                              [numpy_helper.from_array(array, name) for name, array in initializers])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def make_linear():
    weight = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"]),
             helper.make_node("Relu", ["y"], ["r"])]
    return make_model(nodes, [("x", TensorProto.FLOAT, ["n", 4]), ("b", TensorProto.FLOAT, [3])],
                      [("y", TensorProto.FLOAT, ["n", 3]), ("r", TensorProto.FLOAT, ["n", 3])],
                      [("w", weight)]), weight


def test_inputs_and_outputs():
    model = tessera.onnx.load(make_linear()[0])
    assert [str(value) for value in model.inputs] == ["x: float32[n, 4]", "b: float32[3]"]
    assert model.outputs[1] == tessera.onnx.Value("r", "float32", ("n", 3))
    assert tessera.onnx.load(make_linear()[0], batch=5).inputs[0].shape == (5, 4)


def test_sources(tmp_path):
    proto, weight = make_linear()
    path = tmp_path / "m.onnx"
    onnx.save(proto, path)
    other = tmp_path / "external.onnx"
    # This changes the model.
    onnx.save(make_linear()[0], other, save_as_external_data=True, location="w.bin", size_threshold=0)
    x, b = np.ones((2, 4), np.float32), np.full(3, 100, np.float32)
    for source in (proto, proto.SerializeToString(), path, str(path), other):
        y, r = tessera.onnx.load(source)(x, b)
        np.testing.assert_array_equal(y, x @ weight + b)
        np.testing.assert_array_equal(r, np.maximum(y, 0))
    with pytest.raises(tessera.CompileError, match="external data 'w.bin' has no folder"):
        tessera.onnx.load(other.read_bytes())


def test_arguments_by_name():
    proto, weight = make_linear()
    model = tessera.onnx.load(proto)
    x, b = np.ones((1, 4), np.float32), np.arange(3, dtype=np.float32)
    expected = x @ weight + b
    for result in (model(x=x, b=b), model(x, b=b), model({"b": b, "x": x}), model({"b": b}, x=x)):
        np.testing.assert_array_equal(result[0], expected)
    for call, text in ((lambda: model(x), "no array for the input b"),
                       (lambda: model(), "no array for the inputs x, b"),
                       (lambda: model(x, b, b), "takes 2 arguments, but 3"),
                       (lambda: model(x, c=b), "no input 'c': its inputs are x, b"),
                       (lambda: model(x, x=x), "'x' is given twice"),
                       (lambda: model(x.astype(np.float64), b), "float64, but the program expects float32")):
        with pytest.raises(TypeError, match=text):
            call()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32",
                                  "int64", "uint8", "uint16", "uint32", "uint64"])
def test_element_types(name):
    kind = getattr(TensorProto, {"float32": "FLOAT", "float64": "DOUBLE"}.get(name, name.upper()))
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    model = tessera.onnx.load(make_model([helper.make_node("Mul", ["x", "x"], ["y"])],
                                         [("x", kind, [2, 3])], [("y", kind, [2, 3])]))
    assert (model.inputs[0].type, model.outputs[0].type) == (name, name)
    x = np.array([[1, 2, 3], [4, 11, 15]]).astype(dtype)
    y = model(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, x * x)
    wrong = np.zeros((2, 3), np.int16 if name == "uint16" else np.uint16)
    with pytest.raises(TypeError, match=f"expects {name}"):
        model(wrong)


def test_bool():
    model = tessera.onnx.load(make_model([helper.make_node("Less", ["x", "y"], ["z"])],
                                         [("x", TensorProto.UINT8, [4]), ("y", TensorProto.UINT8, [4])],
                                         [("z", TensorProto.BOOL, [4])]))
    z = model(np.array([1, 200, 3, 255], np.uint8), np.array([2, 100, 3, 254], np.uint8))
    assert z.dtype == bool
    # As signed numbers, 200 is less than 100.
    np.testing.assert_array_equal(z, [True, False, False, False])


def test_torch():
    torch = pytest.importorskip("torch")
    proto, weight = make_linear()
    y, _ = tessera.onnx.load(proto)(torch.ones(3, 4), torch.zeros(3))
    assert isinstance(y, torch.Tensor)
    np.testing.assert_array_equal(y.numpy(), np.ones((3, 4), np.float32) @ weight)


def test_bundle(tmp_path):
    proto, weight = make_linear()
    tessera.onnx.load(proto).program.save(tmp_path / "bundle")
    program = tessera.load(tmp_path / "bundle")
    slot = program.signatures["main"].arguments[0]
    assert (slot.name, slot.symbols) == ("x", ("n", ""))
    x = np.ones((2, 4), np.float32)
    np.testing.assert_array_equal(program(x, np.zeros(3, np.float32))[0], x @ weight)


def test_constants():
    proto = make_model([helper.make_node("Reshape", ["x", "shape"], ["y"])],
                       [("x", TensorProto.FLOAT, [2, 6]), ("shape", TensorProto.INT64, [2])],
                       [("y", TensorProto.FLOAT, [None, None])])
    with pytest.raises(tessera.CompileError, match="must be constant"):
        tessera.onnx.load(proto)
    model = tessera.onnx.load(proto, constants={"shape": np.array([3, 4])})
    assert [value.name for value in model.inputs] == ["x"]
    assert model(np.zeros((2, 6), np.float32)).shape == (3, 4)
    with pytest.raises(ValueError, match="no input 'size'"):
        tessera.onnx.load(proto, constants={"size": 1})


def test_errors():
    nodes = [helper.make_node("Unique", ["x"], ["a"], name="first"),
             helper.make_node("NonZero", ["x"], ["b"], name="second")]
    proto = make_model(nodes, [("x", TensorProto.FLOAT, [2, 6])],
                       [("a", TensorProto.FLOAT, None), ("b", TensorProto.INT64, None)])
    with pytest.raises(tessera.CompileError) as caught:
        tessera.onnx.load(proto)
    assert "node 'first' (Unique)" in str(caught.value) and "node 'second' (NonZero)" in str(caught.value)
    with pytest.raises(tessera.CompileError, match="<model>: not a valid ONNX model"):
        tessera.onnx.load(b"no model")
    with pytest.raises(tessera.Error, match="cannot read 'none.onnx'"):
        tessera.onnx.load("none.onnx")
    with pytest.raises(ValueError, match="batch must be positive, not 0"):
        tessera.onnx.load(make_linear()[0], batch=0)


# --- The backend of ONNX ----------------------------------------------------------------------------


def test_backend_runs_models_and_nodes():
    proto, weight = make_linear()
    x, b = np.ones((2, 4), np.float32)[:, ::-1], np.zeros(3, np.float32)
    y, r = tessera.onnx.Backend.run_model(proto, [x, b])
    np.testing.assert_array_equal(y, x @ weight)
    node = helper.make_node("Sub", ["a", "b"], ["c"])
    (c,) = tessera.onnx.Backend.run_node(node, [np.uint8([7, 200]), np.uint8([3, 100])])
    assert c.dtype == np.uint8
    np.testing.assert_array_equal(c, [4, 100])
    assert tessera.onnx.Backend.supports_device("CPU")
    assert not tessera.onnx.Backend.supports_device("CPU:1")
    assert not tessera.onnx.Backend.supports_device("TOASTER")
    assert tessera.onnx.Backend.is_compatible(proto)
    wrong = make_model([helper.make_node("NonZero", ["x"], ["y"])], [("x", TensorProto.FLOAT, [2])],
                       [("y", TensorProto.INT64, [1, None])])
    assert not tessera.onnx.Backend.is_compatible(wrong)


def test_backend_compiles_for_the_contents_of_shapes():
    proto = make_model([helper.make_node("Reshape", ["x", "shape"], ["y"])],
                       [("x", TensorProto.FLOAT, [2, 6]), ("shape", TensorProto.INT64, [2])],
                       [("y", TensorProto.FLOAT, [None, None])])
    rep = tessera.onnx.Backend.prepare(proto)
    assert rep.fixed == ("shape",)
    for shape in ((3, 4), (12, 1), (3, 4)):
        (y,) = rep.run([np.zeros((2, 6), np.float32), np.array(shape)])
        assert y.shape == shape
    assert len(rep._fixed_models) == 2


@pytest.mark.filterwarnings("ignore::RuntimeWarning:onnx")
def test_backend_passes_tests_of_onnx():
    """Some of ONNX's own tests, run by its runner; scripts/onnx-conformance.py runs them all."""
    import unittest

    import onnx.backend.test

    tests = onnx.backend.test.BackendTest(tessera.onnx.Backend, __name__)
    tests.include("test_(add_uint8|relu|softmax_axis_1|reshape_extended_dims|bitwise_and_ui64_bcast_3v1d"
                  "|cast_FLOAT_to_FLOAT16|greater_equal_int8|conv_with_strides_padding|cast_FLOAT_to_INT4"
                  "|cast_INT2_to_FLOAT|quantizelinear_uint4|dequantizelinear_float4e2m1"
                  "|range_bfloat16_type_positive_delta)_cpu")
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(
        tests.test_cases["OnnxBackendNodeModelTest"])
    result = unittest.TestResult()
    suite.run(result)
    assert result.wasSuccessful(), (result.errors + result.failures)[0][1]
    assert result.testsRun - len(result.skipped) == 13
