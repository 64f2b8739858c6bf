#pragma once

#include "gossamer/apps/detail/attempt.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// `gossamer train`. @returns the exit status
int train(const program& p, const run_options& options, bool json);

/// How often `gossamer simulate` runs, and what it does about failures.
struct exploration {
  std::string seeds;               ///< "A..B", instead of the one seed; empty: that one
  std::uint64_t interleavings = 0; ///< 1 to this, instead of the one; 0: that one
  bool keep_going = false;         ///< after the first failure
  bool shrink = false;             ///< look for the smallest plan that fails
  attempt_options each;

  bool several() const { return !seeds.empty() || interleavings > 0; }
};

/// `gossamer simulate`. @returns the exit status
int simulate(const program& p, const run_options& options, const exploration& wanted, bool json);

/// The same with many seeds or interleavings. With `keep_going` failures are told as they are found, in the order in
/// which they end. An interrupt ends it with what there is.
/// @returns the exit status @error errc::failed when one of the runs failed
int explore(const program& p, const run_options& options, const exploration& wanted, bool json);

/// `gossamer list KIND`. @error errc::usage on an unknown kind
void list(const program& p, const std::string& kind, bool json);

/// `gossamer explain NAME`: prints every registry entry of that name. @error errc::usage when there is none
void explain(const program& p, const std::string& name);

struct certs_options {
  std::string out = "certs"; ///< folder
  std::string hosts;         ///< names and addresses, with commas between them
  std::int64_t days = 365;   ///< until certificates end
  bool overwrite = false;    ///< pairs that are there
};

/// `gossamer certs`: makes an authority, and a certificate of it for each host. @error as `actors::write_certificates`
void make_certificates(const program& p, const certs_options& options);

struct export_options {
  std::string run; ///< folder
  std::string out = "model.npz";
};

/// `gossamer export RUN`: writes the model of a run's last checkpoint, as evaluations see it, in NumPy's format.
/// @error errc::usage, errc::io, errc::bad_data
void export_model(const program& p, const export_options& options);

struct plot_options {
  std::vector<std::string> runs; ///< folders
  std::string x = "seconds", y = "train-loss";
  std::string out = "comparison.svg";
  std::optional<bool> logarithmic; ///< of y
};

/// `gossamer plot RUN...`: one picture of several runs.
/// @error errc::usage on unknown axes; errc::io and errc::bad_data when a run cannot be read or the picture not written
void plot(const plot_options& options);

} // namespace gossamer::apps
