#include "python_group.hpp"

#include "gossamer/compress/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <tuple>
#include <utility>

#include "held.hpp"
#include "python_codec.hpp"

namespace gossamer::python {

using namespace nb::literals;

namespace {

using input_bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using output_bytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ticket = std::shared_ptr<job>;

group_call::kind kind_of(const std::string& name) {
  using kind = group_call::kind;
  const std::pair<const char*, kind> all[] = {{"sum", kind::sum},
                                              {"mean", kind::mean},
                                              {"majority", kind::majority},
                                              {"drawn-sign", kind::drawn_sign},
                                              {"neighbour-mean", kind::neighbour_mean}};
  for (const auto& [known, what] : all)
    if (name == known)
      return what;
  throw error(errc::usage, fmt::format("op is '{}'", name), "allowed: mean, sum, majority, drawn-sign");
}

void require_finite(const vec& v) {
  static const auto exact = compress::make_codec("identity");
  (void)exact->encode(v, {0, 0, purpose::quantise}, 0); // names the first element that is not; copies nothing
}

/// A call with a vector of the program.
/// @param codec null: the vector travels as it is
void add_up(const python_group& g, const ticket& asks, const std::string& op, const std::string& about, const input& x,
            const nb::handle& codec) {
  group_call call{.what = kind_of(op), .about = about};
  const auto pack = codec.is_none() ? packer{} : packer_of(codec);
  const nb::gil_scoped_release unlock;
  buffer_pool pool = asks->x.pool();
  call.x = vec{pool, {x.data(), x.shape(0)}};
  if (pack)
    call.message = pack(call.x, g.last().calls);
  else
    require_finite(call.x);
  g.call(asks, std::move(call));
}

/// A call with bytes.
void gather(const python_group& g, const ticket& asks, const std::string& about, const input_bytes& bytes,
            bool is_last) {
  const nb::gil_scoped_release unlock;
  group_call call{.is_last = is_last, .about = about};
  call.message = compress::opaque(std::as_bytes(std::span{bytes.data(), bytes.shape(0)}), asks->x.pool());
  g.call(asks, std::move(call));
}

void copy_values(const python_group& g, const floats& to) {
  const vec value = on_host(g.last().value);
  if (value.size() != to.shape(0))
    throw error(errc::failed, fmt::format("a group has come to {} elements in place of {}", value.size(), to.shape(0)));
  std::copy_n(value.data(), value.size(), to.data());
}

/// The bytes that the members have given, in their order: behind their sizes.
std::vector<nb::bytes> gathered(const python_group& g) {
  const auto last = g.last();
  const vec value = on_host(last.value);
  auto left = std::as_bytes(value.view());
  const auto take = [&left](std::uint64_t size) {
    if (size > left.size())
      throw error(errc::failed, fmt::format("a group has gathered {} bytes in place of {}", left.size(), size));
    return std::exchange(left, left.subspan(size)).first(size);
  };
  const auto sizes = take(last.members.size() * sizeof(std::uint64_t));
  std::vector<nb::bytes> result;
  for (std::size_t k = 0; k < last.members.size(); ++k) {
    std::uint64_t size = 0;
    std::memcpy(&size, sizes.data() + k * sizeof size, sizeof size);
    result.emplace_back(reinterpret_cast<const char*>(take(size).data()), size);
  }
  return result;
}

} // namespace

void python_group::call(const ticket& asks, group_call what) const {
  slot_->ask(std::move(what));
  loop_->answer(asks, compute::gradient_and_loss{asks->x, 0});
}

void bind_group(nb::module_& m) {
  nb::class_<python_group>(m, "Group")
      .def("add_up", &add_up, "job"_a, "op"_a, "about"_a, "x"_a, "codec"_a.none(),
           nb::sig("def add_up(self, job: Job, op: str, about: str, x: object, codec: Codec | None) -> None"))
      .def("gather", &gather, "job"_a, "about"_a, "bytes"_a, "is_last"_a = false)
      .def_prop_ro("members", [](const python_group& g) { return g.last().members; })
      .def_prop_ro("calls", [](const python_group& g) { return g.last().calls; })
      .def_prop_ro("knew_group", [](const python_group& g) { return g.last().knew_group; })
      .def_prop_ro("sent",
                   [](const python_group& g) {
                     const auto s = g.last().sent;
                     return std::tuple{s.frames, s.payload_bits, s.wire_bits};
                   })
      .def("copy_values", &copy_values, "to"_a)
      .def("gathered", &gathered);
}

} // namespace gossamer::python
