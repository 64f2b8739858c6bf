#include "gossamer/apps/detail/told.hpp"

#include <nlohmann/json.hpp>

namespace gossamer::apps {

namespace {

using json = nlohmann::ordered_json;

std::string told(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string told(errc code, const std::string& sentence, const std::string& remedy) {
  return told(json{{"code", code}, {"sentence", sentence}, {"remedy", remedy}});
}

} // namespace

std::string tell(const std::function<json()>& work) {
  try {
    return told(json{{"result", work()}});
  } catch (const error& e) {
    return told(e.code(), e.sentence(), e.remedy());
  } catch (const std::exception& e) {
    return told(errc::failed, e.what(), "");
  }
}

std::optional<error> understand(const process_end& end, json& result) {
  if (!end.returned)
    return error{errc::failed, end.text};
  auto said = json::parse(end.text);
  if (said.contains("code"))
    return error{said["code"].get<errc>(), said["sentence"], said["remedy"]};
  result = std::move(said["result"]);
  return {};
}

} // namespace gossamer::apps
