#include "agent/tool/file_change.h"

#include <errno.h>
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstring>

#include "agent/tool/file_replacement.h"
#include "agent/tool/text_diff.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/call/upstream.h"
#include "sallyport/json.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLargestChanged = 16u << 20;
constexpr std::size_t kLongestDiff = 16 * 1024;

std::string digest_of(std::string_view text) {
  return hex(sha256(text));
}

struct Current {
  std::string text{};
  struct stat state{};  // when it had been read
};

Result<std::optional<Current>> current_in(const Roots& roots, const Place& place,
                                          std::string_view path) {
  if (!place.file) return std::nullopt;
  SALLYPORT_TRY(const Descriptor file, roots.open_text(*place.file, path));
  Current current;
  std::string piece(256 * 1024, '\0');
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::Unavailable,
                  fmt::format("`{:.200}` cannot be read: {}", path, std::strerror(errno)));
    }
    if (got == 0) break;
    current.text.append(piece.data(), static_cast<std::size_t>(got));
    if (current.text.size() > kLargestChanged) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{:.200}` is larger than {} MiB", path, kLargestChanged >> 20));
    }
  }
  if (fstat(file.get(), &current.state) != 0) {
    return fail(ErrorCode::Unavailable, fmt::format("`{:.200}` cannot be read", path));
  }
  return current;
}

bool is_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && is_utf8(text);
}

Result<std::string> edited(std::string_view text, const json::object& input,
                           std::string_view path) {
  const std::string_view old_text = text_in(input, "old").value_or("");
  const std::string_view new_text = text_in(input, "new").value_or("");
  const auto wrong = [](std::string message) {
    return fail(ErrorCode::InvalidInput, std::move(message), "old");
  };
  if (old_text.empty()) return wrong("`old` is empty; `write_file` writes a whole file");
  if (!is_text(text)) return wrong(fmt::format("`{:.200}` is a binary file", path));
  std::string result;
  std::size_t times = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(old_text, from)) != std::string_view::npos; ++times) {
    result += text.substr(from, at - from);
    result += new_text;
    from = at + old_text.size();
    if (result.size() > kLargestChanged) break;
  }
  if (times == 0) return wrong(fmt::format("`old` does not occur in `{:.200}`", path));
  if (times > 1 && !bool_in(input, "all").value_or(false)) {
    return wrong(
        fmt::format("`old` occurs {} times in `{:.200}`; give more of the text around it, "
                    "or set `all`",
                    times, path));
  }
  return result + std::string(text.substr(from));
}

// The new content of the file.
Result<std::string> wanted(const json::object& input, const std::optional<Current>& current,
                           std::string_view path) {
  std::string text;
  if (const auto content = text_in(input, "content")) {
    text = *content;
  } else if (!current) {
    return fail(ErrorCode::NotFound, fmt::format("`{:.200}`: there is no such file", path));
  } else {
    SALLYPORT_TRY(text, edited(current->text, input, path));
  }
  if (text.size() <= kLargestChanged) return text;
  return fail(ErrorCode::InvalidInput,
              fmt::format("the file would be larger than {} MiB", kLargestChanged >> 20));
}

std::string diff_of(const std::optional<Current>& current, std::string_view after,
                    std::string_view path) {
  const std::string_view before = current ? std::string_view(current->text) : "";
  if (is_text(before)) return unified_diff(before, after, path, kLongestDiff);
  return fmt::format("[a binary file of {} bytes is replaced by text of {} bytes]\n", before.size(),
                     after.size());
}

}  // namespace

json::object to_json(const FileChange& change) {
  return {{"path", change.path},
          {"before_sha256",
           change.before_sha256 ? json::value(*change.before_sha256) : json::value(nullptr)},
          {"after_sha256", change.after_sha256},
          {"diff", change.diff}};
}

Result<FileChange> file_change_from_json(const json::value& snapshot) {
  const json::object* const members = snapshot.if_object();
  if (members == nullptr || !text_in(*members, "path") || !text_in(*members, "after_sha256")) {
    return fail(ErrorCode::InvalidInput, "the snapshot of the change cannot be read");
  }
  FileChange change{.path = text_or_empty(*members, "path"),
                    .after_sha256 = text_or_empty(*members, "after_sha256"),
                    .diff = text_or_empty(*members, "diff")};
  if (const auto before = text_in(*members, "before_sha256")) change.before_sha256 = *before;
  return change;
}

Result<FileChange> plan_change(const Roots& roots, const json::object& input) {
  const std::string path = text_or_empty(input, "path");
  SALLYPORT_TRY(const Place place, roots.place(path));
  SALLYPORT_TRY(const std::optional<Current> current, current_in(roots, place, path));
  SALLYPORT_TRY(const std::string after, wanted(input, current, path));
  FileChange change{.path = place.path,
                    .after_sha256 = digest_of(after),
                    .diff = diff_of(current, after, place.path)};
  if (current) change.before_sha256 = digest_of(current->text);
  return change;
}

Result<bool> apply_change(const Roots& roots, const json::object& input, const FileChange& change,
                          const std::string& operation) {
  const std::string path = text_or_empty(input, "path");
  const auto changed = [&](std::string_view what) {
    return core::PreparingUpstream::other_revision(
        fmt::format("`{:.200}` {} since the change was prepared", path, what));
  };
  Result<Place> place = roots.place(path);
  if (!place && place.error().code == ErrorCode::Conflict) return changed("moved");
  if (!place) return std::unexpected(place.error());
  if (place->path != change.path) return changed("leads elsewhere");
  SALLYPORT_TRY(const std::optional<Current> current, current_in(roots, *place, path));
  const std::optional<std::string> now =
      current ? std::optional(digest_of(current->text)) : std::nullopt;
  if (now == change.after_sha256) return false;
  if (now != change.before_sha256) return changed("changed");
  SALLYPORT_TRY(const std::string after, wanted(input, current, path));
  if (digest_of(after) != change.after_sha256) return changed("would become something else");
  Replacement replacement{.place = *place, .content = after, .operation = operation};
  if (current) replacement.expected = current->state;
  const Result<void> done = replace_file(replacement);
  if (done) return true;
  if (done.error().code == ErrorCode::Conflict) return changed("changed");
  return std::unexpected(done.error());
}

}  // namespace sallyport::agent
