//===- Convolution.cpp - Convolutions and pooling -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

#include <algorithm>
#include <map>

using namespace fuzz;

namespace {

/// A named convolution. Its layouts have a letter for each dimension: n images,
/// g groups, c channels, f filters, and 0, 1, 2 the spatial ones (for filters,
/// the window's).
struct Form {
  const char *op;
  const char *input, *filter, *output;
};

} // namespace

static const Form convolutions[] = {
    {"linalg.conv_2d_nhwc_hwcf", "n01c", "01cf", "n01f"},
    {"linalg.conv_2d_nhwc_hwcf", "n01c", "01cf", "n01f"},
    {"linalg.conv_2d_nhwc_fhwc", "n01c", "f01c", "n01f"},
    {"linalg.conv_2d_nchw_fchw", "nc01", "fc01", "nf01"},
    {"linalg.conv_2d_nchw_fchw", "nc01", "fc01", "nf01"},
    {"linalg.conv_2d_ngchw_fgchw", "ngc01", "fgc01", "ngf01"},
    {"linalg.conv_2d_ngchw_gfchw", "ngc01", "gfc01", "ngf01"},
    {"linalg.conv_2d_nhwgc_gfhwc", "n01gc", "gf01c", "n01gf"},
    {"linalg.conv_1d_nwc_wcf", "n0c", "0cf", "n0f"},
    {"linalg.conv_1d_ncw_fcw", "nc0", "fc0", "nf0"},
    {"linalg.conv_3d_ndhwc_dhwcf", "n012c", "012cf", "n012f"},
    {"linalg.conv_1d", "0", "0", "0"},
    {"linalg.conv_2d", "01", "01", "01"},
    {"linalg.depthwise_conv_2d_nhwc_hwc", "n01c", "01c", "n01c"},
    {"linalg.depthwise_conv_2d_nchw_chw", "nc01", "c01", "nc01"},
    {"linalg.depthwise_conv_2d_nhwc_hwcm", "n01c", "01cm", "n01cm"},
    {"linalg.depthwise_conv_1d_nwc_wc", "n0c", "0c", "n0c"},
};

static const Form poolings[] = {
    {"linalg.pooling_nhwc_sum", "n01c", "01", "n01c"},
    {"linalg.pooling_nhwc_max", "n01c", "01", "n01c"},
    {"linalg.pooling_nhwc_min", "n01c", "01", "n01c"},
    {"linalg.pooling_nchw_sum", "nc01", "01", "nc01"},
    {"linalg.pooling_nchw_max", "nc01", "01", "nc01"},
    {"linalg.pooling_nwc_sum", "n0c", "0", "n0c"},
};

/// "dense<[1, 2]> : tensor<2xi64>".
static std::string formatDense(const std::vector<int64_t> &values) {
  return "dense<[" + join(values) + "]> : tensor<" +
         std::to_string(values.size()) + "xi64>";
}

/// Zeros around some dimensions of `input`.
static Value pad(Program &program, const Value &input,
                 const std::vector<int64_t> &low,
                 const std::vector<int64_t> &high) {
  Value zero = program.constant(input.element, 0);
  Value result = input;
  for (size_t i = 0; i < low.size(); ++i)
    result.dims[i].size += low[i] + high[i];
  result.name = program.fresh();
  std::vector<std::string> indices;
  for (size_t i = 0; i < low.size(); ++i)
    indices.push_back("%p" + std::to_string(i) + ": index");
  program.line(result.name + " = tensor.pad " + input.name + " low[" +
               join(low) + "] high[" + join(high) + "] {");
  program.line("^bb0(" + join(indices) + "):");
  program.line("  tensor.yield " + zero.name + " : " + zero.type());
  program.line("} : " + input.type() + " to " + result.type());
  return result;
}

/// A schedule of a depthwise convolution or a pooling with the channels last,
/// by draws of their own. Chips reject some of them.
static std::string pickWindowSchedule(Program &program, const Form &form,
                                      int64_t height, int64_t width) {
  Rng own(Rng(program.rng).next(), 2);
  if (std::string(form.output) != "n01c" || !own.chance(50))
    return "";
  auto pickDivisor = [&](int64_t extent, int64_t most) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= std::min(extent, most); ++d)
      if (extent % d == 0)
        divisors.push_back(d);
    return own.pick(divisors);
  };
  int64_t rows = pickDivisor(width, 8), lines = pickDivisor(height, 8);
  return "tessera.window_schedule = #tessera.window_schedule<points = " +
         std::to_string(own.pick({1, 2, 2, 4})) +
         ", rows = " + std::to_string(rows) +
         ", lines = " + std::to_string(lines) +
         ", threads = " + std::to_string(own.pick({32, 64, 128})) + ">";
}

/// A convolution or a pooling of that form.
static Value makeWindowed(Program &program, const Form &form, bool isPooling,
                          const MatmulTypes &types) {
  Rng &rng = program.rng;
  std::string input = form.input, filter = form.filter, output = form.output;
  size_t spatial = 0;
  for (char letter : filter)
    spatial += letter >= '0' && letter <= '2';

  // The sizes of the letters; for the spatial ones, those of the output and of
  // the window.
  std::map<char, int64_t> sizes;
  std::vector<int64_t> strides(spatial), dilations(spatial), low(spatial),
      high(spatial), reach(spatial);
  int64_t budget = 200'000;
  std::map<char, int64_t> window;
  for (size_t d = 0; d < spatial; ++d) {
    char letter = static_cast<char>('0' + d);
    window[letter] = rng.pick({1, 3, 3, 2, 5, 7});
    if (spatial == 3)
      window[letter] = std::min<int64_t>(window[letter], 3);
    // conv_1d and conv_2d have neither.
    bool isPlain = input[0] == '0';
    strides[d] = isPlain ? 1 : rng.pick({1, 1, 2, 3});
    dilations[d] = isPlain ? 1 : rng.pick({1, 1, 1, 2});
    budget /= window[letter];
  }
  std::string letters;
  for (char letter : input + filter + output)
    if (letters.find(letter) == std::string::npos)
      letters += letter;
  for (char letter : letters) {
    bool isSpatial = letter <= '2';
    int64_t limit = isSpatial                        ? 17
                    : letter == 'n' || letter == 'g' ? 4
                    : letter == 'c' || letter == 'f' ? 40
                                                     : 5;
    limit = std::min(limit, std::max<int64_t>(budget, 1));
    sizes[letter] = pickSize(rng, limit);
    budget /= std::max<int64_t>(sizes[letter], 1);
  }
  // Empty windows are not valid convolutions.
  for (size_t d = 0; d < spatial; ++d) {
    char letter = static_cast<char>('0' + d);
    sizes[letter] = std::max<int64_t>(sizes[letter], 1);
    reach[d] = (sizes[letter] - 1) * strides[d] +
               (window[letter] - 1) * dilations[d] + 1;
    // A rest that no window reaches.
    if (strides[d] > 1 && rng.chance(30))
      reach[d] += rng.below(strides[d]);
  }
  bool isPadded = !isPooling && !program.usesMemRefs && rng.chance(40);
  for (size_t d = 0; isPadded && d < spatial; ++d) {
    low[d] = rng.between(0, 2);
    high[d] = rng.between(0, 2);
    if (reach[d] - low[d] - high[d] < 1)
      low[d] = high[d] = 0;
  }

  std::vector<int64_t> inputSizes, filterSizes, outputSizes, padLow, padHigh;
  double terms = 1;
  for (char letter : input) {
    bool isSpatial = letter <= '2';
    size_t d = isSpatial ? static_cast<size_t>(letter - '0') : 0;
    int64_t before = isSpatial ? low[d] : 0, after = isSpatial ? high[d] : 0;
    inputSizes.push_back(isSpatial ? reach[d] - before - after : sizes[letter]);
    padLow.push_back(before);
    padHigh.push_back(after);
  }
  for (char letter : filter) {
    int64_t size = letter <= '2' ? window[letter] : sizes[letter];
    filterSizes.push_back(size);
    if (letter <= '2' || output.find(letter) == std::string::npos)
      terms *= static_cast<double>(size);
  }
  for (char letter : output)
    outputSizes.push_back(sizes[letter]);

  // The window of a convolution is known when it is compiled, mostly.
  Value image = program.argument(types.a, program.makeDims(inputSizes));
  if (isPadded)
    image = pad(program, image, padLow, padHigh);
  Dims filterDims;
  bool isStatic = rng.chance(70);
  for (int64_t size : filterSizes)
    filterDims.push_back(isStatic || isPooling ? Dim{size, false}
                                               : program.makeDim(size));
  Value weights = isPooling ? program.empty(types.a, filterDims)
                            : program.argument(types.b, filterDims);
  Dims outputDims;
  for (int64_t size : outputSizes)
    outputDims.push_back(program.makeDim(size));
  Value result = program.empty(types.accumulator, outputDims);
  std::string name = form.op;
  bool isMax = name.find("max") != std::string::npos;
  bool isMin = name.find("min") != std::string::npos;
  result = program.fill(result, isMax ? -100 : isMin ? 100 : 0);

  Range sum = image.range;
  if (!isPooling)
    sum = getTermSum(types.accumulator, types.a, image.range, weights.range,
                     terms);
  else if (isMax || isMin)
    sum = unite(image.range, result.range);
  else
    sum =
        asElement(types.accumulator, {sum.bound * terms, sum.grid, sum.exact});

  std::vector<std::string> attributes;
  if (input[0] != '0') {
    attributes.push_back("dilations = " + formatDense(dilations));
    attributes.push_back("strides = " + formatDense(strides));
  }
  std::string schedule =
      isPooling ? "" : pickSchedule(program, types, /*isStaged=*/true);
  if (!schedule.empty())
    attributes.push_back(schedule.substr(1, schedule.size() - 2));
  else if (spatial == 2)
    if (std::string window =
            pickWindowSchedule(program, form, sizes['0'], sizes['1']);
        !window.empty())
      attributes.push_back(window);
  if (!attributes.empty())
    name += " {" + join(attributes) + "}";
  return program.structured(name, {image, weights}, result, sum);
}

Case fuzz::generateConvolution(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  program.usesMemRefs = rng.chance(10);
  if (rng.chance(15)) {
    Element element = rng.pick({Element::F32, Element::F16, Element::I32});
    program.result(makeWindowed(program, rng.pick(poolings), true,
                                {element, element, element}));
    return program.finish("conv");
  }
  using E = Element;
  MatmulTypes types = rng.pick(
      {MatmulTypes{E::F16, E::F16, E::F32}, MatmulTypes{E::F16, E::F16, E::F16},
       MatmulTypes{E::BF16, E::BF16, E::F32},
       MatmulTypes{E::F32, E::F32, E::F32}, MatmulTypes{E::I8, E::I8, E::I32},
       MatmulTypes{E::F64, E::F64, E::F64}});
  Form form = rng.pick(convolutions);
  Value value = makeWindowed(program, form, false, types);
  StepOptions options;
  int64_t steps = rng.pick({0, 0, 1, 2});
  for (int64_t i = 0; i < steps; ++i)
    value = makeStep(program, value, options);
  program.result(value);
  return program.finish("conv");
}
