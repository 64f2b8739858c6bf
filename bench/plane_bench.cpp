// Throughput of the data plane between two nodes' worth of it in one process on this machine, in the clear and under
// TLS.
#include "gossamer/actors/data_plane/data_plane.hpp"
#include "gossamer/actors/data_plane/tls/certificate_folder.hpp"

#include <benchmark/benchmark.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace {

using namespace gossamer;
using namespace gossamer::actors;

std::shared_ptr<const tls_identity> made_identity() {
  const auto folder = std::filesystem::temp_directory_path() / ("plane-bench-" + std::to_string(getpid()));
  const auto made = write_certificates({.folder = folder, .hosts = {"127.0.0.1"}});
  const auto result = std::make_shared<const tls_identity>(made.folders.front());
  std::filesystem::remove_all(folder);
  return result;
}

/// Sends frames with so many bytes of payload from one node to another, a few of them under way at a time.
void carry(benchmark::State& state, const std::shared_ptr<const tls_identity>& identity) {
  constexpr std::uint64_t most_under_way = 16;
  const auto bytes = static_cast<std::size_t>(state.range(0));
  buffer_pool pool;
  const auto setup = [&](std::uint32_t node) {
    data_plane_setup result;
    result.node = node;
    result.pool = pool;
    result.listen_on = {"127.0.0.1", 0};
    result.shows.identity = identity;
    return result;
  };
  data_plane sender{setup(0)}, receiver{setup(1)};
  const std::map<std::uint32_t, node_address> who{{0, {0, sender.listens_on(), {0}}},
                                                  {1, {0, receiver.listens_on(), {1}}}};
  sender.meet(who);
  receiver.meet(who);
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t sent = 0, got = 0;
  receiver.attach({1, 0}, [&](const frame&) {
    const std::scoped_lock lock{mutex};
    ++got;
    changed.notify_one();
  });
  const auto wait_until_under_way = [&](std::uint64_t most) {
    std::unique_lock lock{mutex};
    changed.wait(lock, [&] { return sent - got <= most; });
  };
  const auto way = sender.link_to(0, {1, 0});
  frame f{.source = 0, .label = {frame_kind::model, 1}, .body = {}};
  f.body.payload = pool.allocate(bytes);
  f.body.bits = 8 * bytes;
  std::memset(f.body.payload.data(), 1, bytes);
  for (auto _ : state) {
    way->send(f);
    ++sent;
    wait_until_under_way(most_under_way);
  }
  wait_until_under_way(0);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}

void in_the_clear(benchmark::State& state) { carry(state, nullptr); }
void under_tls(benchmark::State& state) {
  static const auto identity = made_identity();
  carry(state, identity);
}
BENCHMARK(in_the_clear)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20)->UseRealTime();
BENCHMARK(under_tls)->Arg(1 << 10)->Arg(64 << 10)->Arg(16 << 20)->UseRealTime();

} // namespace
