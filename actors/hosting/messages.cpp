#include "gossamer/actors/hosting/messages.hpp"

namespace gossamer::actors {

run_failed describe(const std::exception_ptr& problem, const std::string& who) {
  try {
    std::rethrow_exception(problem);
  } catch (const error& e) {
    return {e.code(), e.sentence(), e.remedy()};
  } catch (const std::bad_alloc&) {
    return {errc::failed, who + " ran out of memory", "use fewer workers or a smaller model"};
  } catch (const std::exception& e) {
    return {errc::failed, who + " failed: " + e.what(), {}};
  } catch (...) {
    return {errc::failed, who + " failed for an unknown reason", {}};
  }
}

} // namespace gossamer::actors
