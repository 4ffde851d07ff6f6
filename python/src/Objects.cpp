//===- Objects.cpp - Devices, programs and buffers of the C API -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Objects.h"

#include "Errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace tessera_python;

TesseraDeviceInfo Device::info() const {
  TesseraDeviceInfo info = {};
  info.structSize = sizeof(info);
  raise(tesseraDeviceGetInfo(handle.get(), &info), tesseraGetLastError());
  return info;
}

std::pair<std::vector<Slot>, std::vector<Slot>>
Program::getSlots(const char *entry) const {
  size_t numArguments = 0, numResults = 0;
  raise(tesseraProgramGetSlotCounts(handle.get(), entry, &numArguments,
                                    &numResults),
        tesseraGetLastError());
  auto read = [&](size_t count, auto get) {
    std::vector<Slot> slots;
    TesseraSlotInfo info = {};
    info.structSize = sizeof(info);
    for (size_t i = 0; i < count; ++i) {
      raise(get(handle.get(), entry, i, &info), tesseraGetLastError());
      slots.push_back({info.kind,
                       info.element,
                       {info.sizes, info.sizes + info.rank},
                       info.mayWrite != 0,
                       info.type,
                       info.name,
                       {}});
      if (info.symbols)
        slots.back().symbols.assign(info.symbols, info.symbols + info.rank);
    }
    return slots;
  };
  std::vector<Slot> arguments = read(numArguments, tesseraProgramGetArgument);
  return {std::move(arguments), read(numResults, tesseraProgramGetResult)};
}

static nb::list getEntries(Program &program) {
  TesseraProgram *handle = program.handle.get();
  size_t count = 0;
  raise(tesseraProgramGetEntryCount(handle, &count), tesseraGetLastError());
  nb::list entries;
  for (size_t i = 0; i < count; ++i) {
    const char *name = nullptr;
    raise(tesseraProgramGetEntryName(handle, i, &name), tesseraGetLastError());
    auto [arguments, results] = program.getSlots(name);
    entries.append(nb::make_tuple(name, arguments, results));
  }
  return entries;
}

void tessera_python::bindObjects(nb::module_ &module) {
  nb::class_<Slot>(module, "Slot")
      .def_ro("kind", &Slot::kind)
      .def_ro("element", &Slot::element)
      .def_ro("shape", &Slot::shape)
      .def_ro("may_write", &Slot::mayWrite)
      .def_ro("type", &Slot::type)
      .def_ro("name", &Slot::name)
      .def_ro("symbols", &Slot::symbols);

  nb::class_<Device>(module, "Device")
      .def("__init__",
           [](Device *self, const std::string &target, int ordinal) {
             new (self) Device;
             call([&] {
               TesseraDevice *opened = nullptr;
               TesseraStatus status =
                   tesseraDeviceOpen(target.c_str(), ordinal, &opened);
               self->handle.reset(opened);
               return status;
             });
           })
      .def("synchronize",
           [](Device &device) {
             call(
                 [&] { return tesseraDeviceSynchronize(device.handle.get()); });
           })
      .def_prop_ro("target",
                   [](Device &device) { return device.info().target; })
      .def_prop_ro("chip", [](Device &device) { return device.info().chip; })
      .def_prop_ro("name", [](Device &device) { return device.info().name; })
      .def_prop_ro("driver",
                   [](Device &device) { return device.info().driver; })
      .def_prop_ro("ordinal",
                   [](Device &device) { return device.info().ordinal; })
      .def_prop_ro("memory_bytes",
                   [](Device &device) { return device.info().memoryBytes; });

  nb::class_<Program>(module, "Program")
      .def_static("load",
                  [](nb::bytes bytes) {
                    Program program;
                    call([&] {
                      TesseraProgram *made = nullptr;
                      TesseraStatus status = tesseraProgramLoad(
                          bytes.c_str(), bytes.size(), &made);
                      program.handle.reset(made);
                      return status;
                    });
                    return program;
                  })
      .def("save",
           [](Program &program) {
             const void *bytes = nullptr;
             size_t size = 0;
             raise(tesseraProgramSave(program.handle.get(), &bytes, &size),
                   tesseraGetLastError());
             return nb::bytes(static_cast<const char *>(bytes), size);
           })
      .def("describe",
           [](Program &program) {
             return tesseraProgramDescribe(program.handle.get());
           })
      .def("entries", &getEntries);

  nb::class_<Buffer>(module, "Buffer");
}
