//===- TextMutator.cpp - Programs that nearly are some --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include <array>
#include <cctype>
#include <random>
#include <string_view>
#include <vector>

using namespace tessera::fuzz;

namespace {

struct Token {
  size_t begin, end;
};

class Mutator {
public:
  Mutator(std::string text, uint32_t seed)
      : text(std::move(text)), random(seed) {}

  std::string run() {
    for (uint32_t left = 1 + pick(3); left > 0; --left)
      switch (pick(8)) {
      case 0:
      case 1:
        changeNumber();
        break;
      case 2:
      case 3:
        changeWord();
        break;
      case 4:
        changeValue();
        break;
      case 5:
        moveLine(/*keep=*/false);
        break;
      case 6:
        moveLine(/*keep=*/true);
        break;
      default:
        eraseLine();
        break;
      }
    return text;
  }

private:
  uint32_t pick(size_t count) {
    return std::uniform_int_distribution<uint32_t>(
        0, static_cast<uint32_t>(count ? count - 1 : 0))(random);
  }
  template <typename List> const auto &pickOf(const List &list) {
    return list[pick(std::size(list))];
  }

  /// Finds runs of characters for which `isPart` returns true.
  template <typename IsPart> std::vector<Token> find(IsPart isPart) const {
    std::vector<Token> tokens;
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && isPart(text[end], end == at))
        ++end;
      if (end > at)
        tokens.push_back({at, end});
      at = end > at ? end : at + 1;
    }
    return tokens;
  }
  void replace(Token token, std::string_view by) {
    text.replace(token.begin, token.end - token.begin, by);
  }

  void changeNumber() {
    static constexpr std::array<std::string_view, 22> numbers = {
        "0",   "1",    "2",     "3",          "4",
        "7",   "8",    "15",    "16",         "17",
        "31",  "32",   "64",    "127",        "128",
        "256", "1024", "65536", "2147483648", "9223372036854775807",
        "-1",  "?"};
    std::vector<Token> tokens = find([](char c, bool) {
      return std::isdigit(static_cast<unsigned char>(c));
    });
    if (!tokens.empty())
      replace(pickOf(tokens), pickOf(numbers));
  }

  /// A type, an attribute or the name of an op by one of the same text, or by
  /// one that is known.
  void changeWord() {
    static constexpr std::array<std::string_view, 40> words = {
        "f16",
        "bf16",
        "f32",
        "f64",
        "i1",
        "i4",
        "i8",
        "i16",
        "i32",
        "i64",
        "index",
        "f8E4M3FN",
        "f8E5M2",
        "tensor",
        "memref",
        "parallel",
        "reduction",
        "linalg.matmul",
        "linalg.batch_matmul",
        "linalg.generic",
        "linalg.fill",
        "linalg.add",
        "linalg.transpose",
        "linalg.reduce",
        "linalg.conv_2d_nhwc_hwcf",
        "arith.addf",
        "arith.mulf",
        "arith.maximumf",
        "arith.addi",
        "arith.extf",
        "arith.truncf",
        "arith.sitofp",
        "arith.select",
        "arith.cmpf",
        "math.exp",
        "math.rsqrt",
        "math.tanh",
        "tensor.empty",
        "tensor.extract_slice",
        "tensor.pad"};
    std::vector<Token> tokens = find([](char c, bool isFirst) {
      auto byte = static_cast<unsigned char>(c);
      return std::isalpha(byte) ||
             (!isFirst && (std::isdigit(byte) || c == '_' || c == '.'));
    });
    if (tokens.empty())
      return;
    Token other = pickOf(tokens);
    std::string own = text.substr(other.begin, other.end - other.begin);
    Token token = pickOf(tokens);
    replace(token, pick(2) ? std::string_view(own) : pickOf(words));
  }

  /// "%name" by another one.
  void changeValue() {
    std::vector<Token> tokens = find([](char c, bool isFirst) {
      return isFirst ? c == '%' || c == '#'
                     : std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
    if (tokens.size() < 2)
      return;
    Token other = pickOf(tokens);
    std::string own = text.substr(other.begin, other.end - other.begin);
    replace(pickOf(tokens), own);
  }

  std::vector<Token> findLines() const {
    return find([](char c, bool) { return c != '\n'; });
  }
  void moveLine(bool keep) {
    std::vector<Token> lines = findLines();
    if (lines.size() < 2)
      return;
    Token line = pickOf(lines);
    std::string own = text.substr(line.begin, line.end - line.begin) + "\n";
    size_t to = pickOf(lines).begin;
    if (!keep) {
      text.erase(line.begin, own.size());
      if (to > line.begin)
        to -= std::min(own.size(), to - line.begin);
    }
    text.insert(std::min(to, text.size()), own);
  }
  void eraseLine() {
    std::vector<Token> lines = findLines();
    if (!lines.empty())
      replace(pickOf(lines), "");
  }

  std::string text;
  std::mt19937 random;
};

} // namespace

std::string tessera::fuzz::mutateText(const std::string &text, uint32_t seed) {
  return Mutator(text, seed).run();
}
