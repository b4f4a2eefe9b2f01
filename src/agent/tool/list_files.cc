#include <fcntl.h>
#include <fmt/format.h>

#include "agent/tool/file_reading.h"
#include "agent/tool/file_walk.h"
#include "agent/tool/tool_output.h"
#include "base/try.h"
#include "base/visible_text.h"

namespace sallyport::agent {

namespace {

std::string target_of(const WalkEntry& entry) {
  std::string target(4096, '\0');
  const ssize_t size = readlinkat(entry.folder, entry.name.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return visible(target);
}

std::string line_of(const WalkEntry& entry) {
  const std::string name = visible(entry.below);
  if (S_ISDIR(entry.state.st_mode)) return name + "/";
  if (S_ISLNK(entry.state.st_mode)) return name + " -> " + target_of(entry);
  if (S_ISREG(entry.state.st_mode)) return fmt::format("{} ({} bytes)", name, entry.state.st_size);
  return name + " (not a regular file)";
}

}  // namespace

Result<std::string> list_files(const Roots& roots, const ListFiles& query, std::stop_token cancel) {
  SALLYPORT_TRY(const Found found, roots.find(query.path));
  if (!S_ISDIR(found.state.st_mode)) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.200}` is not a folder", query.path));
  }
  BoundedLines lines;
  SALLYPORT_TRY(const bool all, walk(roots, found, [&](const WalkEntry& entry) {
                  if (cancel.stop_requested()) return Step::Stop;
                  lines.add(line_of(entry));
                  if (lines.full() && lines.left_out() > 100'000) return Step::Stop;
                  return query.recursive ? Step::Enter : Step::Pass;
                }));
  if (cancel.stop_requested()) return fail(ErrorCode::Cancelled, "cancelled");
  if (lines.taken() == 0) return std::string("[the folder is empty]");
  std::string note;
  if (!all) {
    note = "[there are too many entries to list; list a folder below]";
  } else if (lines.left_out() > 0) {
    note = fmt::format("[{} of {} entries left out; list a folder below to see them]",
                       lines.left_out(), lines.taken() + lines.left_out());
  }
  return std::move(lines).text(note);
}

}  // namespace sallyport::agent
