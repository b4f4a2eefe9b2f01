// A settings file of another program: read whole, changed in memory, replaced in one step. Unknown
// members stay.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::app {

class SettingsFile {
 public:
  // A file that is not there is an empty object. `InvalidInput` with line and column: it is no
  // plain JSON, such as one with comments, and is left alone.
  static Result<SettingsFile> read(const std::filesystem::path& file);

  const json::object& content() const { return content_; }
  bool existed() const { return text_.has_value(); }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path backup_path() const;

  // Keeps the original file beside it as a backup, once.
  Result<void> replace(const json::object& content) const;
  // Writes `content`. If that equals the content of the backup, the backup replaces the file. A
  // file that would be empty and has no backup is removed.
  Result<void> restore(const json::object& content) const;

 private:
  std::filesystem::path path_;
  std::optional<std::string> text_;
  json::object content_;
};

// With two blanks a level, as these programs write it.
std::string indented_json(const json::value& value);

}  // namespace sallyport::app
