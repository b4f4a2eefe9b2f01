// Regular expressions of constraints, in the dialect of the matching engine (CG-46).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::match {
class PatternSet;
}

namespace sallyport::grants {

class Patterns {
 public:
  // Matches if a text contains one of them.
  static Result<Patterns> anywhere(std::span<const std::string> patterns);
  // The whole text must match.
  static Result<Patterns> in_full(const std::string& pattern);

  bool match(std::string_view text) const;

 private:
  explicit Patterns(std::shared_ptr<const match::PatternSet> set) : set_(std::move(set)) {}
  std::shared_ptr<const match::PatternSet> set_;
};

}  // namespace sallyport::grants
