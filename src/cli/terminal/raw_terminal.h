// The terminal as a screen of lines and a row of keys, for as long as this lives. The previous
// content comes back afterwards.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::app {

class RawTerminal {
 public:
  // `Conflict`: input or output is not a terminal.
  static Result<RawTerminal> open();
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };
  Size size() const;

  // The whole screen; lines that are too many are not drawn.
  void draw(const std::vector<std::string>& lines);
  // Returns the next key: a character, `up`, `down`, `next`, `back`; empty for an unknown key. No
  // value: the input has ended.
  std::optional<std::string> key();

  // Gives the terminal back for a while, for a question that is asked on it line by line.
  void leave();
  void enter();

 private:
  explicit RawTerminal(const termios& usual) : usual_(usual) {}

  termios usual_;
  bool entered_ = false;
};

}  // namespace sallyport::app
