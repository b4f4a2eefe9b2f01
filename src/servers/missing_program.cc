#include "servers/missing_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace sallyport::app {

namespace {

bool can_be_started(const std::filesystem::path& file) {
  std::error_code code;
  return std::filesystem::is_regular_file(file, code) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::string missing_program(const std::vector<std::string>& command, const std::string& path) {
  const std::string& program = command.front();
  if (program.find('/') != std::string::npos) {
    return can_be_started(program)
               ? std::string()
               : fmt::format("`{}` is not a program that can be started", program);
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (can_be_started(std::filesystem::path(path.substr(begin, end - begin)) / program)) return {};
    begin = end + 1;
  }
  return fmt::format("there is no program `{}` in PATH", program);
}

}  // namespace sallyport::app
