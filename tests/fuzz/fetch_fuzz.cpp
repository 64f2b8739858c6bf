// A fetch under any messages of sources, in any order of events. It stores no wrong bytes, asks no source that it has
// left, has no more under way than it may, and ends when a source answers at last. Impossible catalogues are refused.
#include "gossamer/actors/fetch/catalogue.hpp"

#include "fuzz/target.hpp"

namespace {

using namespace gossamer;
using namespace gossamer::actors;

/// Numbers and bytes of the input, and zeros behind its end.
class script {
public:
  explicit script(std::string_view bytes) : left_(bytes) {}
  bool ended() const { return left_.empty(); }
  std::uint64_t number(std::size_t bytes = 1) {
    std::uint64_t value = 0;
    for (const char byte : text(bytes))
      value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string text(std::size_t bytes) {
    const auto taken = left_.substr(0, bytes);
    left_.remove_prefix(taken.size());
    return std::string{taken};
  }

private:
  std::string_view left_;
};

struct known_file {
  std::string content;
  hashed_file known;
  explicit known_file(std::size_t size) : content(size, 'x') {
    for (std::size_t at = 0; at < size; at += piece_bytes)
      known.add(std::string_view{content}.substr(at, piece_bytes));
    known.finish();
  }
};

/// Returns two files, of one piece and of three.
const std::vector<known_file>& files() {
  static const std::vector<known_file>& all = *new std::vector<known_file>([] {
    std::vector<known_file> made;
    made.emplace_back(5);
    made.emplace_back(2 * piece_bytes + 1);
    return made;
  }());
  return all;
}

class fetching {
public:
  explicit fetching(script& input) : input_(input), fetch_(wanted(), {.window = window}, fetch::time{0}) {}

  void run() {
    while (!input_.ended()) {
      step();
      obey();
    }
    while (!fetch_.done() && fetch_.failure().empty()) // an honest source answers at last
      finish_honestly();
  }

private:
  static constexpr std::size_t window = 3;

  std::vector<wanted_file> wanted() {
    std::vector<wanted_file> result;
    for (const auto& f : files())
      result.push_back({f.content.size(), f.known.root(), input_.number() % 4 * piece_bytes / 2});
    return result;
  }

  void step() {
    const auto source = static_cast<std::uint32_t>(input_.number() % 4);
    switch (input_.number() % 7) {
    case 0:
      if (left_.count(source) == 0)
        came(source);
      break;
    case 1:
      fetch_.gone(source, now_);
      under_way_.erase(source);
      break;
    case 2:
      answer(source, [](auto&) {});
      break;
    case 3:
      answer(source, [this](auto& bytes) { bytes = input_.text(input_.number()); });
      break;
    case 4: {
      const piece_id what{static_cast<std::uint32_t>(input_.number()), static_cast<std::uint32_t>(input_.number()),
                          input_.number(8)};
      fetch_.got(source, what, input_.text(input_.number()), 1, now_);
      break;
    }
    case 5:
      now_ += std::chrono::milliseconds(input_.number(2));
      fetch_.tick(now_);
      break;
    default:
      fetch_.found({static_cast<std::uint32_t>(input_.number()), 0, input_.number()}, input_.text(input_.number()),
                   now_);
    }
  }

  /// Lets a source come that may lack some of the files.
  void came(std::uint32_t source) {
    const auto lacks = input_.number() % 4;
    std::set<std::uint32_t> files;
    for (const auto file : {0u, 1u})
      if ((lacks >> file & 1) != 0)
        files.insert(file);
    fetch_.came(source, now_, std::move(files));
  }

  template <class Change>
  void answer(std::uint32_t source, const Change& change) {
    auto& asked = under_way_[source];
    if (asked.empty())
      return;
    const auto what = asked.front();
    asked.erase(asked.begin());
    auto bytes = right(what);
    change(bytes);
    fetch_.got(source, what, std::move(bytes), 1, now_);
  }

  static std::string right(const piece_id& what) {
    const auto& f = files().at(what.file);
    return what.level == 0 ? f.content.substr(what.index * piece_bytes, piece_bytes)
                           : std::string{f.known.piece(what.level, what.index)};
  }

  void finish_honestly() {
    constexpr std::uint32_t honest = 9;
    fetch_.came(honest, now_);
    obey();
    for (const auto source : {0u, 1u, 2u, 3u}) // their questions go to the honest source
      fetch_.gone(source, now_);
    obey();
    answer(honest, [](auto&) {});
    obey();
  }

  void obey() {
    for (auto orders = fetch_.take(); !orders.empty(); orders = fetch_.take())
      for (auto& order : orders)
        std::visit([this](auto& o) { obey(o); }, order);
  }
  void obey(const ask_order& o) {
    GOSSAMER_ASSERT(left_.count(o.source) == 0, "who has been left is not asked");
    under_way_[o.source].push_back(o.what);
    GOSSAMER_ASSERT(under_way_[o.source].size() <= window, "no more is under way than may be");
  }
  void obey(const look_order& o) { fetch_.found(o.what, input_.text(input_.number()), now_); }
  void obey(const store_order& o) { GOSSAMER_ASSERT(o.bytes == right(o.what), "what is stored is right"); }
  void obey(const finish_order& o) { fetch_.finished(o.file, input_.number() % 2 == 0, now_); }
  void obey(const leave_order& o) {
    left_.insert(o.source);
    under_way_.erase(o.source);
  }

  script& input_;
  fetch fetch_;
  fetch::time now_{0};
  std::set<std::uint32_t> left_;
  std::map<std::uint32_t, std::vector<piece_id>> under_way_;
};

void check_catalogue(script input) {
  file_catalogue told;
  for (auto files = input.number() % 8; files > 0; --files) {
    auto& f = told.files.emplace_back();
    f.role = input.text(input.number(2) % 300);
    f.bytes = input.number(8);
    f.whole = input.text(input.number() % 40);
    f.root = input.text(32);
  }
  std::vector<offered_file> offered;
  if (fuzz::accepts({errc::bad_packet}, [&] { offered = checked(told); }))
    for (const auto& f : offered)
      GOSSAMER_ASSERT(piece_tree{f.bytes}.levels() <= 3, "a size is bounded");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  script input{fuzz::text_of(data, size)};
  check_catalogue(input);
  fetching{input}.run();
  return 0;
}
