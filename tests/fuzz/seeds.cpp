// Writes the first inputs of the fuzzers: `fuzz_seeds FOLDER` makes a folder for each. Packets and frames are the
// golden files and the examples of all codecs, texts are written or listed by the library.
#include "gossamer/actors/data_plane/lane_session.hpp"
#include "gossamer/actors/data_plane/token_handshake.hpp"
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/hosting/trace_moment.hpp"
#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/optimiser.hpp"
#include "gossamer/compute/schedule.hpp"

#include <cstdio>

#include "data_plane/support.hpp"
#include "fuzz/target.hpp"
#include "support/gzip.hpp"
#include "support/hex.hpp"
#include "support/npz.hpp"

namespace gossamer::fuzz {
namespace {

class seed_folders {
public:
  explicit seed_folders(std::filesystem::path root) : root_(std::move(root)) {}

  void add(const std::string& target, std::string_view bytes) {
    const auto folder = root_ / target;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / std::to_string(++count_), std::ios::binary) << bytes;
  }
  void add(const std::string& target, std::span<const std::byte> bytes) {
    add(target, std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

private:
  std::filesystem::path root_;
  int count_ = 0;
};

void packets(seed_folders& seeds) {
  buffer_pool pool;
  for (const auto& file : std::filesystem::recursive_directory_iterator(GOSSAMER_SOURCE_DIR "/tests/golden"))
    if (file.is_regular_file()) {
      std::ifstream hex(file.path());
      const auto bytes = test::from_hex({std::istreambuf_iterator<char>(hex), {}});
      seeds.add(file.path().parent_path().filename() == "frame" ? "frame_fuzz" : "packet_fuzz", std::span{bytes});
    }
  for (const auto& entry : compress::codecs())
    for (const auto& example : entry.examples)
      for (const std::size_t size : {0u, 1u, 33u}) {
        vec v{pool, size};
        random_sequence random{{1, 0, purpose::synthetic}, size};
        for (float& x : v.overwrite())
          x = random.uniform() - 0.5f;
        const auto p = compress::make_codec(example)->encode(v, {1, 0, purpose::quantise}, 0);
        seeds.add("packet_fuzz", compress::write(p).bytes());
        const actors::frame f{.source = 1, .sequence = 2, .label = {actors::frame_kind::model, 300}, .body = p};
        seeds.add("frame_fuzz", actors::write(pool, f).bytes());
      }
}

void connections(seed_folders& seeds) {
  using namespace actors;
  buffer_pool pool;
  const auto said = write(hello{.node = 1});
  seeds.add("connection_fuzz", std::span<const std::byte>{said});
  const auto refused = write(refusal{refusal_code::not_here, "not here"});
  seeds.add("connection_fuzz", std::span{refused});
  for (const std::size_t bytes : {0u, 10u, 3000u}) {
    outbox out{1};
    for (rank source = 0; source < 3; ++source)
      out.push(actors::test::outgoing(pool, {9, 0}, actors::test::numbered_frame(pool, source, 1, bytes)));
    out.resume(0);
    out.say(acknowledgement_record(0));
    seeds.add("connection_fuzz", std::span<const std::byte>{actors::test::joined(out.gather())});
  }
}

void doors(seed_folders& seeds) {
  using namespace actors;
  token_handshake opener{token_handshake::role::opens, {"0123456789abcdef", "seeds"}, {}};
  const auto greeting = opener.unsent();
  std::vector<std::byte> said{greeting.begin(), greeting.end()};
  seeds.add("door_fuzz", std::span<const std::byte>{said});
  said.resize(said.size() + token_handshake::proof_bytes);
  seeds.add("door_fuzz", std::span<const std::byte>{said});
  auto messages = actors::test::control_header(40);
  messages.resize(messages.size() + 40);
  for (const auto& next : {actors::test::control_header(0, 6), actors::test::control_header(0x30000000, 0)})
    messages.insert(messages.end(), next.begin(), next.end());
  seeds.add("door_fuzz", std::span<const std::byte>{messages});
  lane_session lane{{}};
  lane.begin();
  lane.tell_door(4711);
  lane.hear({});
  lane.push(std::vector<std::byte>(30));
  lane.finish();
  std::vector<std::byte> records;
  for (auto next = lane.gather(); !next[0].empty() || !next[1].empty(); next = lane.gather()) {
    for (const auto piece : next)
      records.insert(records.end(), piece.begin(), piece.end());
    lane.wrote(next[0].size() + next[1].size());
  }
  seeds.add("door_fuzz", std::span<const std::byte>{records}.subspan(lane_hello_bytes));
}

/// Writes events of a fetch: a source comes, answers, and sends wrong bytes.
void fetches(seed_folders& seeds) {
  using namespace std::literals;
  const auto come = "\0\0"sv, answer = "\0\x2"sv, wrong = "\0\x3\x1y"sv, wait = "\0\x5\x20\0"sv;
  std::string honest{"\0\0"sv};
  honest += come;
  for (int k = 0; k < 5; ++k)
    honest += answer;
  seeds.add("fetch_fuzz", honest);
  seeds.add("fetch_fuzz", honest + std::string{wrong} + std::string{wait});
  seeds.add("fetch_fuzz", "\x2\x3"s + std::string{come} + std::string{wait} + std::string{answer});
}

template <class Entry>
void specs(seed_folders& seeds, const registry<Entry>& table) {
  for (const auto& entry : table) {
    auto given = spec{entry.about.name, {}};
    for (const auto& p : entry.about.parameters)
      given.values.emplace_back(p.key, p.required ? "x" : p.fallback);
    seeds.add("spec_fuzz", entry.about.name);
    seeds.add("spec_fuzz", given.to_string());
    for (std::size_t i = 0; i < given.values.size(); ++i) {
      auto with_an_empty_value = given;
      with_an_empty_value.values[i].second.clear();
      seeds.add("spec_fuzz", with_an_empty_value.to_string());
    }
  }
}

void plans(seed_folders& seeds) {
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    seeds.add("plan_fuzz", to_toml(actors::draw_plan(seed, {.workers = 8, .workers_per_node = 2})));
  seeds.add("plan_fuzz", "[[fault]]\nkind = 'kill'\nnodes = [1, 2]\nat-step = 100\nfor = 1\n");
}

/// Writes moments of each kind, those of a frame that arrives where it was sent, and each by itself.
void moments(seed_folders& seeds) {
  using actors::trace_moment;
  std::vector<trace_moment> all;
  for (auto k = trace_moment::kind::begins; k <= trace_moment::kind::over;
       k = static_cast<trace_moment::kind>(static_cast<int>(k) + 1)) {
    all.push_back({.what = k, .at_ns = 1000 * static_cast<int>(k), .who = 1, .other = 1, .value = 20});
    seeds.add("moments_fuzz", to_text(std::span{&all.back(), 1}));
  }
  seeds.add("moments_fuzz", to_text(all));
}

void configurations(seed_folders& seeds) {
  apps::run_options options;
  for (const auto* table : {&apps::train_options(), &apps::simulate_options()}) {
    seeds.add("config_fuzz", write_config("gossamer train", *table, options));
    for (const auto& o : *table)
      if (const auto value = o.get(options); !value.empty())
        seeds.add("config_fuzz", o.name + " = " + (o.number ? value : "'" + value + "'") + "\n");
  }
}

void hosts(seed_folders& seeds) {
  const auto host = [](const std::string& name) { return "[[host]]\nhost = '" + name + "'\n"; };
  const auto link = [](const std::string& from, const std::string& to) {
    return "[[link]]\nfrom = '" + from + "'\nto = '" + to + "'\nlatency = 1e-3\nbandwidth = 1e6\n";
  };
  seeds.add("hosts_fuzz", host("a") + "slots = 2\nuser = 'b'\nport = 22\nenvironment = ['A=1', 'B=2']\n");
  seeds.add("hosts_fuzz", host("a") + "seconds_per_sample = 1e-5\nthrough = ['sh', '-c']\n" + host("b") + link("a", "b")
                              + link("b", "a"));
}

void data_files(seed_folders& seeds) {
  using namespace std::literals;
  const auto labels = "\0\0\x8\x1\0\0\0\x2\x3\x9"sv, images = "\0\0\x8\x3\0\0\0\x2\0\0\0\x1\0\0\0\x2\0\x7f\x80\xff"sv;
  seeds.add("idx_fuzz", static_cast<char>(labels.size()) + std::string{labels} + std::string{images});
  seeds.add("idx_fuzz", "\0"s + std::string{images});
  seeds.add("cifar_fuzz", std::string(3073, '\x5'));
  seeds.add("cifar_fuzz", std::string(3073, '\x10'));
  for (const auto rows : {"+1 1:0.5 7:-2e3\n-1 2:1\n+1 3:.25 # a comment\n"sv, "1.5 1:1\n2.25 1:2\n-3 2:7\n"sv})
    seeds.add("libsvm_fuzz", rows);
  for (const auto rows : {"a,b,label\n1,2,x\n3,\"4\",y\n5,6,x\n"sv, "1;2;0\n3;4;1\n"sv, "0\t1.5\t2\n1\t-1\t3\n"sv,
                          "  1 2  3\n 4 5 6\n"sv})
    seeds.add("csv_fuzz", rows);
  for (const auto text : {""sv, "text"sv, labels})
    seeds.add("gzip_fuzz", test::gzipped(text));
  for (const auto& archive : {test::saved_by_numpy(), test::packed_by_numpy()})
    seeds.add("npz_fuzz", archive);
  seeds.add("npz_fuzz", test::saved_by_numpy().substr(67, 128 + 24)); // the array without its archive
  seeds.add("gzip_fuzz", test::gzipped("one member") + test::gzipped(std::string(5000, 'a')));
}

/// Writes numbers from which control messages are drawn.
void conversations(seed_folders& seeds) {
  for (std::uint32_t k = 0; k < 20; ++k) {
    random_sequence random{{1, k, purpose::chaos}, 0};
    std::string bytes(1000, 0);
    for (auto& byte : bytes)
      byte = static_cast<char>(random.below(256));
    seeds.add("control_fuzz", bytes);
  }
}

} // namespace
} // namespace gossamer::fuzz

int main(int argc, char** argv) {
  using namespace gossamer;
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  fuzz::seed_folders seeds{argv[1]};
  fuzz::packets(seeds);
  fuzz::connections(seeds);
  fuzz::doors(seeds);
  fuzz::fetches(seeds);
  fuzz::specs(seeds, topology::topologies());
  fuzz::specs(seeds, compress::codecs());
  fuzz::specs(seeds, compute::models());
  fuzz::specs(seeds, compute::data_sources());
  fuzz::specs(seeds, compute::optimisers());
  fuzz::specs(seeds, compute::schedules());
  fuzz::specs(seeds, actors::algorithms());
  fuzz::plans(seeds);
  fuzz::moments(seeds);
  fuzz::configurations(seeds);
  fuzz::hosts(seeds);
  fuzz::data_files(seeds);
  fuzz::conversations(seeds);
}
