#include "python_codec.hpp"

#include "gossamer/compress/coder.hpp"

#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <vector>

#include "held.hpp"

namespace gossamer::python {

using namespace nb::literals;

namespace {

using compress::packet;
using read_only_bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// An array of NumPy that owns the bytes which it shows.
template <class Number, class Owner>
auto array_of(Owner owned) {
  auto kept = std::make_unique<Owner>(std::move(owned));
  const auto* first = reinterpret_cast<const Number*>(kept->data());
  const auto size = kept->size();
  const nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  return nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(first, {size}, owner);
}

/// A codec with a stream of random numbers, for programs that carry its packets themselves. Threads: safe.
class python_codec {
public:
  python_codec(const std::string& text, std::uint64_t seed, std::uint32_t rank)
      : codec_(compress::make_codec(text)), random_{seed, rank, purpose::quantise} {}

  std::string spec() const { return codec_->spelling(); }
  const compress::codec& codec() const { return *codec_; }

  std::uint64_t bits(std::size_t elements) const {
    check_size(elements);
    return codec_->bits(elements);
  }
  std::uint64_t most_bytes(std::size_t elements) const {
    check_size(elements);
    return compress::longest_head + compress::whole_bytes(codec_->most_bits(elements));
  }

  packet pack(const vec& v, std::uint64_t step) const { return codec_->encode(v, random_, step); }

  auto encode(const input& v, std::uint64_t step) const {
    const auto packed = [&] {
      const nb::gil_scoped_release unlock;
      buffer_pool pool;
      return compress::write(pack(vec{pool, {v.data(), v.shape(0)}}, step));
    };
    return array_of<std::uint8_t>(packed());
  }

  auto decode(const read_only_bytes& bytes, std::size_t elements) const {
    const auto unpacked = [&] {
      const nb::gil_scoped_release unlock;
      buffer_pool pool;
      return compress::decode(read(pool, bytes, elements));
    };
    return array_of<float>(unpacked());
  }

  auto mean(const std::vector<read_only_bytes>& packets, std::size_t elements) const {
    if (packets.empty())
      throw error(errc::usage, "the mean of no packets is asked for", "give at least one");
    const auto unpacked = [&] {
      const nb::gil_scoped_release unlock;
      buffer_pool pool;
      std::vector<packet> all;
      for (const auto& bytes : packets)
        all.push_back(read(pool, bytes, elements));
      return compress::coder{}.mean(all);
    };
    return array_of<float>(unpacked());
  }

private:
  /// Beyond the largest vector of a packet the number of bits need not fit 64 of them.
  static void check_size(std::size_t elements) {
    if (elements > compress::packet_most_elements)
      throw error(errc::usage, fmt::format("the size of a packet of {} elements is asked for", elements),
                  fmt::format("allowed: up to {} elements", compress::packet_most_elements));
  }

  static packet read(buffer_pool& pool, const read_only_bytes& bytes, std::size_t elements) {
    auto p = compress::read(pool, std::as_bytes(std::span{bytes.data(), bytes.shape(0)}), elements);
    if (p.elements != elements)
      throw error(errc::bad_packet,
                  fmt::format("a packet holds a vector of {} elements where {} are expected", p.elements, elements));
    return p;
  }

  std::unique_ptr<compress::codec> codec_;
  random_stream random_;
};

} // namespace

packer packer_of(nb::handle codec) {
  return [&c = nb::cast<const python_codec&>(codec)](const vec& v, std::uint64_t step) { return c.pack(v, step); };
}

void bind_codec(nb::module_& m) {
  nb::class_<python_codec>(m, "Codec",
                           R"(A codec by its name, such as "uniform:bits=8", for programs that carry packets themselves.

seed and rank choose its random numbers; all workers have the same seed and a rank of their own.)")
      .def(nb::init<const std::string&, std::uint64_t, std::uint32_t>(), "spec"_a, "seed"_a = 1, "rank"_a = 0)
      .def_prop_ro("spec", &python_codec::spec, "Its name with all of its parameters.")
      .def_prop_ro(
          "unbiased", [](const python_codec& c) { return c.codec().can().unbiased || c.codec().can().exact; },
          "True if the mean of what is decoded is what was encoded.")
      .def_prop_ro(
          "exact", [](const python_codec& c) { return c.codec().can().exact; },
          "True if what is decoded has the bits of what was encoded.")
      .def_prop_ro(
          "fixed_size", [](const python_codec& c) { return c.codec().can().fixed_size; },
          "True if vectors of one size have packets of one size, but for those of zeros.")
      .def("bits", &python_codec::bits, "elements"_a,
           "The most bits of payload that a vector of this size, up to 2^32, takes, unless its norm overflows.")
      .def("most_bytes", &python_codec::most_bytes, "elements"_a,
           "The most bytes of a packet of any vector of this size.")
      .def("encode", &python_codec::encode, "vector"_a, "step"_a,
           "Packs a vector of float32: bytes as an array of uint8. Another step draws other random numbers. Raises "
           "DivergedError where an element is not finite.")
      .def("decode", &python_codec::decode, "packet"_a, "elements"_a,
           "The vector of a packet, which is not trusted: raises Error where it is damaged.")
      .def("mean", &python_codec::mean, "packets"_a, "elements"_a,
           "The mean of the vectors of several packets, added in their order.");
}

} // namespace gossamer::python
