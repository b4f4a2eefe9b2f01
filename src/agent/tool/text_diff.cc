#include "agent/tool/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/cut_text.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kMostCells = 4'000'000;  // of the table that compares lines
constexpr std::size_t kContext = 3;
constexpr std::size_t kLongestLine = 2'000;  // bytes of a line that are shown

using Lines = std::vector<std::string_view>;

// Each line includes its newline; only the last one may have none.
Lines lines_in(std::string_view text) {
  Lines all;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    all.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return all;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

void add_all(std::vector<Edit>& edits, char sign, const Lines& lines, std::size_t from,
             std::size_t to) {
  for (std::size_t i = from; i < to; ++i) edits.push_back({sign, lines[i]});
}

// Finds the longest common sequence of lines with a table of lengths from the end.
void compare(std::vector<Edit>& edits, const Lines& old_lines, const Lines& new_lines) {
  const std::size_t rows = old_lines.size();
  const std::size_t columns = new_lines.size();
  if (rows == 0 || columns == 0 || rows > kMostCells / columns) {
    add_all(edits, '-', old_lines, 0, rows);
    add_all(edits, '+', new_lines, 0, columns);
    return;
  }
  std::vector<std::uint32_t> common((rows + 1) * (columns + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return common[i * (columns + 1) + j];
  };
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) = old_lines[i] == new_lines[j] ? at(i + 1, j + 1) + 1
                                              : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && old_lines[i] == new_lines[j]) {
      edits.push_back({' ', old_lines[i]});
      ++i, ++j;
    } else if (j == columns || (i < rows && at(i + 1, j) >= at(i, j + 1))) {
      edits.push_back({'-', old_lines[i++]});
    } else {
      edits.push_back({'+', new_lines[j++]});
    }
  }
}

std::vector<Edit> edits_between(const Lines& before, const Lines& after) {
  std::size_t head = 0;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<Edit> edits;
  add_all(edits, ' ', before, 0, head);
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                 lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  compare(edits, middle(before), middle(after));
  add_all(edits, ' ', before, before.size() - tail, before.size());
  return edits;
}

struct Hunk {
  std::size_t from = 0;
  std::size_t to = 0;
};

std::vector<Hunk> hunks_of(const std::vector<Edit>& edits) {
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign == ' ') continue;
    const std::size_t from = i - std::min(i, kContext);
    const std::size_t to = std::min(edits.size(), i + 1 + kContext);
    if (!hunks.empty() && from <= hunks.back().to) {
      hunks.back().to = to;
    } else {
      hunks.push_back({from, to});
    }
  }
  return hunks;
}

std::string line_of(const Edit& edit) {
  std::string text(1, edit.sign);
  const bool whole = edit.line.ends_with('\n');
  const std::string_view line = edit.line.substr(0, edit.line.size() - (whole ? 1 : 0));
  text += cut_utf8_bytes(line, kLongestLine);
  if (line.size() > kLongestLine) text += fmt::format("[{} bytes in all]", line.size());
  text += whole ? "\n" : "\n\\ No newline at end of file\n";
  return text;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name,
                         std::size_t limit) {
  if (before == after) return {};
  const std::vector<Edit> edits = edits_between(lines_in(before), lines_in(after));
  std::string text = fmt::format("--- {}\n+++ {}\n", name, name);
  std::size_t left_out = 0;
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  std::size_t next = 0;
  const auto count = [&](std::size_t from, std::size_t to, char other) {
    return static_cast<std::size_t>(
        std::ranges::count_if(edits.begin() + static_cast<std::ptrdiff_t>(from),
                              edits.begin() + static_cast<std::ptrdiff_t>(to),
                              [other](const Edit& edit) { return edit.sign != other; }));
  };
  for (const Hunk& hunk : hunks_of(edits)) {
    old_line += count(next, hunk.from, '+');
    new_line += count(next, hunk.from, '-');
    const std::size_t old_count = count(hunk.from, hunk.to, '+');
    const std::size_t new_count = count(hunk.from, hunk.to, '-');
    // An empty side is named by the line before it.
    const std::string head =
        fmt::format("@@ -{},{} +{},{} @@\n", old_line - (old_count == 0 ? 1 : 0), old_count,
                    new_line - (new_count == 0 ? 1 : 0), new_count);
    if (left_out == 0) text += head;
    for (std::size_t i = hunk.from; i < hunk.to; ++i) {
      const std::string line = line_of(edits[i]);
      if (left_out > 0 || text.size() + line.size() > limit) {
        ++left_out;
      } else {
        text += line;
      }
    }
    old_line += old_count;
    new_line += new_count;
    next = hunk.to;
  }
  if (left_out > 0) text += fmt::format("[{} more lines of the difference]\n", left_out);
  return text;
}

}  // namespace sallyport::agent
