#include "setup/settings_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstring>

#include "base/try.h"
#include "machine/replaced_file.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestFile = 8u << 20;

Result<std::optional<std::string>> text_of(const std::filesystem::path& file) {
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return std::nullopt;
  SALLYPORT_TRY(std::string text, read_input(file, kLargestFile + 1));
  if (text.size() > kLargestFile) {
    return fail(ErrorCode::InvalidInput, "the file is over 8 MiB", file.string());
  }
  return std::optional(std::move(text));
}

Result<json::object> object_of(std::string_view text, const std::filesystem::path& file) {
  if (trimmed(text).empty()) return json::object();
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) {
    return fail(ErrorCode::InvalidInput,
                parsed.error().message + "; it is left alone, use --print and add it by hand",
                fmt::format("{}:{}", file.string(), parsed.error().where));
  }
  if (!parsed->value.is_object() || !parsed->exact) {
    return fail(ErrorCode::InvalidInput,
                "this is not a JSON object that could be written back as it was; it is left alone, "
                "use --print and add it by hand",
                file.string());
  }
  return parsed->value.get_object();
}

void append_indented(std::string& out, const json::value& value, std::size_t depth) {
  const auto line = [&](std::size_t level) { out += '\n' + std::string(2 * level, ' '); };
  if (const json::object* const object = value.if_object(); object && !object->empty()) {
    out += '{';
    const char* comma = "";
    for (const auto& member : *object) {
      out += std::exchange(comma, ",");
      line(depth + 1);
      out += json::serialize(json::value(member.key())) + ": ";
      append_indented(out, member.value(), depth + 1);
    }
    line(depth);
    out += '}';
  } else if (const json::array* const array = value.if_array(); array && !array->empty()) {
    out += '[';
    const char* comma = "";
    for (const json::value& item : *array) {
      out += std::exchange(comma, ",");
      line(depth + 1);
      append_indented(out, item, depth + 1);
    }
    line(depth);
    out += ']';
  } else if (value.is_double()) {
    append_canonical_number(out, value.get_double());
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

Result<SettingsFile> SettingsFile::read(const std::filesystem::path& file) {
  SettingsFile settings;
  std::error_code code;
  // A link stays one: what it points at is changed.
  settings.path_ = std::filesystem::weakly_canonical(file, code);
  if (code) settings.path_ = file;
  SALLYPORT_TRY(settings.text_, text_of(settings.path_));
  if (settings.text_) {
    SALLYPORT_TRY(settings.content_, object_of(*settings.text_, settings.path_));
  }
  return settings;
}

std::filesystem::path SettingsFile::backup_path() const {
  return path_.string() + ".before-sallyport";
}

Result<void> SettingsFile::replace(const json::object& content) const {
  std::error_code code;
  if (text_ && !std::filesystem::exists(backup_path(), code)) {
    SALLYPORT_CHECK_OK(replace_file(backup_path(), *text_));
  }
  return replace_file(path_, indented_json(content) + "\n");
}

Result<void> SettingsFile::restore(const json::object& content) const {
  std::error_code code;
  SALLYPORT_TRY(const std::optional<std::string> kept, text_of(backup_path()));
  if (!kept) {
    if (!content.empty()) return replace_file(path_, indented_json(content) + "\n");
    std::filesystem::remove(path_, code);
    return {};
  }
  const Result<json::object> before = object_of(*kept, backup_path());
  if (!before || *before != content) return replace_file(path_, indented_json(content) + "\n");
  SALLYPORT_CHECK_OK(replace_file(path_, *kept));
  std::filesystem::remove(backup_path(), code);
  return {};
}

std::string indented_json(const json::value& value) {
  std::string out;
  append_indented(out, value, 0);
  return out;
}

}  // namespace sallyport::app
