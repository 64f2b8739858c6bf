#include "gossamer/compute/model_file.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/compute/detail/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace gossamer::compute {

namespace {

using sides = std::vector<std::size_t>;

sides without_ones(sides shape) {
  std::erase(shape, 1);
  return shape;
}

struct place {
  std::string name;
  sides shape;
  std::size_t begin, size; ///< place among the elements of x
};

std::vector<place> places_in(const model& m) {
  const auto tensors = m.tensors();
  const auto names = m.tensor_names();
  const auto shapes = m.tensor_sides();
  std::vector<place> result;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tensors.size(); begin += tensors[i++].size())
    result.push_back({names[i], shapes[i], begin, tensors[i].size()});
  return result;
}

[[noreturn]] void refuse(errc code, const std::string& path, const std::string& what, const std::string& remedy) {
  throw error(code, fmt::format("'{}' {}", path, what), remedy);
}

std::string listed(const std::vector<place>& places) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const auto& p : places)
    if (names.size() < most)
      names.push_back(fmt::format("{} {}", p.name, detail::tuple_text(p.shape)));
  return fmt::format("the model has {}{}", fmt::join(names, ", "), places.size() > most ? ", ..." : "");
}

void fill(const std::string& path, const place& to, const named_tensor& from, std::span<float> x) {
  if (without_ones(from.shape) != without_ones(to.shape))
    refuse(errc::usage, path,
           fmt::format("has '{}' of shape {}, where the model has {}", from.name, detail::tuple_text(from.shape),
                       detail::tuple_text(to.shape)),
           "weights are of shape (inputs, outputs); name the model and the data that the file was made for");
  const auto wrong = std::ranges::find_if_not(from.values, [](float v) { return std::isfinite(v); });
  if (wrong != from.values.end())
    refuse(errc::bad_data, path,
           fmt::format("has {} as element {} of '{}'", *wrong, wrong - from.values.begin(), from.name),
           "a model consists of finite 32-bit numbers");
  std::ranges::copy(from.values, x.begin() + static_cast<std::ptrdiff_t>(to.begin));
}

} // namespace

void write_model(const std::string& path, const model& m, std::span<const float> x) {
  GOSSAMER_ASSERT(x.size() == m.dimension(), "x is of the model's dimension");
  std::vector<named_tensor> tensors;
  for (auto& p : places_in(m)) {
    const auto values = x.subspan(p.begin, p.size);
    tensors.push_back({std::move(p.name), std::move(p.shape), {values.begin(), values.end()}});
  }
  std::ranges::move(m.buffers_at(x), std::back_inserter(tensors));
  write_npz(path, tensors);
}

void read_model(const std::string& path, const model& m, std::span<float> x) {
  GOSSAMER_ASSERT(x.size() == m.dimension(), "x is of the model's dimension");
  npz_limits limits; // a model of any size, and room for foreign arrays, so that they can be named
  limits.most_bytes += x.size() * sizeof(double);
  const auto tensors = read_npz(path, limits);
  const auto places = places_in(m);
  const auto buffers = m.buffer_names();
  for (const auto& t : tensors)
    if (std::ranges::find(places, t.name, &place::name) == places.end()
        && std::ranges::find(buffers, t.name) == buffers.end())
      refuse(errc::usage, path, fmt::format("has an array '{}', which the model does not have", t.name),
             listed(places));
  for (const auto& p : places) {
    const auto found = std::ranges::find(tensors, p.name, &named_tensor::name);
    if (found == tensors.end())
      refuse(errc::usage, path, fmt::format("has no array '{}' {}", p.name, detail::tuple_text(p.shape)),
             listed(places));
    fill(path, p, *found, x);
  }
}

} // namespace gossamer::compute
