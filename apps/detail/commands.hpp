#pragma once

#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/apps/detail/attempt.hpp"
#include "gossamer/base/registry.hpp"

#include <string>
#include <vector>

namespace gossamer::apps {

/// `gossamer train`. @returns the exit status
int train(const program& p, const run_options& options);

/// Number of runs of `gossamer simulate`, and its reaction to failures.
struct exploration {
  std::string seeds;               ///< "A..B", instead of the one seed; empty: the one seed
  std::uint64_t interleavings = 0; ///< 1 to this number, instead of the one; 0: the one interleaving
  bool keep_going = false;         ///< go on after the first failure
  bool shrink = false;             ///< look for the smallest plan that fails
  attempt_options each;

  bool several() const { return !seeds.empty() || interleavings > 0; }
};

/// `gossamer simulate`. @returns the exit status
int simulate(const program& p, const run_options& options, const exploration& wanted);

/// Simulates with many seeds or interleavings. With `keep_going` failures are reported as they are found, in the order
/// in which they end. An interrupt ends the exploration, and reports the runs that have ended.
/// @returns the exit status @error errc::failed when one of the runs failed
int explore(const program& p, const run_options& options, const exploration& wanted);

/// `gossamer list KIND`. @error errc::usage on an unknown kind
void list(const program& p, const std::string& kind, bool json);

/// `gossamer list`: the kinds, and how many there are of each.
void list_kinds(const program& p, bool json);

/// What may be named, of one kind.
struct kind_of_names {
  std::string kind; ///< "codecs", as `list` takes it
  std::string noun; ///< "codec", which is also the setting of a run that takes such a name
  std::vector<description> entries;
};
std::vector<kind_of_names> catalogue(const program& p);

/// `gossamer explain NAME`: prints every registry entry of that name. @error errc::usage when there is none
void explain(const program& p, const std::string& name);

struct certs_options {
  std::string out = "certs"; ///< a folder
  std::string hosts;         ///< names and addresses, with commas between them
  std::int64_t days = 365;   ///< validity of the certificates
  bool overwrite = false;    ///< replace pairs that exist
};

/// `gossamer certs`: makes an authority, and a certificate of it for each host. @error as `actors::write_certificates`
void make_certificates(const program& p, const certs_options& options);

struct export_options {
  std::string run; ///< a folder
  std::string out = "model.npz";
};

/// `gossamer export RUN`: writes the model of a run's last checkpoint, as evaluations see it, in NumPy's format.
/// @error errc::usage, errc::io, errc::bad_data
void export_model(const program& p, const export_options& options);

struct plot_options {
  std::vector<std::string> runs; ///< folders
  actors::comparison_options shown;
  std::string out = "comparison.svg";
};

/// `gossamer plot RUN...`: one picture of several runs.
/// @error as `actors::compare`; errc::io and errc::bad_data when a run cannot be read or the picture not written
void plot(const plot_options& options);

} // namespace gossamer::apps
