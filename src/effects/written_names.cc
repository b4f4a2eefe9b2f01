#include "effects/written_names.h"

#include <algorithm>
#include <optional>

#include "effects/path_text.h"

namespace sallyport::effects {

namespace {

struct FileSuffix {
  std::string_view program;
  std::string_view packed;
  std::string_view unpacked{};
};

// The first of each program is the suffix that it adds.
constexpr FileSuffix kSuffixes[] = {{"gzip", ".gz"},
                                    {"gzip", ".tgz", ".tar"},
                                    {"gzip", ".taz", ".tar"},
                                    {"gzip", ".z"},
                                    {"gzip", ".Z"},
                                    {"gzip", "-gz"},
                                    {"gzip", "-z"},
                                    {"gzip", "_z"},
                                    {"bzip2", ".bz2"},
                                    {"bzip2", ".bz"},
                                    {"bzip2", ".tbz2", ".tar"},
                                    {"bzip2", ".tbz", ".tar"},
                                    {"xz", ".xz"},
                                    {"xz", ".lzma"},
                                    {"xz", ".txz", ".tar"},
                                    {"xz", ".tlz", ".tar"},
                                    {"xz", ".lz"},
                                    {"lzma", ".lzma"},
                                    {"zstd", ".zst"},
                                    {"zstd", ".tzst", ".tar"},
                                    {"zstd", ".gz"},
                                    {"zstd", ".tgz", ".tar"},
                                    {"zstd", ".xz"},
                                    {"zstd", ".txz", ".tar"},
                                    {"zstd", ".lzma"},
                                    {"zstd", ".tlz", ".tar"},
                                    {"zstd", ".lz4"},
                                    {"zstd", ".tlz4", ".tar"}};

std::string_view packer_of(std::string_view program) {
  if (program == "gunzip") return "gzip";
  if (program == "bunzip2") return "bzip2";
  if (program == "unxz") return "xz";
  if (program == "unzstd") return "zstd";
  return program;
}

// No value: the name that the program gives the file is unknown.
std::optional<std::string> unpacked_name(std::string_view packer, const std::string& name) {
  for (const FileSuffix& suffix : kSuffixes) {
    const bool ends = suffix.program == packer && name.ends_with(suffix.packed) &&
                      last_segment(name).size() > suffix.packed.size();
    if (!ends) continue;
    return name.substr(0, name.size() - suffix.packed.size()) + std::string(suffix.unpacked);
  }
  return std::nullopt;
}

std::optional<std::string> name_with(std::string_view packer, const std::string& name,
                                     const Arguments& arguments, bool unpacks) {
  if (arguments.has("--format") || arguments.has("-F")) return std::nullopt;
  if (const Argument* given = arguments.value("-S")) {
    const std::string* suffix = given->text();
    if (suffix == nullptr || suffix->empty()) return std::nullopt;
    if (!unpacks) return name + *suffix;
    if (!name.ends_with(*suffix) || last_segment(name).size() <= suffix->size())
      return std::nullopt;
    return name.substr(0, name.size() - suffix->size());
  }
  if (unpacks) return unpacked_name(packer, name);
  const auto* const own = std::ranges::find(kSuffixes, packer, &FileSuffix::program);
  if (own == std::end(kSuffixes)) return std::nullopt;
  return name + std::string(own->packed);
}

}  // namespace

Argument in_folder(const Argument& folder, const Argument& file) {
  const std::string* name = file.text();
  const std::string* text = folder.text();
  if (name == nullptr || text == nullptr) return {};
  return literal(*text + (text->ends_with('/') ? "" : "/") + *name);
}

void add_files_in(ShellReader& reader, const Argument& target, std::span<const Argument> sources,
                  NamesInFolder names) {
  if (!target.word.known()) return;
  for (const Argument& source : sources) {
    if (source.process) continue;
    if (!source.word.known()) {
      reader.add_path("fs.write", target, false, true);
      continue;
    }
    for (const std::string& text : source.word.values) {
      const std::string_view name = names.whole ? text : last_segment(text);
      if (name.empty() || name == "." || name == ".." || name == "/") continue;
      for (const std::string& folder : target.word.values)
        reader.add_path("fs.write", in_folder(literal(folder), literal(std::string(name))),
                        names.recursive);
    }
  }
}

bool may_be_folder(ShellReader& reader, const Argument& target) {
  return std::ranges::any_of(target.word.values, [&](const std::string& text) {
    return text.ends_with('/') || last_segment(text) == "." || last_segment(text) == ".." ||
           reader.may_be_folder(text);
  });
}

void compressed_files(ShellReader& reader, const std::string& program, const Arguments& arguments,
                      bool recursive) {
  const std::string_view packer = packer_of(program);
  const bool unpacks = packer != program || arguments.has("-d");
  // Both directions are given, or the name stands in the packed file.
  const bool unknown = unpacks && (arguments.has("-z") || arguments.has("-N"));
  const bool to_output = arguments.has("-c") || arguments.has("-l") || arguments.has("-t");
  const bool elsewhere = arguments.value("-o") != nullptr;
  const Argument* flat = arguments.value("--output-dir-flat");
  const Argument* mirror = arguments.value("--output-dir-mirror");
  for (const Argument& path : arguments.operands) {
    if (to_output) {
      reader.add_path("fs.read", path, recursive);
      continue;
    }
    if (!arguments.has("-k")) reader.add_path("fs.delete", path, recursive);
    reader.add_path("fs.read", path, recursive);
    if (recursive) reader.add_path("fs.write", path, true);
    if (elsewhere) continue;
    const std::string* text = path.text();
    if (!path.below.empty()) {
      reader.add_path("fs.write", path, recursive);
      continue;
    }
    std::optional<std::string> made;
    if (text != nullptr && !unknown) made = name_with(packer, *text, arguments, unpacks);
    if (made && flat != nullptr) made = std::string(last_segment(*made));
    const Argument* folder = flat != nullptr ? flat : mirror;
    Argument file = made ? literal(*made) : Argument{};
    if (folder != nullptr) file = in_folder(*folder, file);
    // Of a folder, only the files in it change.
    const bool in_it = recursive && (!made || (!unpacks && may_be_folder(reader, path)));
    if (!in_it) reader.add_path("fs.write", file, recursive);
  }
}

}  // namespace sallyport::effects
