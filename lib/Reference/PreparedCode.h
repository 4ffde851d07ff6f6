//===- PreparedCode.h - A program prepared for evaluation -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before a program runs, each function and each body that runs many times (of a
// kernel, of a linalg op) becomes a list of instructions whose operands are
// numbered slots of a frame: numbers in one array, views (memrefs, tensors,
// fragments, vectors) in another. An instruction runs in one frame, or in
// several "in step": one for each thread of a workgroup.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_PREPAREDCODE_H
#define LIB_REFERENCE_PREPAREDCODE_H

#include "Numeric.h"
#include "Reference/Interpreter.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace mlir::tessera::reference {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A memref, tensor, vector or fragment: a window on a storage. Tensors,
/// vectors and fragments are dense, and not changed once others can see them.
struct View : llvm::ThreadSafeRefCountedBase<View> {
  llvm::IntrusiveRefCntPtr<Storage> storage;
  const Format *format = nullptr;
  int64_t offset = 0;
  SmallVector<int64_t, 4> sizes;
  SmallVector<int64_t, 4> strides;

  /// Dense, not initialized.
  static llvm::IntrusiveRefCntPtr<View> make(const Format &format,
                                             ArrayRef<int64_t> sizes);
  /// Dense, with unwritten elements: one number, or another one.
  static llvm::IntrusiveRefCntPtr<View> makePoison(const Format &format,
                                                   ArrayRef<int64_t> sizes,
                                                   bool isOther = false);

  /// Another window on the same storage, as yet without dimensions.
  llvm::IntrusiveRefCntPtr<View> alias() const;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t getNumElements() const;
  bool isDense() const;

  Number load(int64_t address) const {
    Number number;
    const double *errors = storage->errors();
    number.error = errors ? errors[address] : 0;
    if (format->isFloat)
      number.f = storage->floats()[address];
    else
      number.i = storage->integers()[address];
    return number;
  }
  void store(int64_t address, const Number &number) const {
    if (format->isFloat)
      storage->floats()[address] = number.f;
    else
      storage->integers()[address] = number.i;
    if (double *errors =
            number.error == 0 ? storage->errors() : storage->ensureErrors())
      errors[address] = number.error;
    if (uint8_t *written = storage->written())
      written[address] = 1;
  }
  /// The address of element `linear` in row-major order.
  int64_t addressOf(int64_t linear) const;
  /// Stores one number everywhere; the view is dense.
  void fill(const Number &number) const;
};
using ViewRef = llvm::IntrusiveRefCntPtr<View>;

/// Row-major strides.
SmallVector<int64_t, 4> denseStrides(ArrayRef<int64_t> sizes);

/// Runs `body(indices)` for each point of a box, the last dimension fastest.
/// Stops when it returns false, and returns false then.
bool forEachIndex(ArrayRef<int64_t> sizes,
                  function_ref<bool(ArrayRef<int64_t>)> body);

/// Copies elements between views of one shape.
void copyElements(const View &source, const View &target);
/// A dense copy.
ViewRef cloneView(const View &source);

//===----------------------------------------------------------------------===//
// One evaluation
//===----------------------------------------------------------------------===//

/// The state of one evaluation, shared by its host threads.
class Run {
public:
  explicit Run(const Options &options);

  const Options &options;

  /// Records the first error, to be emitted at `op`, and returns false.
  bool error(Operation *op, const Twine &message);
  /// Accounts for `amount` of work; false when that is too much. `op` is what
  /// it is for.
  bool spend(int64_t amount, Operation *op);
  bool failed() const { return stopped.load(std::memory_order_relaxed); }

  Operation *failedOp = nullptr;
  std::string message;
  bool tooLarge = false;
  std::atomic<int64_t> work{0};
  std::atomic<int64_t> workgroups{0}, allWorkgroups{0};
  /// See `Outcome`.
  std::atomic<int> coarseBits{0};
  /// Whether terms were left out of a sum (`CoarseSums::WithoutStep`).
  std::atomic<bool> leftOutStep{false};
  /// Notes a sum that is rounded to so few bits.
  void noteCoarseSum(int bits);
  /// Notes that `op` makes values which nothing specifies. Returns whether they
  /// are the other ones of `Options::unspecified`.
  bool noteUnspecified(Operation *op);
  /// The ops that did so, in order.
  SmallVector<Operation *> listUnspecified() const {
    return llvm::to_vector(unspecified);
  }
  /// Whether coarse sums are rounded as a device rounds them.
  bool emulates() const { return options.coarseSums != CoarseSums::Bounded; }

  unsigned threads;
  /// Those of `Options::sums` that name no operation of the program.
  std::vector<CompiledSum> unplacedSums;
  /// Threads in a subgroup of kernels whose ops do not determine it.
  int64_t subgroupSize = 1;
  /// Memory of get_global, by symbol.
  ViewRef getGlobal(Operation *global, function_ref<ViewRef()> make);

  /// Runs the tasks 0 to count, on several host threads unless this is one of
  /// them already. A task returns false to stop.
  bool parallel(int64_t count, function_ref<bool(int64_t)> task);

private:
  bool giveUp(Operation *op, const Twine &message);

  std::mutex mutex;
  std::atomic<bool> stopped{false};
  std::chrono::steady_clock::time_point start;
  /// When to read the clock again.
  std::atomic<int64_t> nextCheck{0};
  DenseMap<Operation *, ViewRef> globals;
  llvm::SetVector<Operation *> unspecified;
};

/// The state that the threads of a workgroup share.
struct Workgroup {
  std::array<int64_t, 3> gridDim, blockDim, blockId;
  /// The workgroups of its cluster.
  std::array<int64_t, 3> clusterDim = {1, 1, 1};
  int64_t numThreads = 1;
  /// Threads in a subgroup of this kernel.
  int64_t subgroupSize = 1;
  /// Its globals in workgroup memory, from their first use. One thread of the
  /// host runs all of a workgroup's threads.
  mutable llvm::SmallDenseMap<Operation *, ViewRef, 1> globals;
  /// The bytes of its dynamic memory.
  int64_t dynamicBytes = 0;
  /// A part of the dynamic memory that has elements of one type.
  struct DynamicPart {
    const Format *format;
    int64_t begin, end;
  };
  mutable SmallVector<DynamicPart, 2> dynamicParts;
  /// The dynamic memory as elements of each type.
  mutable llvm::SmallDenseMap<const Format *, ViewRef, 2> dynamicMemory;
};

struct Slot {
  unsigned index = 0;
  bool isView = false;
};

/// One activation of a function or body.
struct Frame {
  Run *run = nullptr;
  Number *numbers = nullptr;
  ViewRef *views = nullptr;
  const Workgroup *group = nullptr;
  std::array<int64_t, 3> threadId = {0, 0, 0};
  int64_t linearThread = 0;
  /// The loop indices of the surrounding linalg op.
  const int64_t *loopIndices = nullptr;
  unsigned depth = 0;
  /// How many frames a thread has here: one for each virtual thread.
  int64_t replicas = 1;

  Number &number(Slot slot) const { return numbers[slot.index]; }
  int64_t integer(Slot slot) const { return numbers[slot.index].i; }
  ViewRef &view(Slot slot) const { return views[slot.index]; }
  void setInt(Slot slot, int64_t value) const {
    numbers[slot.index] = Number::ofInt(value);
  }
  /// Threads in a subgroup of the kernel, and outside of kernels of the device.
  int64_t subgroupSize() const {
    return group ? group->subgroupSize : run->subgroupSize;
  }
  int64_t subgroupOf() const { return linearThread / subgroupSize(); }
};

/// Copies the value of one slot to another.
inline void assign(const Frame &to, Slot target, const Frame &from,
                   Slot source) {
  if (source.isView)
    to.view(target) = from.view(source);
  else
    to.number(target) = from.number(source);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

class Instr {
public:
  virtual ~Instr();
  /// False: an error was recorded.
  virtual bool run(Frame &frame) const = 0;
  /// In step, in all `frames`.
  virtual bool runAll(ArrayRef<Frame *> frames) const;
};
using InstrPtr = std::unique_ptr<Instr>;

/// An instruction that each thread runs on its own: `bool(Frame &)`.
template <typename F> InstrPtr makeInstr(F function) {
  struct Plain final : Instr {
    explicit Plain(F function) : function(std::move(function)) {}
    bool run(Frame &frame) const override { return function(frame); }
    F function;
  };
  return std::make_unique<Plain>(std::move(function));
}

/// An instruction of all threads of a workgroup at once:
/// `bool(ArrayRef<Frame *>)`.
template <typename F> InstrPtr makeCollective(F function) {
  struct Collective final : Instr {
    explicit Collective(F function) : function(std::move(function)) {}
    bool run(Frame &frame) const override {
      Frame *one = &frame;
      return function(ArrayRef<Frame *>(one));
    }
    bool runAll(ArrayRef<Frame *> frames) const override {
      return function(frames);
    }
    F function;
  };
  return std::make_unique<Collective>(std::move(function));
}

/// Whether `op` is a vendor's op whose threads are the lanes of a subgroup.
bool isVendorLaneOp(Operation *op);

/// The threads in a subgroup of a kernel with such ops; 0 if `kernel` has none.
int64_t getVendorSubgroupSize(Operation *kernel);

/// Whether `op` allocates memory that a workgroup shares.
bool isWorkgroupAllocation(Operation *op);

/// The instructions of a block, in order, and the values that its terminator
/// forwards.
struct Code {
  std::vector<InstrPtr> instrs;
  SmallVector<Slot> arguments;
  struct Use {
    Slot slot;
    /// The value is not needed any more.
    bool isLast = false;
  };
  SmallVector<Use> yields;

  bool run(Frame &frame) const {
    for (const InstrPtr &instr : instrs)
      if (!instr->run(frame))
        return false;
    return true;
  }
  bool runAll(ArrayRef<Frame *> frames) const {
    for (const InstrPtr &instr : instrs)
      if (!instr->runAll(frames))
        return false;
    return true;
  }
  /// The cost of running it once, in the unit of `Options::maxWork`, not
  /// counting loops inside.
  int64_t cost() const { return 8 * (static_cast<int64_t>(instrs.size()) + 1); }
};

/// Code with frames of its own.
struct Function {
  unsigned numNumbers = 0;
  unsigned numViews = 0;
  Code code;
  /// Values from outside: the slot there, and here.
  SmallVector<std::pair<Slot, Slot>> captures;
};

/// The memory of a frame.
class FrameOwner {
public:
  /// For an activation of `function` by `caller`, with the captured values.
  FrameOwner(const Function &function, const Frame &caller);
  /// A copy of the frame.
  FrameOwner(const Frame &frame, unsigned numNumbers, unsigned numViews);
  FrameOwner(FrameOwner &&) = default;

  Frame frame;

private:
  std::unique_ptr<Number[]> numbers;
  std::unique_ptr<ViewRef[]> views;
};

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

class Scope;

/// Makes the instruction for an op, or null for a form of it that the reference
/// does not know.
using Handler = std::function<InstrPtr(Operation *, Scope &)>;

class Registry {
public:
  /// All handlers there are.
  static const Registry &get();

  template <typename OpT, typename F> void add(F handler) {
    handlers[OpT::getOperationName()] = [handler](Operation *op, Scope &scope) {
      return handler(cast<OpT>(op), scope);
    };
  }
  void addNamed(StringRef name, Handler handler) {
    handlers[name] = std::move(handler);
  }
  const Handler *lookup(Operation *op) const;

private:
  llvm::StringMap<Handler> handlers;
};

void addArithHandlers(Registry &registry);
void addMathHandlers(Registry &registry);
void addControlHandlers(Registry &registry);
void addAffineHandlers(Registry &registry);
void addMemRefHandlers(Registry &registry);
void addTensorHandlers(Registry &registry);
void addVectorHandlers(Registry &registry);
void addVectorFormHandlers(Registry &registry);
void addGpuHandlers(Registry &registry);
void addSubgroupHandlers(Registry &registry);
void addLaneMatrixHandlers(Registry &registry);
void addXeGpuHandlers(Registry &registry);
void addFragmentHandlers(Registry &registry);
void addContractHandlers(Registry &registry);
void addLinalgHandlers(Registry &registry);
void addSoftmaxHandlers(Registry &registry);
void addAttentionHandlers(Registry &registry);
void addPackHandlers(Registry &registry);
void addPoisonHandlers(Registry &registry);
/// For every structured op.
InstrPtr compileLinalg(Operation *op, Scope &scope);

/// The code that has been prepared so far.
class Program {
public:
  /// The function with the body of this func.func or gpu.func, which is
  /// prepared once. Null when it has no body, or several blocks.
  const Function *getFunction(Operation *op);
  /// Whether the threads of a workgroup must run `op` in step.
  bool isCollective(Operation *op);
  SymbolTableCollection &getSymbols() { return symbols; }

private:
  DenseMap<Operation *, std::unique_ptr<Function>> functions;
  DenseMap<Operation *, bool> collective;
  SymbolTableCollection symbols;
};

/// Gives slots to the values of one function.
class Scope {
public:
  Scope(Program &program, Function &function, Scope *parent)
      : program(program), function(function), parent(parent) {}

  Program &program;

  /// The slot of a value, which is captured if it is another scope's.
  Slot slot(Value value);
  /// A slot for a value that this scope defines.
  Slot define(Value value);
  SmallVector<Slot> slots(ValueRange values);
  SmallVector<Slot> define(ValueRange values);
  /// As an operand, with the knowledge whether its value is used up by it.
  Code::Use use(OpOperand &operand);

  /// The code of a block in this scope's frame.
  Code compile(Block &block);
  /// The code of a body with frames of its own, which captures from this scope.
  std::unique_ptr<Function> compileFunction(Block &block);
  unsigned getNumNumbers() const { return function.numNumbers; }
  unsigned getNumViews() const { return function.numViews; }
  const Function &getFunction() const { return function; }
  InstrPtr compileOp(Operation *op);

private:
  Function &function;
  Scope *parent;
  DenseMap<Value, Slot> known;
};

/// The view of an operand to be changed in place: its own if no other operation
/// can see it, else a copy.
ViewRef takeForUpdate(const Frame &frame, Code::Use use);

/// Whether values of this type are numbers (and not views).
inline bool isNumber(Type type) { return type.isIntOrIndexOrFloat(); }
/// The format of a type or of its elements; null where the reference has none.
const Format *getFormat(Type type);

/// The number in unwritten memory of that format, or another one.
Number getUnspecified(const Format &format, bool isOther);

/// The value of an attribute as a number of that format.
Number getConstant(Attribute attribute, const Format &format);

/// A list of static and dynamic sizes, offsets or strides.
struct MixedList {
  SmallVector<int64_t> statics;
  SmallVector<Slot> dynamics;

  MixedList() = default;
  MixedList(Scope &scope, ArrayRef<int64_t> statics, ValueRange dynamics)
      : statics(statics), dynamics(scope.slots(dynamics)) {}
  SmallVector<int64_t, 4> get(const Frame &frame) const;
};

/// The sizes of a memref or tensor whose dynamic ones are operands.
MixedList getSizes(Scope &scope, ShapedType type, ValueRange dynamics);

/// Checks sizes that the program computed.
bool checkSizes(Run &run, Operation *op, ArrayRef<int64_t> sizes);

/// The address of an element; false with an error when it is out of bounds.
bool getAddress(const Frame &frame, Operation *op, const View &view,
                ArrayRef<Slot> indices, int64_t &address);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_PREPAREDCODE_H
