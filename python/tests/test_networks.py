# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that benchmarks/networks.py gives to onnx2torch."""

import os
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "benchmarks"))
import networks  # noqa: E402


def make_model(nodes, image, result, weights=()):
    """A model with f32 input x and output y."""
    inputs = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, image)]
    outputs = [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, result)]
    tensors = [onnx.numpy_helper.from_array(value, name) for name, value in weights]
    graph = onnx.helper.make_graph(nodes, "g", inputs, outputs, tensors)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    onnx.checker.check_model(model)
    return model


def check(model):
    """The ops of the prepared model, whose outputs are those of `model`."""
    from onnx.reference import ReferenceEvaluator
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    inputs = {"x": np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
    wanted = ReferenceEvaluator(model).run(None, inputs)
    prepared = networks.prepare_file(model)
    onnx.checker.check_model(prepared)
    np.testing.assert_allclose(ReferenceEvaluator(prepared).run(None, inputs)[0], wanted[0], rtol=1e-5, atol=1e-6)
    return prepared.graph.node


@pytest.mark.parametrize("pad, pads", [("SAME_UPPER", [0, 1, 1, 2]), ("SAME_LOWER", [1, 2, 0, 1])])
def test_same_pads_are_stated(pad, pads):
    filters = np.random.default_rng(1).standard_normal((5, 3, 2, 4)).astype(np.float32)
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], auto_pad=pad, kernel_shape=[2, 4], strides=[2, 1])
    (conv,) = check(make_model([node], [1, 3, 7, 6], [1, 5, 4, 6], [("w", filters)]))
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in conv.attribute}
    assert attributes["pads"] == pads and "auto_pad" not in attributes


def test_pool_of_all_is_global():
    def pool(**more):
        return [onnx.helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[7, 7], **more)]
    (node,) = check(make_model(pool(pads=[0, 0, 1, 1]), [1, 3, 6, 6], [1, 3, 1, 1]))
    assert node.op_type == "GlobalAveragePool"
    # Zeros beside the image count, or the window ends before the image does.
    (node,) = check(make_model(pool(pads=[0, 0, 1, 1], count_include_pad=1), [1, 3, 6, 6], [1, 3, 1, 1]))
    assert node.op_type == "AveragePool"
    (node,) = check(make_model(pool(strides=[3, 3]), [1, 3, 9, 9], [1, 3, 1, 1]))
    assert node.op_type == "AveragePool"


def test_dropout_is_left_out():
    ratio = np.array(0.5, np.float32)
    node = onnx.helper.make_node("Dropout", ["x", "r"], ["y", "mask"])
    (node,) = check(make_model([node], [2, 3], [2, 3], [("r", ratio)]))
    assert (node.op_type, list(node.input), list(node.output)) == ("Identity", ["x"], ["y"])


def test_mask_that_is_read_stays():
    nodes = [onnx.helper.make_node("Dropout", ["x"], ["d", "mask"]),
             onnx.helper.make_node("Cast", ["mask"], ["y"], to=onnx.TensorProto.FLOAT)]
    model = make_model(nodes, [2, 3], [2, 3])
    assert networks.prepare_file(model).graph.node[0].op_type == "Dropout"


def test_shapes_are_constants():
    nodes = [onnx.helper.make_node("Shape", ["x"], ["s"]),
             onnx.helper.make_node("Flatten", ["x"], ["f"]),
             onnx.helper.make_node("Reshape", ["f", "s"], ["y"])]
    nodes = check(make_model(nodes, [2, 3, 4], [2, 3, 4]))
    assert [node.op_type for node in nodes] == ["Constant", "Flatten", "Reshape"]
