//===- AmdLayoutTest.cpp - AMD's tables against AMD's calculator ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AmdLayouts.txt contains, element by element, the output of the AMD Matrix
// Instruction Calculator for CDNA1 to CDNA3, RDNA3 and RDNA4. It does not
// support CDNA4: the formulas below are those of the reference guide "AMD
// Instinct CDNA4 Instruction Set Architecture", chapter "Matrix Arithmetic
// Instructions".
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Chip.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir::tessera;

namespace {

/// The (lane, element) that holds an element of a matrix.
using Holder = std::pair<int64_t, int64_t>;
/// The holders of each element, by rows.
using Matrix = std::vector<std::vector<std::vector<Holder>>>;

struct Layout {
  Matrix a, b, acc;
};

//===----------------------------------------------------------------------===//
// The calculator's
//===----------------------------------------------------------------------===//

/// "0.1|16.1": element 1 of lanes 0 and 16. Empty if it is something else.
std::vector<Holder> parseCell(llvm::StringRef text) {
  std::vector<Holder> holders;
  for (llvm::StringRef part : llvm::split(text, '|')) {
    auto [lane, element] = part.split('.');
    Holder holder;
    if (lane.getAsInteger(10, holder.first) ||
        element.getAsInteger(10, holder.second))
      return {};
    holders.push_back(holder);
  }
  return holders;
}

/// The contents of the file, by the table's names.
std::map<std::string, Layout> readLayouts() {
  std::map<std::string, Layout> layouts;
  auto file = llvm::MemoryBuffer::getFile(TESSERA_AMD_LAYOUTS);
  if (!file) {
    ADD_FAILURE() << TESSERA_AMD_LAYOUTS << ": " << file.getError().message();
    return layouts;
  }
  std::vector<std::string> names;
  Layout layout;
  auto finish = [&] {
    for (const std::string &name : names)
      EXPECT_TRUE(layouts.emplace(name, layout).second) << name;
    names.clear();
    layout = {};
  };
  Matrix *matrix = nullptr;
  for (llvm::line_iterator line(**file, /*SkipBlanks=*/true, '#');
       !line.is_at_eof(); ++line) {
    llvm::SmallVector<llvm::StringRef> words;
    line->split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    if (words[0].consume_back(":")) {
      if (matrix)
        finish();
      matrix = nullptr;
      names.push_back(words[0].str());
    } else if (words[0] == "a" || words[0] == "b" || words[0] == "d") {
      matrix = words[0] == "a"   ? &layout.a
               : words[0] == "b" ? &layout.b
                                 : &layout.acc;
    } else if (matrix) {
      matrix->emplace_back();
      for (llvm::StringRef word : words) {
        matrix->back().push_back(parseCell(word));
        EXPECT_FALSE(matrix->back().back().empty())
            << "line " << line.line_number();
      }
    } else {
      ADD_FAILURE() << "line " << line.line_number();
    }
  }
  finish();
  return layouts;
}

//===----------------------------------------------------------------------===//
// CDNA4's
//===----------------------------------------------------------------------===//

/// Element e of lane l of a 32-row and a 16-row operand a, as {row, k}, and of
/// the accumulators as {row, column}. b is as a, its columns as rows.
using Formula = Holder (*)(int64_t l, int64_t e);

Holder a32x16(int64_t l, int64_t e) { return {l % 32, 8 * (l / 32) + e}; }
Holder a16x32(int64_t l, int64_t e) { return {l % 16, 8 * (l / 16) + e}; }
Holder a32x32(int64_t l, int64_t e) { return {l % 32, 16 * (l / 32) + e}; }
Holder a16x64(int64_t l, int64_t e) { return {l % 16, 16 * (l / 16) + e}; }
// Four registers of all lanes, then the next four.
Holder a32x64(int64_t l, int64_t e) {
  return {l % 32, e < 16 ? 16 * (l / 32) + e : 32 + 16 * (l / 32) + (e - 16)};
}
Holder a16x128(int64_t l, int64_t e) {
  return {l % 16, e < 16 ? 16 * (l / 16) + e : 64 + 16 * (l / 16) + (e - 16)};
}
Holder d32x32(int64_t l, int64_t e) {
  return {8 * (e / 4) + 4 * (l / 32) + e % 4, l % 32};
}
Holder d16x16(int64_t l, int64_t e) { return {4 * (l / 16) + e, l % 16}; }

struct Cdna4 {
  std::vector<const char *> shapes;
  std::vector<const char *> types;
  int64_t elements;
  Formula a;
  int64_t accElements;
  Formula acc;
};

const std::vector<const char *> f8Types = {
    "f32.f8E4M3FN", "f32.f8E5M2", "f32.f8E4M3FN.f8E5M2", "f32.f8E5M2.f8E4M3FN"};
const Cdna4 cdna4[] = {
    {{"m32n32k16"}, {"f32.f16", "f32.bf16"}, 8, a32x16, 16, d32x32},
    {{"m16n16k32"}, {"f32.f16", "f32.bf16"}, 8, a16x32, 4, d16x16},
    {{"m32n32k16"}, f8Types, 8, a32x16, 16, d32x32},
    {{"m16n16k32"}, f8Types, 8, a16x32, 4, d16x16},
    {{"m32n32k32"}, {"i32.i8"}, 16, a32x32, 16, d32x32},
    {{"m16n16k64"}, {"i32.i8"}, 16, a16x64, 4, d16x16},
    {{"m32n32k64"}, f8Types, 32, a32x64, 16, d32x32},
    {{"m16n16k128"}, f8Types, 32, a16x128, 4, d16x16},
};

/// A matrix that is laid out so over 64 lanes.
Matrix fillMatrix(Formula formula, int64_t elements, bool transposed = false) {
  Matrix matrix;
  for (int64_t lane = 0; lane < 64; ++lane)
    for (int64_t element = 0; element < elements; ++element) {
      Holder position = formula(lane, element);
      if (transposed)
        std::swap(position.first, position.second);
      if (matrix.size() <= static_cast<size_t>(position.first))
        matrix.resize(position.first + 1);
      auto &row = matrix[position.first];
      if (row.size() <= static_cast<size_t>(position.second))
        row.resize(position.second + 1);
      row[position.second].push_back({lane, element});
    }
  return matrix;
}

std::map<std::string, Layout> getAllLayouts() {
  std::map<std::string, Layout> layouts = readLayouts();
  for (const Cdna4 &entry : cdna4)
    for (const char *shape : entry.shapes)
      for (const char *types : entry.types) {
        std::string name = std::string("mfma.") + shape + "." + types;
        Layout layout{fillMatrix(entry.a, entry.elements),
                      fillMatrix(entry.a, entry.elements, /*transposed=*/true),
                      fillMatrix(entry.acc, entry.accElements)};
        EXPECT_TRUE(layouts.emplace(name, layout).second) << name;
      }
  return layouts;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Rows with another order of the elements of K, for both a and b: the matmul
/// is the same. RDNA4's guide has runs of four elements of 16 bits.
bool hasOwnOrderOfK(const MatrixInstruction &row) {
  return llvm::StringRef(row.name).starts_with("wmma12.") &&
         (row.aType == "f16" || row.aType == "bf16");
}

/// Which element of K the map of a has where the matrix has element k.
std::vector<int64_t> getOrderOfK(const LaneMap &aMap, const Matrix &a) {
  std::vector<int64_t> order;
  for (const std::vector<Holder> &holders : a[0])
    order.push_back(aMap.at(holders[0].first, holders[0].second).second);
  return order;
}

/// That `map` has each element where `matrix` has it, and nowhere else.
/// `rowOrder` and `colOrder` rename the matrix's rows and columns.
void compare(const LaneMap &map, const Matrix &matrix, int64_t lanes,
             llvm::ArrayRef<int64_t> rowOrder = {},
             llvm::ArrayRef<int64_t> colOrder = {}) {
  ASSERT_EQ(map.getNumLanes(), lanes);
  ASSERT_EQ(map.getRows(), static_cast<int64_t>(matrix.size()));
  int64_t holders = 0;
  for (size_t row = 0; row < matrix.size(); ++row) {
    ASSERT_EQ(map.getCols(), static_cast<int64_t>(matrix[row].size()));
    for (size_t col = 0; col < matrix[row].size(); ++col)
      for (auto [lane, element] : matrix[row][col]) {
        ++holders;
        ASSERT_LT(lane, lanes);
        ASSERT_LT(element, map.getNumRegisters());
        Holder expected(rowOrder.empty() ? row : rowOrder[row],
                        colOrder.empty() ? col : colOrder[col]);
        EXPECT_EQ(map.at(lane, element), expected)
            << "lane " << lane << ", element " << element;
      }
  }
  EXPECT_EQ(holders, lanes * map.getNumRegisters());
}

/// Calls `check` for each row of AMD's matrix units, once.
template <typename Check> void forEachMatrixRow(Check check) {
  std::map<std::string, const MatrixInstruction *> rows;
  for (const Chip &chip : getAllChips())
    if (chip.target == "hip")
      for (const MatrixInstruction &row : chip.instructions)
        if (row.matrixUnit && rows.emplace(row.name, &row).second) {
          SCOPED_TRACE(chip.name + " " + row.name);
          check(chip, row);
        }
}

TEST(AmdLayoutTest, TablesAgreeWithTheCalculator) {
  std::map<std::string, Layout> layouts = getAllLayouts();
  int compared = 0, reordered = 0;
  forEachMatrixRow([&](const Chip &chip, const MatrixInstruction &row) {
    auto found = layouts.find(row.name);
    ASSERT_TRUE(found != layouts.end()) << "nothing to compare it with";
    const Layout &layout = found->second;
    std::vector<int64_t> order = getOrderOfK(row.aMap, layout.a);
    bool inOrder = llvm::is_sorted(order);
    EXPECT_EQ(inOrder, !hasOwnOrderOfK(row));
    std::vector<int64_t> all = order;
    llvm::sort(all);
    for (int64_t k = 0; k < row.k; ++k)
      ASSERT_EQ(all[k], k);
    {
      SCOPED_TRACE("a");
      compare(row.aMap, layout.a, chip.subgroupSize, {}, order);
    }
    {
      SCOPED_TRACE("b");
      compare(row.bMap, layout.b, chip.subgroupSize, order, {});
    }
    SCOPED_TRACE("acc");
    compare(row.accMap, layout.acc, chip.subgroupSize);
    ++compared;
    reordered += !inOrder;
  });
  // All layouts are compared: a row missing in the table would be detected.
  EXPECT_EQ(compared, static_cast<int>(layouts.size()));
  EXPECT_EQ(reordered, 3);
}

// The chips' instructions, as listed in their reference guides, limited to one
// block, dense, without sums in bf16.
TEST(AmdLayoutTest, ChipsHaveWhatTheirGuidesList) {
  const std::pair<const char *, int> counts[] = {
      {"gfx906", 0},
      {"gfx908", 2 + 2 + 2 + 2},             // f16, bf16, f32, i8
      {"gfx90a", 2 + 4 + 2 + 1 + 2},         // and bf16 with more of K, f64
      {"gfx942", 2 + 2 + 2 + 2 + 1 + 2 + 8}, // xf32, f64, fp8
      {"gfx950", 4 + 4 + 2 + 1 + 4 + 8 + 8}, // no xf32; twice K; f8f6f4
      {"gfx1100", 5},                        // f16 twice, bf16, i8, i4
      {"gfx1151", 5},
      {"gfx1200", 10}, // and fp8, twice K of i4
      {"gfx1201", 10}};
  for (auto [name, count] : counts) {
    const Chip *chip = findChip("hip", name);
    ASSERT_TRUE(chip) << name;
    EXPECT_EQ(llvm::count_if(
                  chip->instructions,
                  [](const MatrixInstruction &row) { return row.matrixUnit; }),
              count)
        << name;
  }
}

} // namespace
