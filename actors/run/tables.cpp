#include "gossamer/actors/run/tables.hpp"

#include "gossamer/base/check_entry.hpp"

namespace gossamer::actors {

namespace {

std::unique_ptr<algorithm> checked(std::unique_ptr<algorithm> made, const algorithm_entry& by, const char* function) {
  if (!made)
    throw made_nothing("algorithm", by.about.name, function);
  return made;
}

} // namespace

void check_entries(const tables& all) {
  for (const auto& e : all.algorithms)
    check_entry(all.algorithms.what(), e.about,
                {{"make", e.make != nullptr},
                 {"masters", e.masters != nullptr || e.make_master == nullptr},
                 {"make_master", e.make_master != nullptr || e.masters == nullptr}});
  check_table(all.codecs);
  for (const auto& e : all.topologies)
    check_entry(all.topologies.what(), e.about, {{"make", e.make != nullptr}});
  for (const auto& e : all.models)
    check_entry(all.models.what(), e.about, {{"make", e.make != nullptr}});
  for (const auto& e : all.data)
    check_entry(all.data.what(), e.about, {{"load", e.load != nullptr}});
  for (const auto& e : all.optimisers)
    check_entry(all.optimisers.what(), e.about,
                {{"make", e.make != nullptr}, {"suggested_lr", e.suggested_lr != nullptr}});
}

std::unique_ptr<algorithm> make_for_worker(const algorithm_entry& entry, const algorithm_setup& setup) {
  return checked(entry.make(setup), entry, "make");
}

std::unique_ptr<algorithm> make_for_master(const algorithm_entry& entry, const algorithm_setup& setup) {
  return checked(entry.make_master(setup), entry, "make_master");
}

} // namespace gossamer::actors
