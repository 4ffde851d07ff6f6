//===- Npy.cpp - Reading and writing .npy files ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   "\x93NUMPY" major minor  header length (2 or 4 bytes)  header  data
//
// The header is a Python dictionary, padded with blanks and ended by a newline:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//
//===----------------------------------------------------------------------===//

#include "Runtime/Npy.h"
#include "Runtime/OutputFile.h"

#include "Format.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera::runtime;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the data is copied as it is");

static const char npyMagic[] = "\x93NUMPY";
static constexpr size_t magicBytes = 6;

size_t tessera::runtime::npyElementBytes(const std::string &descr) {
  static const struct {
    const char *descr;
    size_t bytes;
  } types[] = {{"<f2", 2}, {"<f4", 4}, {"<f8", 8}, {"|i1", 1},
               {"|u1", 1}, {"<i2", 2}, {"<i4", 4}, {"<i8", 8},
               {"|b1", 1}, {"|V2", 2}, {"|V1", 1}};
  for (const auto &type : types)
    if (descr == type.descr)
      return type.bytes;
  return 0;
}

/// One form for each type: "<i1" is "|i1", "<f1" and "<V1" are "|V1".
static std::string canonicalDescr(std::string descr) {
  if (descr == "<f1" || descr == "|f1")
    return "|V1";
  bool oneByte = descr.size() == 3 && descr[2] == '1';
  bool raw = descr.size() == 3 && descr[1] == 'V';
  if ((oneByte || raw) && (descr[0] == '<' || descr[0] == '='))
    descr[0] = '|';
  return descr;
}

namespace {

/// Reads the header's dictionary.
class HeaderParser {
public:
  HeaderParser(const std::string &text) : text(text) {}

  /// True when the whole header was understood; otherwise `error` has the
  /// reason.
  bool parse();

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  std::string error;

private:
  bool fail(const std::string &what) {
    error = what;
    return false;
  }
  void skipBlanks() {
    while (position < text.size() && std::strchr(" \t\n", text[position]))
      ++position;
  }
  bool accept(char c) {
    skipBlanks();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }
  bool acceptWord(const char *word) {
    skipBlanks();
    size_t length = std::strlen(word);
    if (text.compare(position, length, word) != 0)
      return false;
    position += length;
    return true;
  }
  bool parseString(std::string &value);
  bool parseShape();

  const std::string &text;
  size_t position = 0;
};

} // namespace

bool HeaderParser::parseString(std::string &value) {
  skipBlanks();
  if (position >= text.size() ||
      (text[position] != '\'' && text[position] != '"'))
    return false;
  size_t end = text.find(text[position], position + 1);
  if (end == std::string::npos)
    return false;
  value = text.substr(position + 1, end - position - 1);
  position = end + 1;
  return true;
}

bool HeaderParser::parseShape() {
  if (!accept('('))
    return fail("the header's shape is not a tuple");
  while (!accept(')')) {
    skipBlanks();
    size_t begin = position;
    int64_t value = 0;
    for (; position < text.size() && text[position] >= '0' &&
           text[position] <= '9';
         ++position)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text[position] - '0', &value))
        return fail("a dimension of the shape exceeds 64 bits");
    if (position == begin)
      return fail("the header's shape is not a tuple of numbers");
    // Python 2 marked long integers.
    if (position < text.size() && text[position] == 'L')
      ++position;
    shape.push_back(value);
    if (accept(','))
      continue;
    if (accept(')'))
      break;
    return fail("the header's shape is not a tuple of numbers");
  }
  return true;
}

bool HeaderParser::parse() {
  bool hasDescr = false, hasOrder = false, hasShape = false;
  if (!accept('{'))
    return fail("the header is not a dictionary");
  while (!accept('}')) {
    std::string key;
    if (!parseString(key) || !accept(':'))
      return fail("the header's dictionary is malformed");
    if (key == "descr" && !hasDescr) {
      hasDescr = true;
      skipBlanks();
      if (position < text.size() && text[position] == '[')
        return fail("structured element types are not supported");
      if (!parseString(descr))
        return fail("the header's descr is not a string");
    } else if (key == "fortran_order" && !hasOrder) {
      hasOrder = true;
      fortranOrder = acceptWord("True");
      if (!fortranOrder && !acceptWord("False"))
        return fail("the header's fortran_order is neither True nor False");
    } else if (key == "shape" && !hasShape) {
      hasShape = true;
      if (!parseShape())
        return false;
    } else {
      return fail("the header has an unexpected key '" + key + "'");
    }
    if (accept(','))
      continue;
    if (accept('}'))
      break;
    return fail("the header's dictionary is malformed");
  }
  skipBlanks();
  if (position != text.size())
    return fail("the header has trailing data after its dictionary");
  if (!hasDescr || !hasOrder || !hasShape)
    return fail("the header lacks descr, fortran_order or shape");
  return true;
}

/// Bytes of an array; false when they overflow.
static bool countBytes(const std::vector<int64_t> &shape, size_t elementBytes,
                       size_t &bytes) {
  bytes = elementBytes;
  // A zero makes the array empty, however large the other dimensions are.
  for (int64_t dim : shape)
    if (dim == 0)
      bytes = 0;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) ||
        bytes > SIZE_MAX / 2)
      return false;
  return true;
}

static std::string formatTuple(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t dim = 0; dim < shape.size(); ++dim)
    text += (dim ? ", " : "") + std::to_string(shape[dim]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

namespace {
struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
} // namespace
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

Expected<NpyArray> tessera::runtime::readNpy(const std::string &path) {
  auto fail = [&](const std::string &what) {
    return Status(StatusCode::InvalidArgument, path + ": " + what);
  };
  // A named pipe would have `fopen` wait for a writer.
  int descriptor =
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0)
    return fail(std::strerror(errno));
  FilePtr file(fdopen(descriptor, "rb"));
  if (!file) {
    close(descriptor);
    return fail(std::strerror(errno));
  }
  struct stat status;
  if (fstat(fileno(file.get()), &status) != 0)
    return fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail("not a regular file");
  auto fileBytes = static_cast<uint64_t>(status.st_size);

  unsigned char prefix[12] = {};
  auto readPrefix = [&](size_t from, size_t to) {
    return std::fread(prefix + from, 1, to - from, file.get()) == to - from;
  };
  if (!readPrefix(0, 8) || std::memcmp(prefix, npyMagic, magicBytes) != 0)
    return fail("not a .npy file: it does not start with \\x93NUMPY");
  int major = prefix[6], minor = prefix[7];
  if ((major != 1 && major != 2) || minor != 0)
    return fail(
        format("unsupported .npy format version %d.%d; expected 1.0 or 2.0",
               major, minor));
  size_t dataStart = major == 1 ? 10 : 12;
  if (!readPrefix(8, dataStart))
    return fail("the file ends within its header");
  size_t headerBytes = prefix[8] | prefix[9] << 8;
  if (major == 2)
    headerBytes |= static_cast<size_t>(prefix[10]) << 16 |
                   static_cast<size_t>(prefix[11]) << 24;
  dataStart += headerBytes;
  if (dataStart > fileBytes)
    return fail("the file ends within its header");
  constexpr size_t maxHeaderBytes = 1 << 20;
  if (headerBytes > maxHeaderBytes)
    return fail(format("a header of %zu bytes", headerBytes));
  std::string header(headerBytes, '\0');
  if (std::fread(header.data(), 1, headerBytes, file.get()) != headerBytes)
    return fail("the file ends within its header");

  HeaderParser parser(header);
  if (!parser.parse())
    return fail(parser.error);
  NpyArray array;
  array.descr = canonicalDescr(parser.descr);
  array.shape = std::move(parser.shape);
  size_t elementBytes = npyElementBytes(array.descr);
  if (elementBytes == 0)
    return fail("element type '" + parser.descr + "' is not supported" +
                (parser.descr[0] == '>'
                     ? ": it is big-endian; save array.astype('<" +
                           parser.descr.substr(1) + "')"
                     : ""));
  if (parser.fortranOrder && array.shape.size() > 1)
    return fail("the array is in Fortran order; save "
                "numpy.ascontiguousarray(array)");
  if (array.descr[1] == 'V')
    array.note =
        format("%s: raw %zu-byte elements, interpreted as %s", path.c_str(),
               elementBytes, elementBytes == 2 ? "bf16" : "fp8");

  size_t bytes = 0;
  if (!countBytes(array.shape, elementBytes, bytes))
    return fail("the shape " + formatTuple(array.shape) +
                " has more elements than memory can hold");
  uint64_t present = fileBytes - dataStart;
  if (present != bytes)
    return fail(format("the shape %s of '%s' needs %zu bytes of data, but the "
                       "file has %llu",
                       formatTuple(array.shape).c_str(), array.descr.c_str(),
                       bytes, static_cast<unsigned long long>(present)));
  // A vector can only report the lack of memory by an exception: ask before.
  if (!std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[bytes + 1]))
    return Status(StatusCode::OutOfMemory,
                  path + format(": cannot allocate %zu bytes", bytes));
  array.data.resize(bytes);
  if (bytes != 0 &&
      std::fread(array.data.data(), 1, bytes, file.get()) != bytes)
    return fail("reading stopped early: " + std::string(std::strerror(errno)));
  return array;
}

Status tessera::runtime::writeNpy(const std::string &path,
                                  const std::string &descr,
                                  const std::vector<int64_t> &shape,
                                  const void *data) {
  size_t elementBytes = npyElementBytes(descr), bytes = 0;
  if (elementBytes == 0)
    return Status(StatusCode::InvalidArgument,
                  path + ": element type '" + descr + "' cannot be written");
  for (int64_t dim : shape)
    if (dim < 0)
      return Status(StatusCode::InvalidArgument,
                    path + ": negative dimension in shape " +
                        formatTuple(shape));
  std::string header =
      "{'descr': '" + descr +
      "', 'fortran_order': False, 'shape': " + formatTuple(shape) + ", }";
  // Data starts at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  if (!countBytes(shape, elementBytes, bytes) || header.size() > 0xFFFF)
    return Status(StatusCode::InvalidArgument,
                  path + ": the shape is too large: " + formatTuple(shape));

  std::string start(npyMagic, magicBytes);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
            static_cast<char>(header.size() >> 8)};
  start += header;
  return writeFile(
      path, {start, std::string_view(static_cast<const char *>(data), bytes)});
}
