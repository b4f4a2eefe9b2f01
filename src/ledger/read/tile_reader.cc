#include "ledger/read/tile_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/read/export.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

struct TileName {
  std::optional<int> level;  // nothing: a bundle of entries
  std::uint64_t number = 0;
  std::uint64_t width = kTile;
};

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// Only names as `tile_path` writes them, so that each tile has one.
std::optional<TileName> parse_name(std::string_view path) {
  constexpr std::string_view kTileFolder = "tile/";
  constexpr int kMostLevels = 8;
  if (path.size() > 100 || !path.starts_with(kTileFolder)) return std::nullopt;
  std::string_view rest = path.substr(kTileFolder.size());
  const std::string_view level = rest.substr(0, rest.find('/'));
  TileName name;
  if (level != "entries") {
    const auto number = digits(level);
    if (!number || *number >= kMostLevels) return std::nullopt;
    name.level = static_cast<int>(*number);
  }
  if (rest.size() == level.size()) return std::nullopt;
  rest.remove_prefix(level.size() + 1);
  if (const std::size_t partial = rest.find(".p/"); partial != std::string_view::npos) {
    const auto width = digits(rest.substr(partial + 3));
    if (!width || *width == 0 || *width >= kTile) return std::nullopt;
    name.width = *width;
    rest = rest.substr(0, partial);
  }
  while (true) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    const bool last = part.size() == rest.size();
    const auto thousand = digits(part.substr(last ? 0 : std::min<std::size_t>(1, part.size())));
    if (!thousand || *thousand > 999 || name.number > UINT64_MAX / 1000 - 1) return std::nullopt;
    name.number = name.number * 1000 + *thousand;
    if (last) break;
    rest.remove_prefix(part.size() + 1);
  }
  const std::string folder = name.level ? std::to_string(*name.level) : std::string(level);
  if (tile_path(folder, name.number, name.width) != path) return std::nullopt;
  return name;
}

Result<std::optional<std::string>> hash_tile(ReadView& view, int level, std::uint64_t begin,
                                             std::uint64_t end) {
  SALLYPORT_TRY(const std::vector<Hash> all,
                level == 0 ? view.leaves(begin, end) : view.nodes(level, begin, end));
  if (all.size() != end - begin) {
    return ledger_unavailable("corrupt",
                              fmt::format("hashes of level {} from {} are missing", level, begin));
  }
  std::string bytes;
  for (const Hash& hash : all) bytes += as_text(hash);
  return bytes;
}

// No value: bytes of an entry are pruned, and a bundle with gaps cannot be read.
Result<std::optional<std::string>> entry_bundle(ReadView& view, std::uint64_t begin,
                                                std::uint64_t end) {
  std::optional<std::string> bytes(std::in_place);
  std::uint64_t next = begin;
  SALLYPORT_CHECK_OK(view.scan(begin, end, [&](const StoredEntry& entry) -> Result<bool> {
    if (!entry.bytes) {
      bytes.reset();
      return false;
    }
    SALLYPORT_CHECK_OK(check_leaf(entry));
    *bytes += static_cast<char>(entry.bytes->size() >> 8);
    *bytes += static_cast<char>(entry.bytes->size() & 0xff);
    *bytes += *entry.bytes;
    return entry.sequence == next++;
  }));
  if (bytes && next != end) {
    return ledger_unavailable("corrupt", fmt::format("entry {} is missing", next));
  }
  return bytes;
}

}  // namespace

Result<std::optional<std::string>> read_tile(ReadView& view, std::string_view path) {
  const std::optional<TileName> name = parse_name(path);
  if (!name) return std::nullopt;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  std::uint64_t count = size;  // of what this level has
  for (int level = 0; level < name->level.value_or(0); ++level) count /= kTile;
  if (name->number > count / kTile) return std::nullopt;
  const std::uint64_t begin = name->number * kTile;
  if (begin + name->width > count) return std::nullopt;
  const std::uint64_t end = begin + name->width;
  return name->level ? hash_tile(view, *name->level, begin, end) : entry_bundle(view, begin, end);
}

}  // namespace sallyport::ledger
