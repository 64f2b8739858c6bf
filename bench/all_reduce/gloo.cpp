// Usage: KIB PROCESSES ring|halving [RANK ADDRESS], in an empty folder, where the processes meet. This program starts
// all of them, or is the one of this rank, at this address.
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.hpp"

int main(int argc, char** argv) {
  const int n = std::atoi(argv[2]);
  const bool is_one = argc > 5;
  int rank = is_one ? std::atoi(argv[4]) : 0;
  for (int r = 1; r < n && rank == 0 && !is_one; ++r)
    if (fork() == 0)
      rank = r;
  gloo::transport::tcp::attr at;
  at.hostname = is_one ? argv[5] : "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(at);
  gloo::rendezvous::FileStore store(".");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, n);
  context->connectFullMesh(store, device);
  using halving = gloo::AllreduceHalvingDoubling<float>;
  std::map<float*, std::unique_ptr<halving>> bound; // bound to its memory
  bench::measure(rank, n, std::strtoul(argv[1], nullptr, 10), [&](float* v, std::size_t count) {
    if (argv[3] == std::string("ring")) {
      gloo::AllreduceOptions o(context);
      o.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      o.setOutput(v, count);
      o.setReduceFunction([](void* c, const void* a, const void* b, std::size_t k) { gloo::sum<float>(c, a, b, k); });
      return gloo::allreduce(o);
    }
    auto& made = bound[v];
    if (!made)
      made = std::make_unique<halving>(context, std::vector<float*>{v}, static_cast<int>(count));
    made->run();
  });
  while (rank == 0 && wait(nullptr) > 0) {
  }
}
