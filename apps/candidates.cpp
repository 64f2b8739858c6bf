#include "gossamer/apps/detail/candidates.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace {

constexpr candidate all_candidates[]{
    {"all-reduce-sgd", ""},
    {"all-reduce-sgd:collective=direct", ""},
    {"quantised-sgd", ""},
    {"power-sgd:collective=direct", ""},
    {"local-sgd:period=8,collective=direct", ""},
    {"diloco:period=10", "e3m0"},
    {"diloco:period=50", "e3m0"},
    {"diloco:period=50", "e3m0", knowledge::islands},
    {"local-sgd:period=8,collective=direct", "", knowledge::islands},
    {"noloco:period=50", "e3m0", knowledge::islands},
    {"ad-psgd:in-flight=4,owed=8", "min-max:bits=8", knowledge::islands},
    {"streaming-diloco:period=10,overlap=1", "e3m0"},
    {"sparse-loco:period=10,collective=direct", "chunked-top-k"},
    {"async-diloco:period=10", ""},
    {"noloco:period=10", ""},
    {"d-psgd", ""},
    {"d-psgd", "", knowledge::hosts},
    {"sgp", ""},
    {"dcd-psgd", "min-max:bits=8"},
    {"choco-sgd", "top-k:fraction=0.1"},
    {"ad-psgd:in-flight=4,owed=8", "min-max:bits=8"},
    {"ef-sign-sgd:collective=direct", ""},
    {"marsit:period=100,collective=direct", ""},
};

} // namespace

std::span<const candidate> candidates() { return all_candidates; }

std::string candidate::name() const {
  const char* const where = of == knowledge::islands ? " on islands"
                            : of == knowledge::hosts ? " along fast links"
                                                     : "";
  return fmt::format("{}{}{}{}", algorithm, *codec == '\0' ? "" : " with ", codec, where);
}

std::vector<std::string> candidate::given(const std::string& hosts) const {
  std::vector<std::string> words{"--algorithm", algorithm};
  if (*codec != '\0')
    words.insert(words.end(), {"--codec", codec});
  if (of == knowledge::islands)
    words.insert(words.end(), {"--islands", "hosts"});
  if (of == knowledge::hosts)
    words.insert(words.end(), {"--topology", "measured:file=" + hosts});
  return words;
}

} // namespace gossamer::apps
