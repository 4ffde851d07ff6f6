//===- PreparedCode.cpp - A program prepared for evaluation ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreparedCode.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>
#include <thread>

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 4>
tessera::reference::denseStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 4> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

int64_t View::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

bool View::isDense() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected *= sizes[i];
  }
  return true;
}

int64_t View::addressOf(int64_t linear) const {
  int64_t address = offset;
  for (size_t i = sizes.size(); i-- > 0;) {
    address += linear % sizes[i] * strides[i];
    linear /= sizes[i];
  }
  return address;
}

void View::fill(const Number &number) const {
  int64_t count = getNumElements();
  if (number.error != 0 || storage->errors() || storage->written()) {
    for (int64_t i = 0; i < count; ++i)
      store(offset + i, number);
    return;
  }
  if (format->isFloat)
    std::fill_n(storage->floats() + offset, count, number.f);
  else
    std::fill_n(storage->integers() + offset, count, number.i);
}

ViewRef View::make(const Format &format, ArrayRef<int64_t> sizes) {
  auto view = llvm::makeIntrusiveRefCnt<View>();
  view->format = &format;
  view->sizes.assign(sizes.begin(), sizes.end());
  view->strides = denseStrides(sizes);
  view->storage = llvm::makeIntrusiveRefCnt<Storage>(format.isFloat,
                                                     view->getNumElements());
  return view;
}

ViewRef View::alias() const {
  auto view = llvm::makeIntrusiveRefCnt<View>();
  view->storage = storage;
  view->format = format;
  view->offset = offset;
  return view;
}

Number tessera::reference::getUnspecified(const Format &format, bool isOther) {
  constexpr int64_t pattern = 0x5a5a5a5a5a5a5a5a;
  if (format.isFloat)
    return Number::ofFloat(isOther ? 0.1875
                                   : std::numeric_limits<double>::quiet_NaN());
  return Number::ofInt(format.wrap(isOther ? ~pattern : pattern));
}

ViewRef View::makePoison(const Format &format, ArrayRef<int64_t> sizes,
                         bool isOther) {
  ViewRef view = make(format, sizes);
  view->fill(getUnspecified(format, isOther));
  return view;
}

bool tessera::reference::forEachIndex(
    ArrayRef<int64_t> sizes, function_ref<bool(ArrayRef<int64_t>)> body) {
  for (int64_t size : sizes)
    if (size <= 0)
      return true;
  SmallVector<int64_t, 6> indices(sizes.size(), 0);
  while (true) {
    if (!body(indices))
      return false;
    size_t dim = sizes.size();
    while (dim > 0 && ++indices[dim - 1] == sizes[dim - 1])
      indices[--dim] = 0;
    if (dim == 0)
      return true;
  }
}

void tessera::reference::copyElements(const View &source, const View &target) {
  bool plain = source.isDense() && target.isDense() &&
               !source.storage->errors() && !target.storage->errors() &&
               !target.storage->written();
  if (plain) {
    int64_t count = source.getNumElements();
    if (source.format->isFloat)
      std::memmove(target.storage->floats() + target.offset,
                   source.storage->floats() + source.offset,
                   count * sizeof(double));
    else
      std::memmove(target.storage->integers() + target.offset,
                   source.storage->integers() + source.offset,
                   count * sizeof(int64_t));
    return;
  }
  forEachIndex(source.sizes, [&](ArrayRef<int64_t> indices) {
    int64_t from = source.offset, to = target.offset;
    for (size_t i = 0; i < indices.size(); ++i) {
      from += indices[i] * source.strides[i];
      to += indices[i] * target.strides[i];
    }
    target.store(to, source.load(from));
    return true;
  });
}

ViewRef tessera::reference::cloneView(const View &source) {
  ViewRef copy = View::make(*source.format, source.sizes);
  copyElements(source, *copy);
  return copy;
}

ViewRef tessera::reference::takeForUpdate(const Frame &frame, Code::Use use) {
  ViewRef &slot = frame.view(use.slot);
  if (!use.isLast)
    return cloneView(*slot);
  ViewRef view = std::move(slot);
  if (view->UseCount() == 1 && view->storage->UseCount() == 1)
    return view;
  return cloneView(*view);
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

Run::Run(const Options &options)
    : options(options), start(std::chrono::steady_clock::now()) {
  threads = options.threads ? options.threads
                            : std::max(1u, std::thread::hardware_concurrency());
}

void Run::noteCoarseSum(int bits) {
  int known = coarseBits.load(std::memory_order_relaxed);
  while ((known == 0 || bits < known) &&
         !coarseBits.compare_exchange_weak(known, bits,
                                           std::memory_order_relaxed)) {
  }
}

bool Run::noteUnspecified(Operation *op) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    unspecified.insert(op);
  }
  switch (options.unspecified) {
  case Options::Unspecified::Usual:
    break;
  case Options::Unspecified::OtherAtOneOp:
    return op == options.otherAt;
  case Options::Unspecified::OtherEverywhere:
    return true;
  }
  return false;
}

bool Run::error(Operation *op, const Twine &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!stopped.exchange(true)) {
    failedOp = op;
    message = text.str();
  }
  return false;
}

bool Run::giveUp(Operation *op, const Twine &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!stopped.exchange(true)) {
    failedOp = op;
    message = text.str();
    tooLarge = true;
  }
  return false;
}

bool Run::spend(int64_t amount, Operation *op) {
  if (failed())
    return false;
  int64_t total = work.fetch_add(amount, std::memory_order_relaxed) + amount;
  if (total < 0 || amount < 0 || total > options.maxWork)
    return giveUp(op,
                  llvm::formatv("it requires at least about {0:e1} operations",
                                static_cast<double>(total)));
  if (total < nextCheck.load(std::memory_order_relaxed))
    return true;
  nextCheck = total + 5'000'000;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (time.count() > options.maxSeconds)
    return giveUp(op, llvm::formatv("it requires more than {0:f0} seconds",
                                    options.maxSeconds));
  return true;
}

ViewRef Run::getGlobal(Operation *global, function_ref<ViewRef()> make) {
  std::lock_guard<std::mutex> lock(mutex);
  ViewRef &view = globals[global];
  if (!view)
    view = make();
  return view;
}

static thread_local bool isWorker = false;

bool Run::parallel(int64_t count, function_ref<bool(int64_t)> task) {
  int64_t helpers = std::min<int64_t>(threads, count) - 1;
  if (isWorker || helpers <= 0) {
    for (int64_t i = 0; i < count; ++i)
      if (failed() || !task(i))
        return false;
    return true;
  }
  std::atomic<int64_t> next{0};
  std::atomic<bool> good{true};
  auto work = [&] {
    isWorker = true;
    for (int64_t i; (i = next.fetch_add(1)) < count;) {
      if (failed() || !good || !task(i)) {
        good = false;
        break;
      }
    }
    isWorker = false;
  };
  std::vector<std::thread> pool;
  for (int64_t i = 0; i < helpers; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  return good;
}

//===----------------------------------------------------------------------===//
// Instructions and frames
//===----------------------------------------------------------------------===//

Instr::~Instr() = default;

bool Instr::runAll(ArrayRef<Frame *> frames) const {
  for (Frame *frame : frames)
    if (!run(*frame))
      return false;
  return true;
}

FrameOwner::FrameOwner(const Function &function, const Frame &caller)
    : frame(caller), numbers(new Number[function.numNumbers]),
      views(new ViewRef[function.numViews]) {
  frame.numbers = numbers.get();
  frame.views = views.get();
  for (auto [outer, inner] : function.captures)
    assign(frame, inner, caller, outer);
}

FrameOwner::FrameOwner(const Frame &other, unsigned numNumbers,
                       unsigned numViews)
    : frame(other), numbers(new Number[numNumbers]),
      views(new ViewRef[numViews]) {
  frame.numbers = numbers.get();
  frame.views = views.get();
  std::memcpy(static_cast<void *>(frame.numbers), other.numbers,
              numNumbers * sizeof(Number));
  std::copy_n(other.views, numViews, frame.views);
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

const Registry &Registry::get() {
  static const Registry *registry = [] {
    auto *all = new Registry;
    addArithHandlers(*all);
    addMathHandlers(*all);
    addControlHandlers(*all);
    addAffineHandlers(*all);
    addMemRefHandlers(*all);
    addTensorHandlers(*all);
    addVectorHandlers(*all);
    addVectorFormHandlers(*all);
    addGpuHandlers(*all);
    addSubgroupHandlers(*all);
    addLaneMatrixHandlers(*all);
    addXeGpuHandlers(*all);
    addFragmentHandlers(*all);
    addContractHandlers(*all);
    addLinalgHandlers(*all);
    addSoftmaxHandlers(*all);
    addAttentionHandlers(*all);
    addPackHandlers(*all);
    addPoisonHandlers(*all);
    return all;
  }();
  return *registry;
}

const Handler *Registry::lookup(Operation *op) const {
  auto found = handlers.find(op->getName().getStringRef());
  return found == handlers.end() ? nullptr : &found->second;
}

const Function *Program::getFunction(Operation *op) {
  auto found = functions.find(op);
  if (found != functions.end())
    return found->second.get();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || function.isExternal() ||
      !function.getFunctionBody().hasOneBlock())
    return nullptr;
  // Entered first, so that it can call itself.
  auto owned = std::make_unique<Function>();
  Function *result = owned.get();
  functions[op] = std::move(owned);
  Scope scope(*this, *result, nullptr);
  result->code = scope.compile(function.getFunctionBody().front());
  return result;
}

bool tessera::reference::isWorkgroupAllocation(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp>(op) &&
         isWorkgroupMemory(cast<MemRefType>(op->getResult(0).getType()));
}

bool Program::isCollective(Operation *op) {
  if (isa<gpu::BarrierOp, gpu::ShuffleOp, gpu::RotateOp, gpu::AllReduceOp,
          gpu::SubgroupReduceOp, gpu::SubgroupBroadcastOp>(op) ||
      op->getName().getStringRef().starts_with("gpu.subgroup_mma_") ||
      op->getName().getStringRef() == "amdgpu.lds_barrier" ||
      isVendorLaneOp(op) || isWorkgroupAllocation(op))
    return true;
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
    Operation *callee =
        symbol ? symbols.lookupNearestSymbolFrom(op, symbol) : nullptr;
    return callee && isCollective(callee);
  }
  if (op->getNumRegions() == 0)
    return false;
  auto [found, isNew] = collective.try_emplace(op, false);
  if (!isNew)
    return found->second;
  bool result = false;
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      result = result || isCollective(&nested);
  collective[op] = result;
  return result;
}

Slot Scope::slot(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  Slot inner = define(value);
  if (parent)
    function.captures.push_back({parent->slot(value), inner});
  return inner;
}

Slot Scope::define(Value value) {
  Slot slot;
  slot.isView = !isNumber(value.getType());
  slot.index = slot.isView ? function.numViews++ : function.numNumbers++;
  known[value] = slot;
  return slot;
}

SmallVector<Slot> Scope::slots(ValueRange values) {
  SmallVector<Slot> result;
  for (Value value : values)
    result.push_back(slot(value));
  return result;
}

SmallVector<Slot> Scope::define(ValueRange values) {
  SmallVector<Slot> result;
  for (Value value : values)
    result.push_back(define(value));
  return result;
}

Code::Use Scope::use(OpOperand &operand) {
  Value value = operand.get();
  bool isLast = value.hasOneUse() &&
                value.getParentBlock() == operand.getOwner()->getBlock();
  return {slot(value), isLast};
}

/// Types without numbers, as far as they occur in `op`.
static Type findUnsupportedType(Operation *op) {
  auto isBad = [](Type type) {
    if (isNumber(type))
      return !Format::get(type);
    auto vector = dyn_cast<VectorType>(type);
    if (vector && vector.isScalable())
      return true;
    if (auto shaped = dyn_cast<ShapedType>(type))
      return !Format::get(shaped.getElementType());
    return false;
  };
  for (Type type : op->getOperandTypes())
    if (isBad(type))
      return type;
  for (Type type : op->getResultTypes())
    if (isBad(type))
      return type;
  return {};
}

InstrPtr Scope::compileOp(Operation *op) {
  auto fail = [&](std::string message) {
    define(op->getResults());
    return makeInstr([op, message = std::move(message)](Frame &frame) {
      return frame.run->error(op, message);
    });
  };
  std::string name = op->getName().getStringRef().str();
  if (Type type = findUnsupportedType(op)) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return fail("the reference does not support element type " + text);
  }
  for (Region &region : op->getRegions())
    if (!region.empty() && !region.hasOneBlock())
      return fail("the reference does not support '" + name +
                  "' with several blocks");
  InstrPtr instr;
  if (isa<linalg::LinalgOp>(op))
    instr = compileLinalg(op, *this);
  else if (const Handler *handler = Registry::get().lookup(op))
    instr = (*handler)(op, *this);
  else
    return fail("the reference does not support '" + name + "'");
  if (!instr)
    return fail("the reference does not support this form of '" + name + "'");
  return instr;
}

Code Scope::compile(Block &block) {
  Code code;
  code.arguments = define(block.getArguments());
  bool hasTerminator =
      !block.empty() && block.back().hasTrait<OpTrait::IsTerminator>();
  for (Operation &op : block) {
    if (hasTerminator && &op == &block.back())
      break;
    code.instrs.push_back(compileOp(&op));
  }
  if (hasTerminator)
    for (OpOperand &operand : block.back().getOpOperands())
      code.yields.push_back(use(operand));
  return code;
}

std::unique_ptr<Function> Scope::compileFunction(Block &block) {
  auto body = std::make_unique<Function>();
  Scope scope(program, *body, this);
  body->code = scope.compile(block);
  return body;
}

//===----------------------------------------------------------------------===//
// Help for handlers
//===----------------------------------------------------------------------===//

const Format *tessera::reference::getFormat(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return Format::get(shaped.getElementType());
  return Format::get(type);
}

Number tessera::reference::getConstant(Attribute attribute,
                                       const Format &format) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    llvm::APInt value = integer.getValue();
    return Number::ofInt(format.wrap(
        static_cast<int64_t>(value.sextOrTrunc(64).getZExtValue())));
  }
  if (auto floating = dyn_cast<FloatAttr>(attribute))
    return Number::ofFloat(floating.getValueAsDouble());
  return Number::ofInt(0);
}

SmallVector<int64_t, 4> MixedList::get(const Frame &frame) const {
  SmallVector<int64_t, 4> values(statics.begin(), statics.end());
  size_t next = 0;
  for (int64_t &value : values)
    if (ShapedType::isDynamic(value))
      value = frame.integer(dynamics[next++]);
  return values;
}

MixedList tessera::reference::getSizes(Scope &scope, ShapedType type,
                                       ValueRange dynamics) {
  return MixedList(scope, type.getShape(), dynamics);
}

bool tessera::reference::checkSizes(Run &run, Operation *op,
                                    ArrayRef<int64_t> sizes) {
  // 8 GB.
  constexpr int64_t limit = int64_t(1) << 30;
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 0)
      return run.error(op, "a size is negative: " + Twine(size));
    if (size > limit || count * size > limit)
      return run.spend(std::numeric_limits<int64_t>::max() / 4, op);
    count *= size;
  }
  return true;
}

bool tessera::reference::getAddress(const Frame &frame, Operation *op,
                                    const View &view, ArrayRef<Slot> indices,
                                    int64_t &address) {
  address = view.offset;
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t index = frame.integer(indices[i]);
    if (index < 0 || index >= view.sizes[i])
      return frame.run->error(
          op, "index " + Twine(index) + " is out of bounds: dimension " +
                  Twine(i) + " has size " + Twine(view.sizes[i]));
    address += index * view.strides[i];
  }
  return true;
}
