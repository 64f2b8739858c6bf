// Compiled for the features that every processor of the family has; see CMakeLists.txt.
#define Eigen gossamer_eigen_baseline
#define GOSSAMER_PRODUCT product_baseline
#include "gossamer/compute/detail/product.inl"
