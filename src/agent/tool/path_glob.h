// Patterns for paths below a folder, as `.gitignore` reads them.
//
//   PathGlob::parse("*.key")->covers("a/b.key");        // true: a name at any depth
//   PathGlob::parse("secret/**")->covers("secret/a");   // true: with a slash, from the folder on
//   PathGlob::parse("secret")->covers("secret/a/b");    // true: all that lies below
//
// `*`, `?` and `[a-z]` match within a name, also a dot at its start; `**` any number of folders;
// `{a,b}` one of several. `\` takes the meaning of the next letter.
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
  // The path itself.
  bool matches(std::string_view path) const;
  // The path, or a folder above it.
  bool covers(std::string_view path) const;

 private:
  using Names = std::vector<std::string>;

  std::string text_;
  std::vector<Names> alternatives_;
};

}  // namespace sallyport::agent
