// Compiled for x86-64-v3 (AVX2 and FMA); see CMakeLists.txt.
#define Eigen gossamer_eigen_v3
#define GOSSAMER_PRODUCT product_v3
#include "gossamer/compute/detail/product.inl"
