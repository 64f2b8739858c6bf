#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

namespace gossamer::actors {

// The entries of the algorithms in this folder; registry.cpp has the table. Functions rather than objects, so that the
// table does not depend on the order in which files are initialised.
algorithm_entry acc_asy_fpg_entry();
algorithm_entry acc_asy_lpg_entry();
algorithm_entry ad_psgd_entry();
algorithm_entry all_reduce_sgd_entry();
algorithm_entry asy_fpg_entry();
algorithm_entry asy_lpg_entry();
algorithm_entry async_diloco_entry();
algorithm_entry async_sgd_entry();
algorithm_entry cascading_ssdm_entry();
algorithm_entry choco_sgd_entry();
algorithm_entry csea_entry();
algorithm_entry cser_entry();
algorithm_entry cser_pl_entry();
algorithm_entry d2_entry();
algorithm_entry d_psgd_entry();
algorithm_entry dcd_psgd_entry();
algorithm_entry decoupled_diloco_entry();
algorithm_entry deep_squeeze_entry();
algorithm_entry demo_entry();
algorithm_entry diloco_entry();
algorithm_entry eamsgd_entry();
algorithm_entry ecd_psgd_entry();
algorithm_entry ef_sgd_entry();
algorithm_entry ef_sign_sgd_entry();
algorithm_entry gradient_tracking_entry();
algorithm_entry halp_entry();
algorithm_entry local_sgd_entry();
algorithm_entry m_cser_entry();
algorithm_entry marsit_entry();
algorithm_entry naive_d_psgd_entry();
algorithm_entry noloco_entry();
algorithm_entry one_bit_adam_entry();
algorithm_entry parameter_server_sgd_entry();
algorithm_entry power_sgd_entry();
algorithm_entry qsparse_local_sgd_entry();
algorithm_entry qsvrg_entry();
algorithm_entry quantised_sgd_entry();
algorithm_entry relay_sgd_entry();
algorithm_entry sgp_entry();
algorithm_entry sign_sgd_entry();
algorithm_entry sparse_asy_lpg_entry();
algorithm_entry sparse_loco_entry();
algorithm_entry ssdm_entry();
algorithm_entry streaming_diloco_entry();
algorithm_entry zero_one_adam_entry();

} // namespace gossamer::actors
