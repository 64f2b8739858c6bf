// Compiled for x86-64-v4 (AVX-512); see CMakeLists.txt.
#define Eigen gossamer_eigen_v4
#define GOSSAMER_PRODUCT product_v4
#include "gossamer/compute/detail/product.inl"
