#pragma once

/// Marks functions that run on the processor and on the GPU alike: one source for the arithmetic of both.
#ifdef __CUDACC__
#define GOSSAMER_HD __host__ __device__
#else
#define GOSSAMER_HD
#endif
