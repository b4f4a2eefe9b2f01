#include <errno.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "agent/tool/file_reading.h"
#include "agent/tool/tool_output.h"
#include "base/try.h"
#include "sallyport/json.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::uint64_t kMostCounted = 256u << 20;  // bytes that are read to count lines

struct Magic {
  std::string_view bytes;
  std::string_view type;
};
constexpr Magic kMagics[] = {
    {"\x7f"
     "ELF",
     "application/x-executable"},
    {"\x89PNG\r\n\x1a\n", "image/png"},
    {"\xff\xd8\xff", "image/jpeg"},
    {"GIF8", "image/gif"},
    {"%PDF-", "application/pdf"},
    {"PK\x03\x04", "application/zip"},
    {"\x1f\x8b", "application/gzip"},
    {"\x28\xb5\x2f\xfd", "application/zstd"},
    {"\xfd"
     "7zXZ",
     "application/x-xz"},
    {"BZh", "application/x-bzip2"},
    {"SQLite format 3", "application/vnd.sqlite3"},
};

std::string binary(std::string_view path, const struct stat& state, std::string_view start) {
  std::string_view type = "application/octet-stream";
  for (const Magic& magic : kMagics) {
    if (start.starts_with(magic.bytes)) type = magic.type;
  }
  return fmt::format("[`{:.200}` is a binary file of {} bytes, type {}; its bytes are not shown]",
                     path, state.st_size, type);
}

// Reads a file line by line, keeps the requested lines and counts the others.
class LineWindow {
 public:
  LineWindow(std::uint64_t first, std::uint64_t count) : first_(first), count_(count) {}

  void add(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      const bool whole = end != std::string_view::npos;
      const std::string_view part = piece.substr(0, end);
      if (wanted()) {
        // Of a line that is longer than a result, only the beginning is kept.
        line_.append(part.substr(0, kMostBytes - std::min(kMostBytes, line_.size())));
      }
      length_ += part.size();
      open_ = true;
      if (!whole) return;
      close_line();
      piece.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (open_ && length_ > 0) close_line();
  }

  std::uint64_t lines() const { return number_ - 1; }  // that were closed
  std::uint64_t last() const { return first_ + lines_.taken() - 1; }
  bool valid() const { return valid_; }
  std::uint64_t cut_line() const { return cut_line_; }
  std::uint64_t cut_length() const { return cut_length_; }
  BoundedLines& taken() { return lines_; }

 private:
  bool wanted() const { return number_ >= first_ && number_ - first_ < count_ && !lines_.full(); }
  void close_line() {
    if (wanted()) {
      if (length_ > line_.size() || line_.size() + 1 > kMostBytes - 512) {
        // The cut may break a character: the rest must be UTF-8.
        for (int more = 0; more < 3 && !is_utf8(line_); ++more) line_.pop_back();
        if (lines_.taken() == 0) {
          cut_line_ = number_;
          cut_length_ = length_;
        }
      }
      valid_ = valid_ && is_utf8(line_) && line_.find('\0') == std::string::npos;
      lines_.add(line_);
    }
    line_.clear();
    length_ = 0;
    open_ = false;
    ++number_;
  }

  std::uint64_t first_;
  std::uint64_t count_;
  std::uint64_t number_ = 1;  // of the line that is open
  std::uint64_t length_ = 0;
  std::string line_;
  bool open_ = false;
  bool valid_ = true;
  std::uint64_t cut_line_ = 0;
  std::uint64_t cut_length_ = 0;
  BoundedLines lines_;
};

std::string note_of(const LineWindow& window, std::uint64_t lines, bool counted_all) {
  std::string note;
  if (window.cut_line() > 0) {
    note = fmt::format("[line {} has {} bytes, and only its beginning is shown] ",
                       window.cut_line(), window.cut_length());
  }
  const std::uint64_t last = window.last();
  if (last >= lines) return note;
  return note + fmt::format("[lines {} to {}{} left out; read on with offset {}]", last + 1, lines,
                            counted_all ? "" : " and more", last + 1);
}

}  // namespace

Result<std::string> read_file(const Roots& roots, const ReadFile& query, std::stop_token cancel) {
  SALLYPORT_TRY(const Found found, roots.find(query.path));
  SALLYPORT_TRY(const Descriptor file, roots.open_text(found, query.path));
  const std::uint64_t first = std::max<std::uint64_t>(query.offset, 1);
  LineWindow window(first, query.limit.value_or(kMostLines));
  std::array<char, kPiece> buffer;
  std::uint64_t size = 0;
  bool all = true;
  std::string start;
  while (true) {
    if (cancel.stop_requested()) return fail(ErrorCode::Cancelled, "cancelled");
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::Unavailable,
                  fmt::format("`{:.200}` cannot be read: {}", query.path, std::strerror(errno)));
    }
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    if (size == 0) {
      start = piece.substr(0, 64);
      if (piece.find('\0') != std::string_view::npos) return binary(query.path, found.state, start);
    }
    if (got == 0) break;
    size += piece.size();
    window.add(piece);
    if (size > kMostCounted) {
      all = false;
      break;
    }
  }
  window.finish();
  if (!window.valid()) return binary(query.path, found.state, start);
  if (size == 0) return std::string("[the file is empty]");
  if (window.taken().taken() == 0) {
    if (query.limit == 0) return fail(ErrorCode::InvalidInput, "`limit` is 0");
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("`offset` {} is after the last line, which is {}", first, window.lines()));
  }
  const std::string note = note_of(window, window.lines(), all);
  return std::move(window.taken()).text(note);
}

}  // namespace sallyport::agent
