#include "gossamer/actors/algorithms/entries.hpp"

#include <array>

namespace gossamer::actors {

const registry<algorithm_entry>& algorithms() {
  static const std::array entries{
      acc_asy_fpg_entry(),
      acc_asy_lpg_entry(),
      ad_psgd_entry(),
      all_reduce_sgd_entry(),
      asy_fpg_entry(),
      asy_lpg_entry(),
      async_diloco_entry(),
      async_sgd_entry(),
      cascading_ssdm_entry(),
      choco_sgd_entry(),
      csea_entry(),
      cser_entry(),
      cser_pl_entry(),
      d2_entry(),
      d_psgd_entry(),
      dcd_psgd_entry(),
      decoupled_diloco_entry(),
      deep_squeeze_entry(),
      demo_entry(),
      diloco_entry(),
      eamsgd_entry(),
      ecd_psgd_entry(),
      ef_sgd_entry(),
      ef_sign_sgd_entry(),
      gradient_tracking_entry(),
      halp_entry(),
      local_sgd_entry(),
      m_cser_entry(),
      marsit_entry(),
      naive_d_psgd_entry(),
      noloco_entry(),
      one_bit_adam_entry(),
      parameter_server_sgd_entry(),
      power_sgd_entry(),
      qsparse_local_sgd_entry(),
      qsvrg_entry(),
      quantised_sgd_entry(),
      relay_sgd_entry(),
      sgp_entry(),
      sign_sgd_entry(),
      sparse_asy_lpg_entry(),
      sparse_loco_entry(),
      ssdm_entry(),
      streaming_diloco_entry(),
      zero_one_adam_entry(),
  };
  static const registry<algorithm_entry> table{"algorithm", entries};
  return table;
}

} // namespace gossamer::actors
