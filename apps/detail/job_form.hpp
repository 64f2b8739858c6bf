#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace gossamer::apps {

/// The job that follows a command behind `--`: how help texts, completions and errors know it.
struct job_form {
  std::string_view of;      ///< the command
  std::string_view command; ///< whose flags the job has
  std::string_view words;   ///< with which the job begins: "simulate|train"; empty: with flags
  bool required = false;
  bool settings_only = true; ///< false: also what concerns one run, such as its page

  /// Returns what stands before the flags: "-- train".
  std::string begins() const { return words.empty() ? "--" : fmt::format("-- {}", command); }
  /// Returns " -- train [FLAG...]", in brackets unless it is required.
  std::string usage() const {
    const auto job = words.empty() ? "-- FLAG..." : fmt::format("-- {} [FLAG...]", words);
    return required ? ' ' + job : fmt::format(" [{}]", job);
  }
};

inline constexpr std::array job_forms{job_form{"launch", "train", "train", true, false},
                                      job_form{"node", "train", "train", false, false},
                                      job_form{"measure", "train", "train"},
                                      job_form{"sweep", "simulate", "simulate|train", true},
                                      job_form{"reproduce", "simulate", ""},
                                      job_form{"advise", "simulate", ""}};

/// Returns null for a command that takes no job.
inline const job_form* form_of(std::string_view command) {
  const auto* const found = std::ranges::find(job_forms, command, &job_form::of);
  return found == job_forms.end() ? nullptr : found;
}

} // namespace gossamer::apps
