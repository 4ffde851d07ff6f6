//===- Operator.cpp - The programs of an operator of PyTorch --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of an operator skips PyTorch's dispatcher where nothing but autograd
// has to see it. The operator may have a program for each form of its
// arguments: their types, devices and sizes, and the values of numbers. A call
// looks its program up by them, and runs it on the arguments that are not None.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Call.h"
#include "Errors.h"
#include "Objects.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace tessera_python;
using namespace nb::literals;

//===----------------------------------------------------------------------===//
// Programs for the form of the arguments
//===----------------------------------------------------------------------===//

namespace {

/// The form of the arguments of a call.
using Key = std::vector<int64_t>;

/// The base class of `tessera.torch._Programs`.
struct ProgramsByForm {
  struct Item {
    Key key;
    nb::object program;
  };
  /// The name of the entry point, or None.
  nb::object entry;
  /// The program used last comes first.
  std::vector<Item> items;
};

/// How the part of an argument in a key begins.
enum Kind : int64_t { None, Bool, Integer, Float, Tensor };

} // namespace

/// Appends an argument to a key; false if its kind is not known here.
static bool addToKey(PyObject *value, Key &key) {
  if (value == Py_None) {
    key.push_back(None);
    return true;
  }
  if (PyBool_Check(value)) {
    key.insert(key.end(), {Bool, value == Py_True});
    return true;
  }
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    key.insert(key.end(), {Integer, number});
    return overflow == 0;
  }
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AsDouble(value);
    int64_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    key.insert(key.end(), {Float, bits});
    return true;
  }
  ArrayType type = classify(value);
  // Without the package's functions of C, reading takes as long as the other
  // way to look up the program.
  if (type.kind != ArrayKind::Torch || !type.exchange)
    return false;
  Array array;
  try {
    readArray(value, type, /*acceptGradient=*/true, array);
  } catch (const Unsupported &) {
    // The function that makes the program, or its call, reports this.
    return false;
  }
  key.insert(key.end(),
             {Tensor, array.device, array.ordinal, array.element.code,
              array.element.bits, static_cast<int64_t>(array.sizes.size())});
  key.insert(key.end(), array.sizes.data(),
             array.sizes.data() + array.sizes.size());
  return true;
}

/// Makes the key of a call. Returns whether it contains all arguments.
static bool makeKey(PyObject *arguments, Key &key) {
  for (Py_ssize_t i = 0, count = PyTuple_Size(arguments); i < count; ++i)
    if (!addToKey(PyTuple_GetItem(arguments, i), key))
      return false;
  return true;
}

/// Returns the arguments that are not None.
static nb::object dropNone(PyObject *arguments) {
  Py_ssize_t count = PyTuple_Size(arguments), kept = 0;
  for (Py_ssize_t i = 0; i < count; ++i)
    kept += PyTuple_GetItem(arguments, i) != Py_None;
  if (kept == count)
    return nb::borrow(arguments);
  nb::object tuple = checked(PyTuple_New(kept));
  for (Py_ssize_t i = 0, next = 0; i < count; ++i) {
    PyObject *value = PyTuple_GetItem(arguments, i);
    if (value == Py_None)
      continue;
    Py_INCREF(value);
    if (PyTuple_SetItem(tuple.ptr(), next++, value) < 0)
      throw nb::python_error();
  }
  return tuple;
}

/// Finds the program of a call, or asks for it: `self.find(arguments)`.
static nb::object findProgram(PyObject *self, ProgramsByForm &own,
                              PyObject *arguments) {
  Key key;
  bool isKnown = makeKey(arguments, key);
  for (auto item = own.items.begin(); isKnown && item != own.items.end();
       ++item)
    if (item->key == key) {
      std::rotate(own.items.begin(), item, item + 1);
      return own.items.front().program;
    }
  nb::object program = nb::handle(self).attr("find")(nb::handle(arguments));
  // Another thread may have added the same in the meantime.
  if (isKnown)
    own.items.insert(own.items.begin(), {std::move(key), program});
  return program;
}

/// The slot tp_call of `ProgramsByForm`.
static PyObject *callProgramsSlot(PyObject *self, PyObject *arguments,
                                  PyObject *keywords) {
  return guarded([&] {
    if (keywords && PyDict_Size(keywords) != 0)
      throw nb::type_error("the operator takes no keyword arguments here");
    auto &own = *nb::inst_ptr<ProgramsByForm>(nb::handle(self));
    nb::object program = findProgram(self, own, arguments);
    nb::object passed = dropNone(arguments);
    return callProgram(program.ptr(), own.entry.ptr(), passed.ptr(),
                       /*stream=*/nullptr, /*acceptGradient=*/true)
        .release()
        .ptr();
  });
}

//===----------------------------------------------------------------------===//
// Calls without the dispatcher
//===----------------------------------------------------------------------===//

namespace {
/// An operator whose calls need not go through PyTorch's dispatcher.
struct EagerOperator {
  /// The implementation, and the same with its derivative.
  nb::object run, runWithDerivative;
  Py_ssize_t numArguments;
  /// PyTorch's types of tensors that contain nothing but memory.
  nb::object tensorType, parameterType;
  nb::object isGradEnabled;
  /// Functions without arguments, each with the object that it returns while
  /// nothing has to see the operators that run.
  std::vector<std::pair<nb::object, nb::object>> observers;
};
} // namespace

static bool isTrue(PyObject *value, PyObject *attribute) {
  return getAttribute(value, attribute).ptr() == Py_True;
}

/// Returns the function that a call runs, or null for the dispatcher.
static nb::handle chooseFunction(const EagerOperator &own,
                                 PyObject *arguments) {
  static PyObject *const isMeta = intern("is_meta");
  static PyObject *const requiresGradient = intern("requires_grad");
  Py_ssize_t count = PyTuple_Size(arguments);
  if (count != own.numArguments)
    return {};
  for (const auto &[function, neutral] : own.observers)
    if (checked(PyObject_CallNoArgs(function.ptr())).ptr() != neutral.ptr())
      return {};
  bool needsGradient = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *value = PyTuple_GetItem(arguments, i);
    auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
    if (type == own.tensorType.ptr() || type == own.parameterType.ptr()) {
      if (isTrue(value, isMeta))
        return {};
      needsGradient |= isTrue(value, requiresGradient);
    } else if (classify(value).kind == ArrayKind::Torch) {
      return {};
    }
  }
  bool isRecorded =
      needsGradient &&
      checked(PyObject_CallNoArgs(own.isGradEnabled.ptr())).ptr() == Py_True;
  return isRecorded ? own.runWithDerivative : own.run;
}

/// The slot tp_call of `EagerOperator`.
static PyObject *callEagerSlot(PyObject *self, PyObject *arguments,
                               PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    const auto &own = *nb::inst_ptr<EagerOperator>(nb::handle(self));
    nb::handle function;
    if (!keywords || PyDict_Size(keywords) == 0)
      function = chooseFunction(own, arguments);
    if (!function.is_valid()) {
      Py_INCREF(Py_NotImplemented);
      return Py_NotImplemented;
    }
    return checked(PyObject_Call(function.ptr(), arguments, nullptr))
        .release()
        .ptr();
  });
}

void tessera_python::bindOperators(nb::module_ &module) {
  static PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void *>(callProgramsSlot)}, {0, nullptr}};
  nb::class_<ProgramsByForm>(module, "ProgramsByForm", nb::type_slots(slots))
      .def(
          "__init__",
          [](ProgramsByForm *self, nb::object entry) {
            new (self) ProgramsByForm{std::move(entry), {}};
          },
          "entry"_a.none());

  static PyType_Slot eagerSlots[] = {
      {Py_tp_call, reinterpret_cast<void *>(callEagerSlot)}, {0, nullptr}};
  nb::class_<EagerOperator>(module, "EagerOperator", nb::type_slots(eagerSlots),
                            "Its call returns NotImplemented where PyTorch's "
                            "dispatcher has to see the operator.")
      .def(
          "__init__",
          [](EagerOperator *self, nb::object run, nb::object derivative,
             Py_ssize_t numArguments, nb::object tensor, nb::object parameter,
             nb::object isGradEnabled, nb::list observers) {
            new (self) EagerOperator{std::move(run),
                                     std::move(derivative),
                                     numArguments,
                                     std::move(tensor),
                                     std::move(parameter),
                                     std::move(isGradEnabled),
                                     {}};
            for (nb::handle observer : observers)
              self->observers.emplace_back(nb::object(observer[0]),
                                           nb::object(observer[1]));
          },
          "run"_a, "derivative"_a, "num_arguments"_a, "tensor"_a, "parameter"_a,
          "is_grad_enabled"_a, "observers"_a);
}
