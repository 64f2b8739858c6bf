#include "gossamer/actors/fetch/fetching.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

namespace gossamer::actors {

namespace {

constexpr std::chrono::nanoseconds between_looks = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds first_line_after = std::chrono::seconds(1),
                                   longest_between_lines = std::chrono::minutes(1);
constexpr std::size_t orders_a_turn = 64; // before listening to sources again
constexpr std::uint32_t leader = 0;       // number of the leader's source
constexpr std::ptrdiff_t most_asked = 4;  // sources at a time
constexpr auto lacking = std::numeric_limits<std::uint32_t>::max();

/// "train (12 MiB)": a file in messages. A peer has chosen its name.
std::string name_of(const offered_file& f) { return fmt::format("{} ({})", printable(f.role), byte_count(f.bytes)); }

std::string node_count(std::ptrdiff_t nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); }

/// Fetches files from members of the run into the cache. Long work is done a little at a time, since the leader waits
/// for signs of life of this node, and the user may want it to stop.
class fetching {
public:
  fetching(const fetching_settings& s, const fetch_settings& how, const file_talk& talk)
      : talk_(talk), how_(how), cache_(s.cache), sources_(talk.sources.size()) {
    how_.bytes_per_second = s.bytes_per_second;
  }

  compute::data_files run() {
    describe();
    for (const auto number : by_content())
      open(number);
    if (!open_.empty())
      fetch_all();
    compute::data_files result;
    for (const auto& f : files_)
      result.emplace(f.role, cache_.path_of(f.whole).string());
    return result;
  }

private:
  /// A file that the cache lacks, by its number in the fetch.
  struct open_file {
    offered_file about;
    std::unique_ptr<partial_file> file;
  };

  /// A member of the run, as this node knows it.
  struct source {
    enum class standing { unasked, asked, known, used, lost };
    standing is = standing::unasked;
    fetch::time asked_at{};
    std::vector<offered_file> files = {};    // as the source has described them
    std::vector<std::uint32_t> numbers = {}; // of the open files, in the source's catalogue
    bool has_sent = false;                   // at least one piece
  };
  using standing = source::standing;

  // -- sources --------------------------------------------------------------------------------------------------------

  /// Gets the catalogue from the leader, or from another source if that takes long or fails.
  void describe() {
    ask(leader);
    while (!is_described_) {
      listen(between_looks);
      require_sources();
    }
  }

  void ask(std::uint32_t number) {
    sources_[number].is = standing::asked;
    sources_[number].asked_at = talk_.now();
    talk_.ask_for_all(number);
  }

  /// Asks one source for its catalogue, or some sources for pieces. A source reads all of its files first: a slow one
  /// is no longer waited for, but may join later.
  void invite() {
    const auto is_busy = [&](const source& s) {
      return s.is == standing::used || (s.is == standing::asked && talk_.now() - s.asked_at < how_.patience);
    };
    const std::ptrdiff_t wanted = fetch_ ? most_asked : is_described_ ? 0 : 1;
    while (next_ < sources_.size() && std::ranges::count_if(sources_, is_busy) < wanted) {
      const auto number = static_cast<std::uint32_t>((talk_.first + next_++) % sources_.size());
      if (sources_[number].is == standing::unasked)
        ask(number);
      else if (sources_[number].is == standing::known)
        use(number);
    }
  }

  /// Starts to use a source for the wanted files that it has with the same content.
  void use(std::uint32_t number) {
    auto& s = sources_[number];
    std::set<std::uint32_t> lacks;
    for (std::uint32_t k = 0; k < open_.size(); ++k) {
      const auto found = std::ranges::find(s.files, open_[k].about.root, &offered_file::root);
      const bool has = found != s.files.end() && found->bytes == open_[k].about.bytes;
      s.numbers.push_back(has ? static_cast<std::uint32_t>(found - s.files.begin()) : lacking);
      if (!has)
        lacks.insert(k);
    }
    if (lacks.size() == open_.size())
      return lose(number, "has other files");
    s.is = standing::used;
    fetch_->came(number, talk_.now(), std::move(lacks));
  }

  void lose(std::uint32_t number, const std::string& why) {
    sources_[number].is = standing::lost;
    lost_ = fmt::format("{} {}", talk_.sources[number], why);
    talk_.tell(lost_);
    if (fetch_)
      fetch_->gone(number, talk_.now());
  }

  /// @error errc::failed if no source has the wanted files, or will answer
  void require_sources() const {
    const bool is_served = fetch_ && (fetch_->done() || !fetch_->deserted());
    const bool is_hopeful =
        next_ < sources_.size() || std::ranges::any_of(sources_, [](const auto& s) { return s.is == standing::asked; });
    if (!is_served && !is_hopeful)
      throw error(errc::failed, fmt::format("the data cannot be fetched: {}", lost_),
                  "start the node again: it goes on with what it has got");
  }

  // -- messages of sources --------------------------------------------------------------------------------------------

  void listen(std::chrono::nanoseconds wait) {
    auto news = talk_.hear(wait);
    if (news && sources_[news->source].is != standing::lost)
      std::visit([&](auto& what) { take(news->source, what); }, news->what);
    if (fetch_)
      fetch_->tick(talk_.now());
    invite();
  }
  void take(std::uint32_t number, const file_catalogue& told) {
    auto& s = sources_[number];
    if (s.is != standing::asked)
      return;
    try {
      s.files = checked(told);
      s.is = standing::known;
    } catch (const error& e) {
      return lose(number, "says something strange: " + e.sentence());
    }
    if (fetch_)
      return use(number);
    if (!std::exchange(is_described_, true)) {
      files_ = s.files;
      next_ = 0;
    }
  }
  void take(std::uint32_t number, piece& p) {
    if (!fetch_)
      return;
    sources_[number].has_sent = true;
    fetch_->got(number, as_fetched(sources_[number], p.what), std::move(p.bytes), p.receipt, talk_.now());
  }
  void take(std::uint32_t number, const source_lost& l) { lose(number, l.why); }

  /// Translates a source's number of a file to the fetch's. A file that is not fetched gets a number that was never
  /// asked for.
  static piece_id as_fetched(const source& from, piece_id told) {
    told.file = static_cast<std::uint32_t>(std::ranges::find(from.numbers, told.file) - from.numbers.begin());
    return told;
  }

  // -- files ----------------------------------------------------------------------------------------------------------

  /// The order in which files are opened: it depends on contents only, not on names, so that no two processes with the
  /// same cache wait for each other.
  std::vector<std::uint32_t> by_content() const {
    std::vector<std::uint32_t> numbers(files_.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::ranges::sort(numbers, {}, [this](std::uint32_t k) { return files_[k].whole; });
    return numbers;
  }

  /// Ends with the file in the cache, or with an open file that no other process fetches.
  void open(std::uint32_t number) {
    const auto& f = files_[number];
    const auto same = [&](const open_file& other) { return other.about.whole == f.whole; };
    for (bool told = false; !is_cached(f) && !std::ranges::any_of(open_, same); told = true) {
      if (auto file = cache_.open_partial(f.whole)) {
        open_.push_back({f, std::move(file)});
        return;
      }
      if (!told)
        talk_.tell(fmt::format("waits for another process of this machine, which fetches {}", name_of(f)));
      listen(between_looks);
    }
  }

  bool is_cached(const offered_file& f) {
    if (!cache_.has(f.whole))
      return false;
    if (digest_at(cache_.path_of(f.whole)) == f.whole)
      return true;
    talk_.tell(fmt::format("{} in the cache is damaged, and is fetched again", name_of(f)));
    cache_.remove(f.whole);
    return false;
  }

  digest digest_at(const std::filesystem::path& path) {
    file_check check{path};
    while (true) {
      if (const auto result = check.step())
        return *result;
      listen({});
    }
  }

  void fetch_all() {
    fetch_.emplace(wanted(), how_, talk_.now());
    const auto begun = talk_.now();
    told_ = begun;
    invite();
    while (!fetch_->done()) {
      obey(fetch_->take());
      if (orders_.empty()) // otherwise some orders give the reason why a source is left
        require_sources();
      const auto wait = orders_.empty() ? fetch_->wakes_at() - talk_.now() : fetch::time{0};
      listen(std::clamp(wait, fetch::time{0}, between_looks));
      tell_progress();
    }
    const auto& p = fetch_->progress();
    const auto seconds = std::chrono::duration<double>{talk_.now() - begun}.count();
    talk_.tell(fmt::format("has fetched {} from {} in {:.3g} s; kept in {}", byte_count(p.bytes - p.found),
                           node_count(std::ranges::count_if(sources_, &source::has_sent)), seconds,
                           cache_.folder().string()));
  }

  std::vector<wanted_file> wanted() {
    std::vector<wanted_file> result;
    std::uint64_t all = 0, on_disk = 0;
    for (const auto& [about, file] : open_) {
      file->resize(std::min(file->bytes(), about.bytes));
      result.push_back({about.bytes, about.root, file->bytes(), name_of(about)});
      all += about.bytes;
      on_disk += file->bytes();
    }
    cache_.require_room(all - on_disk);
    talk_.tell(fmt::format("fetches {} file{} of the data, {}{}", open_.size(), open_.size() == 1 ? "" : "s",
                           byte_count(all),
                           on_disk > 0 ? fmt::format("; {} may be here from before", byte_count(on_disk)) : ""));
    return result;
  }

  // -- orders of the fetch --------------------------------------------------------------------------------------------

  void obey(std::vector<fetch_order> orders) {
    std::ranges::move(orders, std::back_inserter(orders_));
    for (std::size_t k = 0; k < orders_a_turn && !orders_.empty(); ++k) {
      const auto order = std::move(orders_.front());
      orders_.pop_front();
      std::visit([this](const auto& o) { obey(o); }, order);
      std::ranges::move(fetch_->take(), std::back_inserter(orders_));
    }
  }
  void obey(const ask_order& o) {
    talk_.ask_for_piece(o.source, {{sources_[o.source].numbers[o.what.file], o.what.level, o.what.index}, o.receipt});
  }
  void obey(const look_order& o) {
    fetch_->found(o.what, open_[o.what.file].file->read(o.what.index * piece_bytes, piece_bytes), talk_.now());
  }
  void obey(const store_order& o) { open_[o.what.file].file->write(o.what.index * piece_bytes, o.bytes); }
  void obey(const finish_order& o) {
    const auto& [about, file] = open_[o.file];
    const bool right = digest_at(file->path()) == about.whole;
    if (right)
      file->keep();
    fetch_->finished(o.file, right, talk_.now());
    if (!fetch_->failure().empty())
      throw error(errc::failed, fmt::format("{} cannot be fetched: {}", about.role, fetch_->failure()),
                  "use the same version of the program on all nodes");
  }
  void obey(const leave_order& o) { lose(o.source, o.why); }

  void tell_progress() {
    if (talk_.now() - told_ < between_lines_)
      return;
    told_ = talk_.now();
    between_lines_ = std::min(2 * between_lines_, longest_between_lines);
    const auto& p = fetch_->progress();
    talk_.tell(fmt::format("has {} of {} of the data", byte_count(p.bytes), byte_count(p.all)));
  }

  const file_talk& talk_;
  fetch_settings how_;
  data_cache cache_;
  std::vector<source> sources_; // by number
  std::size_t next_ = 0;        // index into the sources in their order, from `first` on
  std::string lost_;            // the last lost source, and the reason
  bool is_described_ = false;
  std::vector<offered_file> files_;
  std::vector<open_file> open_; // files that the cache lacks
  std::optional<fetch> fetch_;
  std::deque<fetch_order> orders_;
  fetch::time told_{}, between_lines_ = first_line_after;
};

} // namespace

compute::data_files fetch_files(const fetching_settings& settings, const fetch_settings& how, const file_talk& talk) {
  return fetching{settings, how, talk}.run();
}

} // namespace gossamer::actors
