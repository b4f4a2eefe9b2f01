// Patterns for paths below a folder, as `.gitignore` reads them.
//
//   PathGlob::parse("*.key")->covers("a/b.key");        // true: a name at any depth
//   PathGlob::parse("secret/**")->covers("secret/a");   // true: with a slash, from the folder on
//   PathGlob::parse("secret")->covers("secret/a/b");    // true: everything below it
//
// `*`, `?` and `[a-z]` match within a name, also a dot at its start. `**` matches any number of
// folders, `{a,b}` one of several names. `\` escapes the next character.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::agent {

class PathGlob {
 public:
  // `InvalidInput`: empty, too long, or with too many alternatives.
  static Result<PathGlob> parse(std::string_view pattern);

  const std::string& text() const { return text_; }
  // True if the pattern matches the path itself.
  bool matches(std::string_view path) const;
  // True if the pattern matches the path or a folder above it.
  bool covers(std::string_view path) const;

 private:
  using Names = std::vector<std::string>;

  std::string text_;
  std::vector<Names> alternatives_;
};

}  // namespace sallyport::agent
