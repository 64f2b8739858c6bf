#pragma once
#include "gossamer/actors/data_plane/endpoint.hpp"
#include "gossamer/actors/data_plane/limits.hpp"
#include "gossamer/actors/runtime/transport.hpp"
#include <map>
#include <vector>
#include <chrono>
namespace gossamer::actors {
struct node_address { std::uint32_t incarnation = 0; endpoint where; std::vector<rank> ranks; };
struct data_plane_setup { std::uint64_t run, fingerprint; std::uint32_t node, incarnation; actors::limits limits; buffer_pool pool; endpoint listen_on; std::function<void(std::uint32_t node, std::string why)> on_lost; std::chrono::milliseconds patience; };
class data_plane final : public transport {
public:
  explicit data_plane(data_plane_setup);
  ~data_plane() override;
  endpoint listens_on() const;
  void meet(std::map<std::uint32_t, node_address> nodes);
  void attach(life who, frame_sink sink) override;
  std::unique_ptr<link> link_to(rank from, life to) override;
};
}
