#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

namespace gossamer::actors {

// The entries of the algorithms in this folder; registry.cpp has the table.
extern const algorithm_entry acc_asy_fpg_entry;
extern const algorithm_entry acc_asy_lpg_entry;
extern const algorithm_entry ad_psgd_entry;
extern const algorithm_entry all_reduce_sgd_entry;
extern const algorithm_entry asy_fpg_entry;
extern const algorithm_entry asy_lpg_entry;
extern const algorithm_entry async_diloco_entry;
extern const algorithm_entry async_sgd_entry;
extern const algorithm_entry cascading_ssdm_entry;
extern const algorithm_entry choco_sgd_entry;
extern const algorithm_entry csea_entry;
extern const algorithm_entry cser_entry;
extern const algorithm_entry cser_pl_entry;
extern const algorithm_entry d2_entry;
extern const algorithm_entry d_psgd_entry;
extern const algorithm_entry dcd_psgd_entry;
extern const algorithm_entry decoupled_diloco_entry;
extern const algorithm_entry deep_squeeze_entry;
extern const algorithm_entry demo_entry;
extern const algorithm_entry diloco_entry;
extern const algorithm_entry eamsgd_entry;
extern const algorithm_entry ecd_psgd_entry;
extern const algorithm_entry ef_sgd_entry;
extern const algorithm_entry ef_sign_sgd_entry;
extern const algorithm_entry gradient_tracking_entry;
extern const algorithm_entry halp_entry;
extern const algorithm_entry local_sgd_entry;
extern const algorithm_entry m_cser_entry;
extern const algorithm_entry marsit_entry;
extern const algorithm_entry naive_d_psgd_entry;
extern const algorithm_entry noloco_entry;
extern const algorithm_entry one_bit_adam_entry;
extern const algorithm_entry parameter_server_sgd_entry;
extern const algorithm_entry power_sgd_entry;
extern const algorithm_entry qsparse_local_sgd_entry;
extern const algorithm_entry qsvrg_entry;
extern const algorithm_entry quantised_sgd_entry;
extern const algorithm_entry relay_sgd_entry;
extern const algorithm_entry sgp_entry;
extern const algorithm_entry sign_sgd_entry;
extern const algorithm_entry sparse_asy_lpg_entry;
extern const algorithm_entry sparse_loco_entry;
extern const algorithm_entry ssdm_entry;
extern const algorithm_entry streaming_diloco_entry;
extern const algorithm_entry zero_one_adam_entry;

} // namespace gossamer::actors
