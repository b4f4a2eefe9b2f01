// The screen of `approvals watch`, independent of the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal/age.h"
#include "cli/terminal/raw_terminal.h"
#include "people/approval_items.h"
#include "terminal/terminal.h"

namespace sallyport::app {

class WatchView {
 public:
  // Keeps the chosen item if it is still in the list.
  void take(std::vector<ApprovalItem> items);
  const ApprovalItem* chosen() const;

  void move(int by);
  void turn_page(int by) { page_ = page_ + by < 0 ? 0 : page_ + by; }
  void toggle_full() {
    full_ = !full_;
    page_ = 0;
  }
  void set_message(std::string message) { message_ = std::move(message); }
  void ask(std::string question) { question_ = std::move(question); }  // empty: no question

  std::vector<std::string> lines(RawTerminal::Size size, const Terminal& terminal, WallTime now);

 private:
  void add_list(std::vector<std::string>& lines, std::size_t rows, std::size_t width,
                const Terminal& terminal, WallTime now) const;
  void add_page(std::vector<std::string>& lines, std::size_t rows, std::size_t width);

  std::vector<ApprovalItem> items_;
  std::size_t at_ = 0;
  int page_ = 0;
  bool full_ = false;
  std::string message_;
  std::string question_;
};

}  // namespace sallyport::app
