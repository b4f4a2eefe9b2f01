#include "cli/approvals/watch_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_members.h"
#include "base/visible_text.h"
#include "people/approval_page.h"

namespace sallyport::app {

namespace {

std::string text_of(const ApprovalItem& item, std::string_view name) {
  return visible(text_in(item.request, name).value_or(""));
}

// A line that is too wide goes on in the next row: nothing is cut (AP-41).
void add_wrapped(std::vector<std::string>& rows, std::string line, std::size_t width) {
  while (columns(line) > width) {
    std::size_t end = 0;
    for (std::size_t column = 0; column < width; ++column) {
      ++end;
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
    }
    rows.push_back(line.substr(0, end));
    line.erase(0, end);
  }
  rows.push_back(std::move(line));
}

}  // namespace

void WatchView::take(std::vector<ApprovalItem> items) {
  const std::string before = chosen() ? chosen()->id : "";
  items_ = std::move(items);
  const auto found = std::ranges::find(items_, before, &ApprovalItem::id);
  if (found != items_.end()) {
    at_ = static_cast<std::size_t>(found - items_.begin());
    return;
  }
  // The selection never moves under the fingers of a person who is about to answer.
  at_ = 0;
  page_ = 0;
  full_ = false;
  question_.clear();
}

const ApprovalItem* WatchView::chosen() const {
  return at_ < items_.size() ? &items_[at_] : nullptr;
}

void WatchView::move(int by) {
  if (items_.empty()) return;
  const int last = static_cast<int>(items_.size()) - 1;
  at_ = static_cast<std::size_t>(std::clamp(static_cast<int>(at_) + by, 0, last));
  page_ = 0;
  full_ = false;
}

std::vector<std::string> WatchView::lines(RawTerminal::Size size, const Terminal& terminal,
                                          WallTime now) {
  std::vector<std::string> lines;
  lines.push_back(terminal.paint(
      Paint::Strong,
      shortened(
          fmt::format("{} waiting", items_.empty() ? "nothing is" : fmt::to_string(items_.size())),
          size.columns)));
  const std::size_t list = std::min(items_.size(), std::max<std::size_t>(size.rows / 3, 1));
  add_list(lines, list, size.columns, terminal, now);
  lines.push_back(std::string(size.columns, '-'));
  const std::size_t rest = size.rows > lines.size() + 2 ? size.rows - lines.size() - 2 : 1;
  add_page(lines, rest, size.columns);
  lines.resize(size.rows - 2);
  lines.push_back(shortened(question_.empty() ? message_ : question_, size.columns));
  lines.push_back(terminal.paint(
      Paint::Faint,
      shortened("a approve   d deny   j/k move   space/b page   f show whole   r reveal   q quit",
                size.columns)));
  return lines;
}

void WatchView::add_list(std::vector<std::string>& lines, std::size_t rows, std::size_t width,
                         const Terminal& terminal, WallTime now) const {
  const std::size_t first = at_ < rows ? 0 : at_ - rows + 1;
  for (std::size_t i = first; i < std::min(items_.size(), first + rows); ++i) {
    const ApprovalItem& item = items_[i];
    std::string line =
        fmt::format("{} {:<16} {:>7}  {} by {}", i == at_ ? '>' : ' ', text_of(item, "action"),
                    age_of(text_of(item, "requested_at"), now),
                    with_lookalikes(text_of(item, "tool_name")), text_of(item, "agent_id"));
    if (item.state.required > 1) {
      line +=
          fmt::format("  ({} of {} said yes)", item.state.counted().size(), item.state.required);
    }
    if (!item.hidden.empty()) line += item.exact ? "  (has secrets)" : "  (hides something)";
    line = shortened(line, width);
    lines.push_back(i == at_ ? terminal.paint(Paint::Strong, line) : line);
  }
}

void WatchView::add_page(std::vector<std::string>& lines, std::size_t rows, std::size_t width) {
  if (chosen() == nullptr) return;
  std::vector<std::string> page;
  for (std::string& line : approval_page(*chosen(), nullptr, full_)) {
    add_wrapped(page, std::move(line), width);
  }
  if (page.size() <= rows) {
    lines.insert(lines.end(), page.begin(), page.end());
    return;
  }
  const std::size_t shown = std::max<std::size_t>(rows - 1, 1);
  const std::size_t pages = (page.size() + shown - 1) / shown;
  page_ = std::min(page_, static_cast<int>(pages) - 1);
  const std::size_t first = static_cast<std::size_t>(page_) * shown;
  for (std::size_t i = first; i < std::min(page.size(), first + shown); ++i) {
    lines.push_back(page[i]);
  }
  lines.resize(lines.size() + shown - (std::min(page.size(), first + shown) - first));
  lines.push_back(fmt::format("[page {} of {}; space turns it]", page_ + 1, pages));
}

}  // namespace sallyport::app
