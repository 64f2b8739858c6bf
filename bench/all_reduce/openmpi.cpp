// Usage: KIB, under mpirun.
#include <mpi.h>

#include "measure.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  bench::measure(rank, n, std::strtoul(argv[1], nullptr, 10), [](float* v, std::size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, v, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  });
  MPI_Finalize();
}
