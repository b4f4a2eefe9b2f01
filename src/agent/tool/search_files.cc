#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "agent/tool/file_reading.h"
#include "agent/tool/file_walk.h"
#include "agent/tool/tool_output.h"
#include "base/cut_text.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "match/pattern_set.h"
#include "match/scanner.h"
#include "match/utf8.h"
#include "sallyport/json.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLongestPattern = 1'000;
constexpr std::size_t kLongestShown = 400;  // bytes of a line
constexpr std::int64_t kLargestFile = 32 << 20;
constexpr std::size_t kBinaryCheck = 8 * 1024;
constexpr std::uint64_t kMostMatches = kMostLines - 1;

Result<std::shared_ptr<const match::PatternSet>> compile(const std::string& pattern) {
  const auto wrong = [](std::string message) {
    return fail(ErrorCode::InvalidInput, "`pattern`: " + message, "pattern");
  };
  if (pattern.size() > kLongestPattern) {
    return wrong(fmt::format("longer than {} bytes", kLongestPattern));
  }
  const match::Rule rule{.effect = match::Effect::Log, .entries = {{.text = pattern}}};
  auto set = match::PatternSet::compile(std::span(&rule, 1), std::size_t{16} << 20);
  if (!set) return wrong(set.error().message);
  return std::move(*set);
}

// Tests whether the pattern matches in a line. Linear in the length of the line.
class LineMatcher {
 public:
  explicit LineMatcher(const match::PatternSet& set) : scanner_(set) {}

  bool matches(std::string_view line) {
    scanner_.reset();
    found_.clear();
    for (std::size_t at = 0; at < line.size();) {
      at += scanner_.skim(line.substr(at), at);
      if (at >= line.size()) break;
      const match::Decoded next = match::decode_first(line.substr(at));
      scanner_.step({next.character, at, at + next.size}, found_);
      if (!found_.empty()) return true;
      at += next.size;
    }
    scanner_.finish(found_);
    return !found_.empty();
  }

 private:
  match::Scanner scanner_;
  std::vector<match::Match> found_;
};

class Search {
 public:
  Search(const SearchFiles& query, const match::PatternSet& set, std::stop_token cancel)
      : query_(query),
        matcher_(set),
        cancel_(std::move(cancel)),
        end_(std::chrono::steady_clock::now() + query.longest),
        limit_(std::min(query.limit, kMostMatches)) {}

  enum class Why { All, Limit, Time, Size, Cancelled };
  Why why() const { return why_; }

  // False: the search is over.
  bool in_file(const Descriptor& file, std::int64_t size, const std::string& name) {
    if (size > kLargestFile) {
      ++skipped_;
      return go_on();
    }
    const std::optional<std::string> text = text_of(file, size);
    if (!text) return go_on();
    std::string_view rest = *text;
    for (std::uint64_t number = 1; !rest.empty(); ++number) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if ((number % 256 == 0 || line.size() > 65'536) && !go_on()) return false;
      if (!matcher_.matches(line)) continue;
      if (matches_ == limit_) return over(Why::Limit);
      std::string shown = cut_utf8_bytes(line, kLongestShown);
      if (shown.size() < line.size()) shown += "...";
      ++matches_;
      lines_.add(fmt::format("{}:{}: {}", visible(name), number, shown));
      if (lines_.full()) return over(Why::Size);
    }
    return go_on();
  }

  bool go_on() {
    if (cancel_.stop_requested()) return over(Why::Cancelled);
    if (std::chrono::steady_clock::now() >= end_) return over(Why::Time);
    return true;
  }

  std::string text() && {
    std::string note;
    if (why_ == Why::Limit) note = fmt::format("[stopped at the limit of {} matches; ", limit_);
    if (why_ == Why::Size) note = "[stopped at the size of a result; ";
    if (why_ == Why::Time) {
      note = fmt::format("[stopped after {} s; ", query_.longest.count() / 1000.0);
    }
    if (!note.empty()) note += "narrow `path`, `glob` or `pattern` to see the rest]";
    if (skipped_ > 0) {
      note += fmt::format("{}[{} files over {} MiB were not searched]", note.empty() ? "" : " ",
                          skipped_, kLargestFile >> 20);
    }
    if (matches_ == 0 && note.empty()) return "[no match]";
    if (matches_ == 0) note = "[no match] " + note;
    return std::move(lines_).text(note);
  }

 private:
  bool over(Why why) {
    why_ = why;
    return false;
  }

  // No value: the file is binary or cannot be read.
  std::optional<std::string> text_of(const Descriptor& file, std::int64_t size) {
    std::string text;
    text.resize(static_cast<std::size_t>(size));
    std::size_t have = 0;
    while (have < text.size()) {
      const std::size_t wanted = std::min<std::size_t>(text.size() - have, 1u << 20);
      const ssize_t got = ::read(file.get(), text.data() + have, wanted);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      if (have == 0) {
        const std::string_view first(
            text.data(), std::min<std::size_t>(static_cast<std::size_t>(got), kBinaryCheck));
        if (first.find('\0') != std::string_view::npos) return std::nullopt;
      }
      have += static_cast<std::size_t>(got);
      if (!go_on()) return std::nullopt;
    }
    text.resize(have);
    if (text.find('\0') != std::string::npos || !is_utf8(text)) return std::nullopt;
    return text;
  }

  const SearchFiles& query_;
  LineMatcher matcher_;
  std::stop_token cancel_;
  std::chrono::steady_clock::time_point end_;
  std::uint64_t limit_;
  BoundedLines lines_;
  std::uint64_t matches_ = 0;
  std::uint64_t skipped_ = 0;
  Why why_ = Why::All;
};

}  // namespace

Result<std::string> search_files(const Roots& roots, const SearchFiles& query,
                                 std::stop_token cancel) {
  SALLYPORT_TRY(const auto set, compile(query.pattern));
  if (query.limit == 0) return fail(ErrorCode::InvalidInput, "`limit` is 0", "limit");
  std::optional<PathGlob> glob;
  if (!query.glob.empty()) {
    Result<PathGlob> parsed = PathGlob::parse(query.glob);
    if (!parsed) return fail(ErrorCode::InvalidInput, "`glob`: " + parsed.error().message, "glob");
    glob = std::move(*parsed);
  }
  SALLYPORT_TRY(const Found found,
                query.path.empty() ? roots.folder("", "path") : roots.find(query.path));
  Search search(query, *set, std::move(cancel));
  if (!S_ISDIR(found.state.st_mode)) {
    SALLYPORT_TRY(const Descriptor file, roots.open_text(found, query.path));
    (void)search.in_file(file, found.state.st_size, query.path);
  } else {
    // `read_file` opens the names as they are shown.
    std::string folder = query.path == "." || query.path == "./" ? std::string() : query.path;
    if (!folder.empty() && !folder.ends_with('/')) folder += '/';
    SALLYPORT_TRY(const bool all, walk(roots, found, [&](const WalkEntry& entry) {
                    if (!search.go_on()) return Step::Stop;
                    if (!S_ISREG(entry.state.st_mode)) return Step::Enter;
                    if (glob && !glob->matches(entry.below)) return Step::Pass;
                    // It may have been replaced by a pipe; opening it must not block.
                    const Descriptor file(
                        openat(entry.folder, entry.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
                    struct stat state{};
                    if (!file || fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode)) {
                      return Step::Pass;
                    }
                    const std::string link = fmt::format("/proc/self/fd/{}", file.get());
                    const Descriptor text(::open(link.c_str(), O_RDONLY | O_CLOEXEC));
                    if (!text) return Step::Pass;
                    return search.in_file(text, state.st_size, folder + entry.below) ? Step::Pass
                                                                                     : Step::Stop;
                  }));
    (void)all;
  }
  if (search.why() == Search::Why::Cancelled) return fail(ErrorCode::Cancelled, "cancelled");
  return std::move(search).text();
}

}  // namespace sallyport::agent
