#include "gossamer/actors/worlds/fetching.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

namespace gossamer::actors {

namespace {

constexpr std::chrono::nanoseconds between_looks = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds first_line_after = std::chrono::seconds(1),
                                   longest_between_lines = std::chrono::minutes(1);
constexpr std::size_t orders_a_turn = 64; // then others are listened to again
constexpr std::uint32_t leader = 0;       // the only source, so far

/// "train (12 MiB)": what a file is for people. Its name is somebody else's.
std::string name_of(const offered_file& f) { return fmt::format("{} ({})", printable(f.role), byte_count(f.bytes)); }

/// Files from the leader into the cache. Whatever takes long is done a little at a time, because the leader wants to
/// hear of this node, and the user may want it to stop.
class fetching {
public:
  fetching(const fetching_settings& s, const fetch_settings& how, const file_talk& talk)
      : talk_(talk), how_(how), cache_(s.cache) {
    how_.bytes_per_second = s.bytes_per_second;
  }

  compute::data_files run() {
    talk_.ask_for_all({});
    files_ = checked(catalogue());
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
  /// The fetch numbers these by their own order.
  struct open_file {
    offered_file about;
    std::uint32_t number; // in the catalogue
    std::unique_ptr<partial_file> file;
  };

  file_catalogue catalogue() {
    while (true) {
      auto news = talk_.hear(between_looks);
      if (news && std::holds_alternative<file_catalogue>(*news))
        return std::get<file_catalogue>(std::move(*news));
    }
  }

  /// The order in which files are opened: the same for all who share the cache, whatever they call a file, so that no
  /// two of them wait for each other.
  std::vector<std::uint32_t> by_content() const {
    std::vector<std::uint32_t> numbers(files_.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::ranges::sort(numbers, {}, [this](std::uint32_t k) { return files_[k].whole; });
    return numbers;
  }

  /// Leads to a file in the cache, or to one that nobody else fetches.
  void open(std::uint32_t number) {
    const auto& f = files_[number];
    const auto same = [&](const open_file& other) { return other.about.whole == f.whole; };
    for (bool told = false; !is_cached(f) && !std::ranges::any_of(open_, same); told = true) {
      if (auto file = cache_.open_partial(f.whole)) {
        open_.push_back({f, number, std::move(file)});
        return;
      }
      if (!told)
        talk_.tell(fmt::format("waits for another process of this machine, which fetches {}", name_of(f)));
      talk_.hear(between_looks);
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
      talk_.hear({});
    }
  }

  void fetch_all() {
    fetch_.emplace(wanted(), how_, talk_.now());
    const auto begun = talk_.now();
    told_ = begun;
    fetch_->came(leader, begun);
    while (!fetch_->done()) {
      obey(fetch_->take());
      hear();
      tell_progress();
    }
    const auto& p = fetch_->progress();
    const auto seconds = std::chrono::duration<double>{talk_.now() - begun}.count();
    talk_.tell(fmt::format("has fetched {} in {:.3g} s; kept in {}", byte_count(p.bytes - p.found), seconds,
                           cache_.folder().string()));
  }

  std::vector<wanted_file> wanted() {
    std::vector<wanted_file> result;
    std::uint64_t all = 0, on_disk = 0;
    for (const auto& [about, number, file] : open_) {
      file->resize(std::min(file->bytes(), about.bytes));
      result.push_back({about.bytes, about.root, file->bytes()});
      all += about.bytes;
      on_disk += file->bytes();
    }
    cache_.require_room(all - on_disk);
    talk_.tell(fmt::format("fetches {} file{} of the data from the leader, {}{}", open_.size(),
                           open_.size() == 1 ? "" : "s", byte_count(all),
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
    talk_.ask_for_piece({{open_[o.what.file].number, o.what.level, o.what.index}, o.receipt});
  }
  void obey(const look_order& o) {
    fetch_->found(o.what, open_[o.what.file].file->read(o.what.index * piece_bytes, piece_bytes), talk_.now());
  }
  void obey(const store_order& o) { open_[o.what.file].file->write(o.what.index * piece_bytes, o.bytes); }
  void obey(const finish_order& o) {
    const auto& [about, number, file] = open_[o.file];
    const bool right = digest_at(file->path()) == about.whole;
    if (right)
      file->keep();
    fetch_->finished(o.file, right, talk_.now());
    if (!fetch_->failure().empty())
      throw error(errc::failed, fmt::format("{} cannot be fetched: {}", about.role, fetch_->failure()),
                  "use the same version of the program on all nodes");
  }
  [[noreturn]] void obey(const leave_order& o) const {
    throw error(errc::failed, "the data cannot be fetched: the leader " + o.why,
                "start the node again: it goes on with what it has got");
  }

  /// What the leader calls so. One that is not fetched becomes none that was asked for.
  piece_id as_fetched(piece_id told) const {
    const auto found = std::ranges::find(open_, told.file, &open_file::number);
    told.file = static_cast<std::uint32_t>(found - open_.begin());
    return told;
  }

  void hear() {
    const auto now = talk_.now();
    const auto wait =
        orders_.empty() ? std::clamp(fetch_->wakes_at() - now, fetch::time{0}, between_looks) : fetch::time{0};
    auto news = talk_.hear(wait);
    if (auto* p = news ? std::get_if<piece>(&*news) : nullptr)
      fetch_->got(leader, as_fetched(p->what), std::move(p->bytes), p->receipt, talk_.now());
    else
      fetch_->tick(talk_.now());
  }

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
  std::vector<offered_file> files_;
  std::vector<open_file> open_; // those that the cache lacks
  std::optional<fetch> fetch_;
  std::deque<fetch_order> orders_;
  fetch::time told_{}, between_lines_ = first_line_after;
};

} // namespace

compute::data_files fetch_files(const fetching_settings& settings, const fetch_settings& how, const file_talk& talk) {
  return fetching{settings, how, talk}.run();
}

} // namespace gossamer::actors
