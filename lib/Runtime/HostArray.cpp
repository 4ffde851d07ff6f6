//===- HostArray.cpp - Arrays of any element type on the host -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/HostArray.h"

#include "Format.h"
#include "Runtime/Npy.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {

struct TypeInfo {
  ElementType type;
  const char *name;
  size_t bytes;
  /// Type in a .npy file.
  const char *descr;
  /// Where `Iota` starts again; 0 for never.
  int64_t iotaPeriod;
};

/// In the order of the enumeration.
constexpr TypeInfo types[] = {
    {ElementType::F16, "f16", 2, "<f2", 2039},
    {ElementType::BF16, "bf16", 2, "|V2", 251},
    {ElementType::F32, "f32", 4, "<f4", (1 << 24) - 3},
    {ElementType::F64, "f64", 8, "<f8", 0},
    {ElementType::I1, "i1", 1, "|b1", 2},
    {ElementType::I4, "i4", 1, "|i1", 7},
    {ElementType::I8, "i8", 1, "|i1", 127},
    {ElementType::U8, "ui8", 1, "|u1", 251},
    {ElementType::I16, "i16", 2, "<i2", 32749},
    {ElementType::I32, "i32", 4, "<i4", INT32_MAX},
    {ElementType::I64, "i64", 8, "<i8", 0},
    {ElementType::F8E4M3FN, "f8E4M3FN", 1, "|V1", 13},
    {ElementType::F8E5M2, "f8E5M2", 1, "|V1", 7},
    {ElementType::F8E4M3FNUZ, "f8E4M3FNUZ", 1, "|V1", 13},
    {ElementType::F8E5M2FNUZ, "f8E5M2FNUZ", 1, "|V1", 7},
    {ElementType::Index, "index", 8, "<i8", 0},
};

const TypeInfo &getInfo(ElementType type) {
  const TypeInfo &info = types[static_cast<size_t>(type)];
  assert(info.type == type && "the table is in another order");
  return info;
}

/// A binary floating-point format.
struct FloatFormat {
  int exponentBits;
  int mantissaBits;
  /// False where only the all-ones pattern is a NaN, and nothing is infinite.
  bool hasInfinity;
  /// Where the pattern of a negative zero is the only NaN, nothing is infinite,
  /// and the bias is one larger.
  bool isFnuz = false;

  constexpr int bias() const {
    return (1 << (exponentBits - 1)) - (isFnuz ? 0 : 1);
  }
  constexpr uint64_t mantissaMask() const {
    return (uint64_t(1) << mantissaBits) - 1;
  }
  /// All bits but the sign.
  constexpr uint64_t magnitudeMask() const {
    return (uint64_t(1) << (exponentBits + mantissaBits)) - 1;
  }
  constexpr uint64_t infinity() const {
    return magnitudeMask() & ~mantissaMask();
  }
  constexpr uint64_t signMask() const { return magnitudeMask() + 1; }
};

constexpr FloatFormat f16Format = {5, 10, true};
constexpr FloatFormat bf16Format = {8, 7, true};
constexpr FloatFormat e4m3Format = {4, 3, false};
constexpr FloatFormat e5m2Format = {5, 2, true};
constexpr FloatFormat e4m3fnuzFormat = {4, 3, false, true};
constexpr FloatFormat e5m2fnuzFormat = {5, 2, false, true};
constexpr FloatFormat doubleFormat = {11, 52, true};

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// A format of at most 16 bits to double.
inline double decode(FloatFormat format, uint64_t bits) {
  uint64_t sign = bits >> (format.exponentBits + format.mantissaBits) & 1;
  uint64_t magnitude = bits & format.magnitudeMask();
  uint64_t mantissa = bits & format.mantissaMask();
  int shift = doubleFormat.mantissaBits - format.mantissaBits;
  uint64_t exponent = magnitude >> format.mantissaBits;
  uint64_t result;
  bool special = format.isFnuz        ? bits == format.signMask()
                 : format.hasInfinity ? magnitude >= format.infinity()
                                      : magnitude == format.magnitudeMask();
  if (special && format.isFnuz) {
    return -std::numeric_limits<double>::quiet_NaN();
  } else if (special) {
    result = doubleFormat.infinity() | mantissa << shift;
  } else if (exponent == 0) {
    double smallest = bitCast<double>(
        uint64_t(1 - format.bias() - format.mantissaBits + doubleFormat.bias())
        << doubleFormat.mantissaBits);
    result = bitCast<uint64_t>(static_cast<double>(mantissa) * smallest);
  } else {
    result = (exponent + doubleFormat.bias() - format.bias())
                 << doubleFormat.mantissaBits |
             mantissa << shift;
  }
  return bitCast<double>(result | sign << 63);
}

/// A double to a format of at most 16 bits, to nearest, ties to even.
inline uint64_t encode(FloatFormat format, double value) {
  uint64_t bits = bitCast<uint64_t>(value);
  uint64_t sign = bits >> 63 << (format.exponentBits + format.mantissaBits);
  uint64_t magnitude = bits & doubleFormat.magnitudeMask();
  int shift = doubleFormat.mantissaBits - format.mantissaBits;
  if (magnitude >= doubleFormat.infinity()) {
    if (format.isFnuz)
      return format.signMask();
    if (!format.hasInfinity)
      return sign | format.magnitudeMask();
    uint64_t payload = (magnitude & doubleFormat.mantissaMask()) >> shift;
    // A NaN whose upper payload bits are zero must not become an infinity.
    if (payload == 0 && magnitude != doubleFormat.infinity())
      payload = uint64_t(1) << (format.mantissaBits - 1);
    return sign | format.infinity() | payload;
  }
  int exponent = static_cast<int>(magnitude >> doubleFormat.mantissaBits) -
                 doubleFormat.bias();
  uint64_t significand = (magnitude & doubleFormat.mantissaMask()) |
                         uint64_t(1) << doubleFormat.mantissaBits;
  int smallestNormal = 1 - format.bias();
  // The exponent field less the significand's leading one, which a subnormal
  // number lacks. A carry of the rounding increments the exponent, which is
  // correct.
  uint64_t base = 0;
  if (exponent >= smallestNormal)
    base = static_cast<uint64_t>(exponent - smallestNormal)
           << format.mantissaBits;
  else
    shift += smallestNormal - exponent;
  // Below half of the smallest number, double's own subnormals among them.
  if (shift > doubleFormat.mantissaBits + 1)
    return format.isFnuz ? 0 : sign;
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (quotient & 1)))
    ++quotient;
  uint64_t result = base + quotient;
  if (format.isFnuz)
    return result == 0                       ? 0
           : result > format.magnitudeMask() ? format.signMask()
                                             : sign | result;
  uint64_t largest =
      (format.hasInfinity ? format.infinity() : format.magnitudeMask()) - 1;
  if (result > largest)
    result = largest + 1;
  return sign | result;
}

/// An integer as a double whose last bit is set when bits were lost. Rounding
/// that to fewer bits gives what rounding the integer itself would give.
double toDoubleOdd(int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value)
                                 : static_cast<uint64_t>(value);
  if (magnitude >> 53 == 0)
    return static_cast<double>(value);
  int excess = 0;
  while (magnitude >> excess >> 53)
    ++excess;
  uint64_t kept = magnitude >> excess;
  if (kept << excess != magnitude)
    kept |= 1;
  double result = std::ldexp(static_cast<double>(kept), excess);
  return value < 0 ? -result : result;
}

template <typename T> T readAs(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Writes the low `bytes` bytes, which come first.
void store(std::byte *to, uint64_t bits, size_t bytes) {
  switch (bytes) {
  case 1:
    std::memcpy(to, &bits, 1);
    return;
  case 2:
    std::memcpy(to, &bits, 2);
    return;
  case 4:
    std::memcpy(to, &bits, 4);
    return;
  default:
    std::memcpy(to, &bits, 8);
  }
}

/// Calls `action(f)` with a function that reads one element as a double.
template <typename Action> auto withReader(ElementType type, Action action) {
  switch (type) {
  case ElementType::F16:
    return action([](const std::byte *from) {
      return decode(f16Format, readAs<uint16_t>(from));
    });
  case ElementType::BF16:
    return action([](const std::byte *from) {
      return static_cast<double>(
          bitCast<float>(uint32_t(readAs<uint16_t>(from)) << 16));
    });
  case ElementType::F32:
    return action([](const std::byte *from) {
      return static_cast<double>(readAs<float>(from));
    });
  case ElementType::F64:
    return action([](const std::byte *from) { return readAs<double>(from); });
  case ElementType::F8E4M3FN:
    return action([](const std::byte *from) {
      return decode(e4m3Format, readAs<uint8_t>(from));
    });
  case ElementType::F8E5M2:
    return action([](const std::byte *from) {
      return decode(e5m2Format, readAs<uint8_t>(from));
    });
  case ElementType::F8E4M3FNUZ:
    return action([](const std::byte *from) {
      return decode(e4m3fnuzFormat, readAs<uint8_t>(from));
    });
  case ElementType::F8E5M2FNUZ:
    return action([](const std::byte *from) {
      return decode(e5m2fnuzFormat, readAs<uint8_t>(from));
    });
  case ElementType::I1:
  case ElementType::U8:
    return action([](const std::byte *from) {
      return static_cast<double>(readAs<uint8_t>(from));
    });
  case ElementType::I4:
    // One in a byte: those of an array are taken out by `readNibble`.
  case ElementType::I8:
    return action([](const std::byte *from) {
      return static_cast<double>(readAs<int8_t>(from));
    });
  case ElementType::I16:
    return action([](const std::byte *from) {
      return static_cast<double>(readAs<int16_t>(from));
    });
  case ElementType::I32:
    return action([](const std::byte *from) {
      return static_cast<double>(readAs<int32_t>(from));
    });
  case ElementType::I64:
  case ElementType::Index:
    break;
  }
  return action([](const std::byte *from) {
    return static_cast<double>(readAs<int64_t>(from));
  });
}

/// Least and greatest value of an integer type.
std::pair<int64_t, int64_t> integerRange(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return {0, 1};
  case ElementType::I4:
    return {-8, 7};
  case ElementType::I8:
    return {INT8_MIN, INT8_MAX};
  case ElementType::U8:
    return {0, UINT8_MAX};
  case ElementType::I16:
    return {INT16_MIN, INT16_MAX};
  case ElementType::I32:
    return {INT32_MIN, INT32_MAX};
  default:
    return {INT64_MIN, INT64_MAX};
  }
}

/// Element `index` of an array of `I4`.
int8_t readNibble(const std::byte *data, int64_t index) {
  int bits = std::to_integer<int>(data[index / 2]) >> (index % 2 * 4) & 15;
  return static_cast<int8_t>(bits < 8 ? bits : bits - 16);
}

void writeNibble(std::byte *data, int64_t index, int64_t value) {
  int shift = static_cast<int>(index % 2 * 4);
  data[index / 2] &= std::byte(0xF0 >> shift);
  data[index / 2] |= std::byte((value & 15) << shift);
}

int64_t countElements(const std::vector<int64_t> &shape) {
  // The other sizes of an array without elements may be any.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

/// Converts a double that is an integer, or infinite, to the nearest int64_t.
int64_t toInt64(double value) {
  if (std::isnan(value))
    return 0;
  constexpr double limit = 9223372036854775808.0;
  if (value >= limit)
    return INT64_MAX;
  if (value < -limit)
    return INT64_MIN;
  return static_cast<int64_t>(value);
}

std::string formatShape(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    text +=
        (dim ? "x" : "") + (shape[dim] < 0 ? "?" : std::to_string(shape[dim]));
  return text;
}

} // namespace

size_t tessera::runtime::elementBytes(ElementType type) {
  return getInfo(type).bytes;
}

size_t tessera::runtime::elementBits(ElementType type) {
  return type == ElementType::I4 ? 4 : 8 * elementBytes(type);
}

const char *tessera::runtime::elementTypeName(ElementType type) {
  return getInfo(type).name;
}

Expected<ElementType>
tessera::runtime::parseElementType(const std::string &name) {
  std::string known;
  for (const TypeInfo &info : types) {
    if (name == info.name)
      return info.type;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return Status(StatusCode::InvalidArgument,
                "unknown element type '" + name + "'; known: " + known);
}

bool tessera::runtime::isFloat(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
    return true;
  default:
    return false;
  }
}

double tessera::runtime::decodeFloat(ElementType type, uint64_t bits) {
  switch (type) {
  case ElementType::F16:
    return decode(f16Format, bits);
  case ElementType::BF16:
    return decode(bf16Format, bits);
  case ElementType::F8E4M3FN:
    return decode(e4m3Format, bits);
  case ElementType::F8E5M2:
    return decode(e5m2Format, bits);
  case ElementType::F8E4M3FNUZ:
    return decode(e4m3fnuzFormat, bits);
  case ElementType::F8E5M2FNUZ:
    return decode(e5m2fnuzFormat, bits);
  case ElementType::F32:
    return bitCast<float>(static_cast<uint32_t>(bits));
  default:
    assert(type == ElementType::F64 && "not a floating-point type");
    return bitCast<double>(bits);
  }
}

uint64_t tessera::runtime::encodeFloat(ElementType type, double value) {
  switch (type) {
  case ElementType::F16:
    return encode(f16Format, value);
  case ElementType::BF16:
    return encode(bf16Format, value);
  case ElementType::F8E4M3FN:
    return encode(e4m3Format, value);
  case ElementType::F8E5M2:
    return encode(e5m2Format, value);
  case ElementType::F8E4M3FNUZ:
    return encode(e4m3fnuzFormat, value);
  case ElementType::F8E5M2FNUZ:
    return encode(e5m2fnuzFormat, value);
  case ElementType::F32:
    return bitCast<uint32_t>(static_cast<float>(value));
  default:
    assert(type == ElementType::F64 && "not a floating-point type");
    return bitCast<uint64_t>(value);
  }
}

//===----------------------------------------------------------------------===//
// HostArray
//===----------------------------------------------------------------------===//

Expected<HostArray> HostArray::create(ElementType type,
                                      std::vector<int64_t> shape) {
  size_t bytes = elementBytes(type);
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return Status(StatusCode::InvalidArgument,
                    "an array of shape " + formatShape(shape) +
                        " has a dynamic dimension");
    empty |= dim == 0;
  }
  if (empty)
    bytes = 0;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) ||
        bytes > SIZE_MAX / 2)
      return Status(StatusCode::InvalidArgument,
                    "an array of shape " + formatShape(shape) +
                        " has more elements than memory can hold");
  if (type == ElementType::I4)
    bytes = (bytes + 1) / 2;
  // A vector can only report the lack of memory by an exception: ask before.
  if (!std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[bytes + 1]))
    return Status(
        StatusCode::OutOfMemory,
        format("cannot allocate an array of shape %s of %s: %zu bytes",
               formatShape(shape).c_str(), elementTypeName(type), bytes));
  HostArray array;
  array.type = type;
  array.shape = std::move(shape);
  array.data.resize(bytes);
  return array;
}

int64_t HostArray::size() const {
  if (type == ElementType::I4)
    return countElements(shape);
  return static_cast<int64_t>(data.size() / elementBytes(type));
}

double HostArray::getDouble(int64_t index) const {
  double value;
  toDoubles(index, 1, &value);
  return value;
}

void HostArray::toDoubles(int64_t first, int64_t count, double *values) const {
  assert(first >= 0 && count >= 0 && first <= size() - count &&
         "beyond the end");
  if (type == ElementType::I4) {
    for (int64_t index = 0; index < count; ++index)
      values[index] = readNibble(data.data(), first + index);
    return;
  }
  size_t bytes = elementBytes(type);
  const std::byte *from = data.data() + static_cast<size_t>(first) * bytes;
  withReader(type, [&](auto read) {
    for (int64_t index = 0; index < count; ++index, from += bytes)
      values[index] = read(from);
  });
}

int64_t HostArray::getInt(int64_t index) const {
  if (type == ElementType::I64 || type == ElementType::Index) {
    assert(index >= 0 && index < size() && "beyond the end");
    return readAs<int64_t>(data.data() + index * 8);
  }
  return toInt64(getDouble(index));
}

void HostArray::setDouble(int64_t index, double value) {
  if (!isFloat(type)) {
    if (type == ElementType::I1)
      return setInt(index, value != 0 && !std::isnan(value));
    auto [least, greatest] = integerRange(type);
    int64_t rounded = toInt64(std::nearbyint(value));
    return setInt(index, rounded < least      ? least
                         : rounded > greatest ? greatest
                                              : rounded);
  }
  assert(index >= 0 && index < size() && "beyond the end");
  size_t bytes = elementBytes(type);
  store(data.data() + static_cast<size_t>(index) * bytes,
        encodeFloat(type, value), bytes);
}

void HostArray::setInt(int64_t index, int64_t value) {
  if (type == ElementType::F64)
    return setDouble(index, static_cast<double>(value));
  if (isFloat(type))
    return setDouble(index, toDoubleOdd(value));
  assert(index >= 0 && index < size() && "beyond the end");
  if (type == ElementType::I4)
    return writeNibble(data.data(), index, value);
  if (type == ElementType::I1)
    value = value != 0;
  size_t bytes = elementBytes(type);
  store(data.data() + static_cast<size_t>(index) * bytes,
        static_cast<uint64_t>(value), bytes);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Reads a non-negative decimal number; `text` must contain nothing else.
static std::optional<uint64_t> parseUnsigned(const std::string &text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  uint64_t value = 0;
  for (char c : text)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, c - '0', &value))
      return std::nullopt;
  return value;
}

/// "128x64", "128x", "128".
static std::optional<std::vector<int64_t>> parseShape(std::string text) {
  if (text.size() > 1 && text.back() == 'x')
    text.pop_back();
  std::vector<int64_t> shape;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    std::optional<uint64_t> dim =
        parseUnsigned(text.substr(begin, end - begin));
    if (!dim || *dim > INT64_MAX)
      return std::nullopt;
    shape.push_back(static_cast<int64_t>(*dim));
    begin = end + 1;
  }
  return shape;
}

/// A number in C's notation, with `inf` and `nan`.
static bool parseNumber(const std::string &text, FillSpec &spec) {
  if (text.empty() || text[0] == ' ')
    return false;
  char *end = nullptr;
  spec.value = std::strtod(text.c_str(), &end);
  if (*end != '\0')
    return false;
  errno = 0;
  long long integer = std::strtoll(text.c_str(), &end, 10);
  if (*end == '\0' && errno == 0)
    spec.integer = integer;
  else if (spec.value == std::nearbyint(spec.value) &&
           std::fabs(spec.value) <= 9007199254740992.0)
    spec.integer = static_cast<int64_t>(spec.value);
  return true;
}

Expected<FillSpec> tessera::runtime::parseFillSpec(const std::string &text) {
  auto fail = [&](const std::string &what) {
    return Status(StatusCode::InvalidArgument,
                  "'" + text + "': " + what +
                      "; expected int[:SEED], random[:SEED], iota, zeros, "
                      "fill:X (each with :RxC... for a dynamic shape), "
                      "@FILE.npy and a number");
  };
  FillSpec spec;
  if (!text.empty() && text[0] == '@') {
    spec.kind = FillSpec::File;
    spec.path = text.substr(1);
    if (spec.path.empty())
      return fail("missing file name");
    return spec;
  }

  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(':', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  size_t next = 1;
  if (words[0] == "int" || words[0] == "random") {
    spec.kind = words[0] == "int" ? FillSpec::Int : FillSpec::Random;
    if (next < words.size() && words[next].find('x') == std::string::npos) {
      spec.seed = parseUnsigned(words[next]);
      if (!spec.seed)
        return fail("'" + words[next] + "' is not a seed");
      ++next;
    }
  } else if (words[0] == "iota") {
    spec.kind = FillSpec::Iota;
  } else if (words[0] == "zeros") {
    spec.kind = FillSpec::Zeros;
  } else if (words[0] == "fill") {
    spec.kind = FillSpec::Constant;
    if (next == words.size() || !parseNumber(words[next], spec))
      return fail("fill requires a number");
    ++next;
  } else if (words.size() == 1 && parseNumber(words[0], spec)) {
    spec.kind = FillSpec::Number;
  } else {
    return fail("unknown contents");
  }
  if (next < words.size()) {
    spec.shape = parseShape(words[next]);
    if (!spec.shape)
      return fail("'" + words[next] + "' is not a shape");
    ++next;
  }
  if (next != words.size())
    return fail("':" + words[next] + "' is unexpected");
  return spec;
}

/// Output `index` of splitmix64 (Steele, Lea and Flood 2014).
static uint64_t splitmix64(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Sets element i to `least` + a number below `count`, from the generator. The
/// few values are converted once.
static void fillIntegers(HostArray &array, uint64_t seed, int64_t least,
                         uint64_t count) {
  auto draw = [&](uint64_t index) {
    return (splitmix64(seed, index) >> 32) * count >> 32;
  };
  if (array.type == ElementType::I4) {
    for (int64_t index = 0, size = array.size(); index < size; ++index)
      array.setInt(index, least + static_cast<int64_t>(draw(index)));
    return;
  }
  HostArray values;
  values.type = array.type;
  size_t bytes = elementBytes(array.type);
  values.data.resize(count * bytes);
  for (uint64_t value = 0; value < count; ++value)
    values.setInt(static_cast<int64_t>(value),
                  least + static_cast<int64_t>(value));
  for (uint64_t index = 0, size = array.size(); index < size; ++index) {
    std::memcpy(array.data.data() + index * bytes,
                values.data.data() + draw(index) * bytes, bytes);
  }
}

static void fillRandomFloats(HostArray &array, uint64_t seed) {
  for (int64_t index = 0, size = array.size(); index < size; ++index) {
    uint64_t bits = splitmix64(seed, static_cast<uint64_t>(index)) >> 11;
    array.setDouble(index, static_cast<double>(bits) * 0x1p-52 - 1);
  }
}

static Status fillConstant(HostArray &array, const FillSpec &spec) {
  auto fail = [&](const char *why) {
    return Status(
        StatusCode::InvalidArgument,
        format("%.17g %s %s", spec.value, why, elementTypeName(array.type)));
  };
  if (isFloat(array.type)) {
    double stored =
        decodeFloat(array.type, encodeFloat(array.type, spec.value));
    if (std::isfinite(spec.value) && !std::isfinite(stored))
      return fail("is too large for");
    if (std::isinf(spec.value) && !std::isinf(stored))
      return fail("cannot be represented in");
  } else {
    if (!spec.integer)
      return fail("is not an integer that fits");
    auto [least, greatest] = integerRange(array.type);
    if (*spec.integer < least || *spec.integer > greatest)
      return fail("does not fit");
  }
  for (int64_t index = 0, size = array.size(); index < size; ++index) {
    if (isFloat(array.type))
      array.setDouble(index, spec.value);
    else
      array.setInt(index, *spec.integer);
  }
  return Status::success();
}

Status tessera::runtime::fillArray(HostArray &array, const FillSpec &spec,
                                   uint64_t defaultSeed) {
  uint64_t seed = spec.seed.value_or(defaultSeed);
  ElementType type = array.type;
  bool isUnsigned = type == ElementType::U8 || type == ElementType::Index;
  switch (spec.kind) {
  case FillSpec::Int:
    if (isFloat(type))
      fillIntegers(array, seed, -3, 7);
    else if (type == ElementType::I1)
      fillIntegers(array, seed, 0, 2);
    else if (isUnsigned)
      fillIntegers(array, seed, 0, 9);
    else if (type == ElementType::I4)
      fillIntegers(array, seed, -8, 16);
    else
      fillIntegers(array, seed, -8, 17);
    return Status::success();
  case FillSpec::Random:
    if (isFloat(type))
      fillRandomFloats(array, seed);
    else if (type == ElementType::I1)
      fillIntegers(array, seed, 0, 2);
    else if (type == ElementType::I4)
      fillIntegers(array, seed, -8, 16);
    else
      fillIntegers(array, seed, isUnsigned ? 0 : -128, 256);
    return Status::success();
  case FillSpec::Iota: {
    int64_t period = getInfo(type).iotaPeriod;
    for (int64_t index = 0, size = array.size(); index < size; ++index)
      array.setInt(index, period ? index % period : index);
    return Status::success();
  }
  case FillSpec::Zeros:
    std::fill(array.data.begin(), array.data.end(), std::byte(0));
    return Status::success();
  case FillSpec::Number:
    if (array.size() != 1)
      return Status(StatusCode::InvalidArgument,
                    "a number was passed for an array of shape " +
                        formatShape(array.shape) +
                        "; use fill:X to fill an array");
    return fillConstant(array, spec);
  case FillSpec::Constant:
    return fillConstant(array, spec);
  case FillSpec::File:
    break;
  }
  return Status(StatusCode::InvalidArgument,
                "an existing array cannot be filled from a file");
}

Expected<HostArray>
tessera::runtime::makeArray(ElementType type, const std::vector<int64_t> &shape,
                            const FillSpec &spec, uint64_t defaultSeed) {
  auto agrees = [&](const std::vector<int64_t> &given) {
    if (given.size() != shape.size())
      return false;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] >= 0 && shape[dim] != given[dim])
        return false;
    return true;
  };
  if (spec.kind == FillSpec::File) {
    Expected<HostArray> array = loadNpy(spec.path, type);
    if (array.ok() && !agrees(array->shape))
      return Status(StatusCode::InvalidArgument,
                    spec.path + ": the array has shape " +
                        formatShape(array->shape) + ", but " +
                        formatShape(shape) + " is required");
    return array;
  }
  if (spec.shape && !agrees(*spec.shape))
    return Status(StatusCode::InvalidArgument,
                  "the shape " + formatShape(*spec.shape) + " is given, but " +
                      formatShape(shape) + " is required");
  for (int64_t dim : shape)
    if (dim < 0 && !spec.shape)
      return Status(StatusCode::InvalidArgument,
                    "the shape " + formatShape(shape) +
                        " has a dynamic dimension; give its size, for example "
                        "int:128x64");
  Expected<HostArray> array =
      HostArray::create(type, spec.shape ? *spec.shape : shape);
  if (!array.ok())
    return array;
  if (Status status = fillArray(*array, spec, defaultSeed); !status.ok())
    return status;
  return array;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Packs a file's bytes, an element in each.
static Expected<HostArray> packNibbles(const std::string &path,
                                       const NpyArray &file) {
  bool isSigned = file.descr == "|i1";
  if (!isSigned && file.descr != "|u1")
    return Status(StatusCode::InvalidArgument,
                  path + ": the array has elements of type '" + file.descr +
                      "', but i4 requires '|i1' (-8 to 7) or '|u1' (0 to 15), "
                      "one element per byte");
  Expected<HostArray> array = HostArray::create(ElementType::I4, file.shape);
  if (!array.ok())
    return array;
  int least = isSigned ? -8 : 0;
  for (size_t index = 0; index < file.data.size(); ++index) {
    int bits = std::to_integer<int>(file.data[index]);
    int value = isSigned && bits > 127 ? bits - 256 : bits;
    if (value < least || value > least + 15)
      return Status(
          StatusCode::InvalidArgument,
          format("%s: element %zu is %d, but i4 from '%s' must be %d to %d",
                 path.c_str(), index, value, file.descr.c_str(), least,
                 least + 15));
    array->setInt(static_cast<int64_t>(index), value);
  }
  return array;
}

Expected<HostArray> tessera::runtime::loadNpy(const std::string &path,
                                              ElementType type) {
  Expected<NpyArray> file = readNpy(path);
  if (!file.ok())
    return file.status();
  if (type == ElementType::I4)
    return packNibbles(path, *file);
  const TypeInfo &info = getInfo(type);
  if (file->descr == info.descr) {
    HostArray array;
    array.type = type;
    array.shape = std::move(file->shape);
    array.data = std::move(file->data);
    if (type == ElementType::I1)
      for (std::byte &value : array.data)
        value = std::byte(value != std::byte(0));
    return array;
  }
  bool lacking = isFloat(type) && info.descr[1] == 'V';
  if (!lacking || file->descr[1] != 'f')
    return Status(StatusCode::InvalidArgument,
                  path + ": the array has elements of type '" + file->descr +
                      "', but " + info.name + " needs '" + info.descr + "'" +
                      (lacking ? " or a floating-point type" : ""));
  HostArray wide;
  wide.type = file->descr == "<f2"   ? ElementType::F16
              : file->descr == "<f4" ? ElementType::F32
                                     : ElementType::F64;
  wide.data = std::move(file->data);
  Expected<HostArray> array = HostArray::create(type, std::move(file->shape));
  if (array.ok())
    for (int64_t index = 0, size = wide.size(); index < size; ++index)
      array->setDouble(index, wide.getDouble(index));
  return array;
}

Status tessera::runtime::saveNpy(const std::string &path,
                                 const HostArray &array) {
  if (array.type == ElementType::I4) {
    std::vector<int8_t> bytes(static_cast<size_t>(array.size()));
    for (size_t index = 0; index < bytes.size(); ++index)
      bytes[index] = readNibble(array.data.data(), static_cast<int64_t>(index));
    return writeNpy(path, "|i1", array.shape, bytes.data());
  }
  return writeNpy(path, getInfo(array.type).descr, array.shape,
                  array.data.data());
}
