#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace gossamer::test {

/// Sets a variable of the environment, and restores its old value. Threads: no other may read the environment.
class environment_variable {
public:
  environment_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name))
      before_ = before;
    setenv(name, value.c_str(), 1);
  }
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;
  ~environment_variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }

private:
  const char* name_;
  std::optional<std::string> before_;
};

} // namespace gossamer::test
