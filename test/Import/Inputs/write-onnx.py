#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an .onnx file from text, without the onnx package.

  write-onnx.py MODEL.txt MODEL.onnx

A line of the text is one of the following. Lines that start with # are comments; so a test can hold
its model, RUN lines and checks.

  opset 17
  name NAME                              of the graph
  input x: f32[N, 3, 8, 8]               sizes, or names of open ones
  tensor w: f32[4, 3, 3, 3] = seq        contents: seq, or a list of numbers (for f4, its bits)
  external w: f32[4] = FILE 16 16        location, offset, length
  y, z = Op(x, , w) name {pads=[1, 1], alpha=0.5, mode="edge", value=i64[2]:[1, 2]}
  output y: f32[N, 4]                    the type may be left out
  graph NAME ... end                     a graph for attributes: {body=@NAME}
  function DOMAIN.NAME(x, y) -> z ... end   nodes of a function; {alpha=$beta} is its attribute

The lines of a graph or function are of the same forms.
"""

import re
import struct
import sys

TYPES = {"f32": (1, "f"), "u8": (2, "B"), "i8": (3, "b"), "i32": (6, "i"), "i64": (7, "q"),
         "bool": (9, "B"), "f16": (10, "e"), "f64": (11, "d"), "u4": (21, 4), "i4": (22, 4),
         "f4": (23, 4), "e8m0": (24, "B"), "u2": (25, 2), "i2": (26, 2)}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def integer(number, value):
    return varint(number << 3) + varint(value)


def data(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def float32(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def parse_sizes(text):
    return [s.strip() for s in text.split(",") if s.strip()]


def pack_bits(values, bits):
    """Elements of fewer than 8 bits, the first one of a byte in its lowest bits."""
    each = 8 // bits
    return bytes(sum((v & (1 << bits) - 1) << bits * i for i, v in enumerate(values[at:at + each]))
                 for at in range(0, len(values), each))


def make_tensor(kind, sizes, contents, name=""):
    number, code = TYPES[kind]
    sizes = [int(s) for s in sizes]
    count = 1
    for size in sizes:
        count *= size
    is_float = code in ("f", "e", "d")
    if contents == "seq":
        values = [(i * 5 % 7 - 3) / 4 if is_float else i % 5 for i in range(count)]
    else:
        values = [float(v) if is_float else int(v) for v in parse_sizes(contents.strip("[]"))]
    raw = pack_bits(values, code) if isinstance(code, int) else struct.pack(f"<{len(values)}{code}", *values)
    return b"".join(integer(1, s) for s in sizes) + integer(2, number) + data(8, name) + data(9, raw)


def make_value(name, kind, sizes):
    body = integer(1, TYPES[kind][0])
    if sizes is not None:
        dims = b"".join(data(1, integer(1, int(s)) if re.fullmatch(r"-?\d+", s) else data(2, s))
                        for s in sizes)
        body += data(2, dims)
    return data(1, name) + data(2, data(1, body))


def make_attribute(name, text, graphs):
    start = data(1, name)
    if text.startswith("@"):
        return start + data(6, graphs[text[1:]]) + integer(20, 5)
    if text.startswith("$"):
        return start + data(21, text[1:]) + integer(20, 1)
    tensor = re.fullmatch(r"(\w+)\[([^\]]*)\]:(.*)", text)
    if tensor:
        return start + data(5, make_tensor(*(tensor[1], parse_sizes(tensor[2]), tensor[3]))) + integer(20, 4)
    if text.startswith('"'):
        return start + data(4, text.strip('"')) + integer(20, 3)
    if text.startswith("["):
        items = parse_sizes(text[1:-1])
        if text.startswith('["'):
            return start + b"".join(data(9, i.strip('"')) for i in items) + integer(20, 8)
        if any("." in i for i in items):
            return start + b"".join(float32(7, float(i)) for i in items) + integer(20, 6)
        return start + b"".join(integer(8, int(i)) for i in items) + integer(20, 7)
    if "." in text or "e" in text:
        return start + float32(2, float(text)) + integer(20, 1)
    return start + integer(3, int(text)) + integer(20, 2)


def make_node(line, graphs):
    found = re.fullmatch(r"(.*?) = ([\w.]+)\((.*?)\)(?: ([\w.]+))?(?: \{(.*)\})?", line)
    outputs, op, inputs, name, attributes = found.groups()
    body = b"".join(data(1, i.strip()) for i in (inputs.split(",") if inputs else []))
    body += b"".join(data(2, o.strip()) for o in outputs.split(","))
    domain, _, op = op.rpartition(".")
    body += data(3, name or "") + data(4, op) + data(7, domain)
    for key, text in re.findall(r'(\w+)=((?:\w+\[[^\]]*\]:)?(?:\[[^\]]*\]|"[^"]*"|[^,\s]+))', attributes or ""):
        body += data(5, make_attribute(key, text, graphs))
    return data(1, body)


def make_line(line, graphs):
    """The field of a GraphProto for a line."""
    typed = re.fullmatch(r"(input|output|tensor|external) (\S+?)(?:: (\w+)(?:\[(.*?)\])?)?(?: = (.*))?", line)
    if not typed:
        return make_node(line, graphs)
    if typed[1] in ("input", "output"):
        sizes = None if typed[4] is None else parse_sizes(typed[4])
        value = make_value(typed[2], typed[3], sizes) if typed[3] else data(1, typed[2])
        return data(11 if typed[1] == "input" else 12, value)
    if typed[1] == "tensor":
        return data(5, make_tensor(typed[3], parse_sizes(typed[4]), typed[5], typed[2]))
    pairs = zip(("location", "offset", "length"), typed[5].split())
    return data(5, b"".join(integer(1, int(s)) for s in parse_sizes(typed[4]))
                + integer(2, TYPES[typed[3]][0]) + data(8, typed[2])
                + b"".join(data(13, data(1, k) + data(2, v)) for k, v in pairs)
                + integer(14, 1))


def main():
    opset, name, graph = 17, "graph", b""
    graphs, functions = {}, b""
    # The graphs that are being read, and functions in this place.
    open_graphs = []
    for line in open(sys.argv[1]):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        function = re.fullmatch(r"function ([\w.]+)\.(\w+)\((.*)\) -> (.*)", line)
        if line.startswith("opset "):
            opset = int(line.split()[1])
        elif line.startswith("name "):
            name = line.split()[1]
        elif line.startswith("graph "):
            open_graphs.append([line.split()[1], b""])
        elif function:
            head = data(10, function[1]) + data(1, function[2])
            head += b"".join(data(4, i) for i in parse_sizes(function[3]))
            head += b"".join(data(5, o) for o in parse_sizes(function[4]))
            open_graphs.append([None, head])
        elif line == "end":
            key, body = open_graphs.pop()
            if key:
                graphs[key] = body + data(2, key)
            else:
                functions += data(25, body)
        elif open_graphs and open_graphs[-1][0] is None:
            # The field of a node has another number in a function.
            open_graphs[-1][1] += b"\x3a" + make_line(line, graphs)[1:]
        elif open_graphs:
            open_graphs[-1][1] += make_line(line, graphs)
        else:
            graph += make_line(line, graphs)
    with open(sys.argv[2], "wb") as file:
        file.write(integer(1, 8) + data(7, graph + data(2, name)) + functions
                   + data(8, data(1, "") + integer(2, opset)))


main()
