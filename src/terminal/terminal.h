// Output for people: colours on a terminal, and no character that hides or moves another, whatever
// the source of the text (AP-39).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/visible_text.h"
#include "machine/environment.h"

namespace sallyport::app {

// Code points, which is what a terminal shows of `visible` text, wide characters apart.
std::size_t columns(std::string_view text);

// Exactly `width` columns: padded with blanks, or cut with an ellipsis.
std::string fitted(std::string_view text, std::size_t width);

// At most `width` columns.
std::string shortened(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at blanks; each but the first begins with `indent`
// blanks. A word that is longer than a line stays whole, on a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t indent);

enum class ColorMode { Auto, Always, Never };
enum class Paint { Good, Bad, Doubtful, Faint, Strong };

class Terminal {
 public:
  // For tests, and for callers that know better.
  struct Traits {
    bool colour = false;
    bool signs = false;  // marks beyond ASCII
    std::size_t width = 160;
  };
  explicit Terminal(Traits traits) : traits_(traits) {}

  // Auto: colours on a terminal that is not dumb, unless NO_COLOR is set.
  static Terminal on(int descriptor, ColorMode mode, const Environment& environment);

  std::string paint(Paint paint, std::string_view text) const;
  std::string mark(bool good) const;  // a check mark or a cross; `ok` or `FAILED` in a pipe
  bool colour() const { return traits_.colour; }
  std::size_t width() const { return traits_.width; }

 private:
  Traits traits_;
};

}  // namespace sallyport::app
