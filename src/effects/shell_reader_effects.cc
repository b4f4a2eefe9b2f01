// Part of ShellReader: records effects, opaque spans and changes of the disk.
#include <algorithm>

#include "base/visible_text.h"
#include "effects/arguments.h"
#include "effects/host.h"
#include "effects/path_text.h"
#include "effects/shell_parser.h"
#include "effects/shell_reader.h"

namespace sallyport::effects {

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.size() < 19 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// True for control and invisible characters (RU-54). Emoji variation selectors are harmless.
void ShellReader::check_characters(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const auto byte = static_cast<unsigned char>(line[at]);
    if (byte >= 0x20 && byte < 0x7f) {
      ++at;
      continue;
    }
    const Utf8Point point = decode_utf8(line.substr(at));
    const std::size_t length = std::max<std::size_t>(1, point.length);
    const std::string_view letter = line.substr(at, length);
    const bool harmless = byte == '\n' || byte == '\t' || point.point == 0xfe0f;
    if (!harmless && (point.length == 0 || visible(letter) != letter)) {
      return fail(OpaqueReason::Encoding, at, at + length);
    }
    at += length;
  }
}

// Spans are places in the line itself. A span inside a nested text gets the place of that text.
void ShellReader::fail(OpaqueReason reason, std::size_t start, std::size_t end) {
  if (texts_ > 0) {
    start = span_start_;
    end = span_end_;
  }
  const OpaqueSpan span{reason, start, end};
  if (std::ranges::find(out_.opaque, span) != out_.opaque.end()) return;
  if (out_.opaque.size() >= kMostEffects) return;
  out_.opaque.push_back(span);
  add({.effect_class = "process.exec", .opaque = true});
}

void ShellReader::opaque(OpaqueReason reason, const Invocation& call) {
  const OpaqueSpan span = texts_ > 0 ? OpaqueSpan{reason, span_start_, span_end_}
                                     : OpaqueSpan{reason, call.start, call.end};
  const bool listed = std::ranges::find(out_.opaque, span) != out_.opaque.end();
  if (!listed && out_.opaque.size() < kMostEffects) out_.opaque.push_back(span);
  // A program without a profile has one effect (RU-53).
  if (!out_.effects.empty()) {
    Effect& last = out_.effects.back();
    if (last.effect_class == "process.exec" && command_ && last.command == command_) {
      last.opaque = true;
      return;
    }
  }
  add({.effect_class = "process.exec", .command = command_, .opaque = true});
}

void ShellReader::add(Effect effect) {
  if (limit_reached_) return;
  if (out_.effects.size() >= kMostEffects) {
    limit_reached_ = true;
    out_.opaque.push_back({OpaqueReason::Limit, 0, span_end_});
    // Replaces the last effect: a line with so many effects must not count as harmless.
    out_.effects.back() = {.effect_class = "process.exec", .opaque = true};
    return;
  }
  if (effect.effect_class == "network.request") ++requests_;
  write_changes(effect);
  out_.effects.push_back(std::move(effect));
}

void ShellReader::write_changes(const Effect& effect) {
  const bool writes = effect.effect_class == "fs.write" || effect.effect_class == "git.write" ||
                      effect.effect_class == "git.discard";
  if (!writes || !effect.path) return;
  if (effect.path->unknown) {
    changes_.written_unknown = true;
    return;
  }
  const auto path = absolute_path(effect.path->text, effect.path->folder);
  if (!path) {
    changes_.written_unknown = true;
  } else {
    changes_.written.insert(*path);
    if (changes_.written.size() > kMostEffects) changes_.written_unknown = true;
    if (input_.remote && effect.effect_class == "fs.write") changes_.downloads.insert(*path);
  }
}

void ShellReader::add_path(std::string_view effect_class, const Argument& path, bool recursive,
                           bool below) {
  const auto emit = [&](EffectPath made) {
    // The target of a link that this line makes is not known yet (RU-41).
    const auto absolute = absolute_path(made.text, made.folder);
    const bool changes_it = effect_class != "fs.read";
    if (changes_.links_unknown || other_root_ ||
        (absolute && std::ranges::any_of(changes_.links, [&](const std::string& link) {
           return is_at_or_below(*absolute, link);
         }))) {
      made.unknown = true;
    }
    if (absolute && (is_copied_link(*absolute) || (changes_it && is_below_unpacked(*absolute)))) {
      made.unknown = true;
    }
    add({.effect_class = std::string(effect_class),
         .path = std::move(made),
         .command = command_,
         .recursive = recursive});
  };
  const auto from_folders = [&](const std::string& text, bool some_below) {
    if (text.starts_with('/') || state_.folders.empty()) {
      emit({.text = text, .folder = std::nullopt, .below = some_below});
      return;
    }
    for (const std::string& folder : state_.folders) {
      emit({.text = text, .folder = folder, .below = some_below});
    }
  };
  if (path.process) return;
  if (!path.below.empty()) {
    for (const std::string& root : path.below) from_folders(root, true);
    return;
  }
  if (!path.word.known()) {
    add({.effect_class = std::string(effect_class),
         .path = EffectPath{.unknown = true},
         .command = command_,
         .recursive = recursive});
    return;
  }
  for (const std::string& text : path.word.values) from_folders(text, below);
}

void ShellReader::add_here(std::string_view effect_class, bool recursive) {
  add_path(effect_class, {.word = {.values = {"."}}}, recursive);
}

void ShellReader::add_host(const Argument& address) {
  const auto emit = [&](EffectHost host) {
    add({.effect_class = "network.request", .host = std::move(host), .command = command_});
  };
  if (!address.word.known()) return emit({.unknown = true});
  for (const std::string& text : address.word.values) {
    if (is_file_address(text)) {                                           // RU-61
      const bool globs = text.find_first_of("{}[]") != std::string::npos;  // curl expands them
      const std::optional<std::string> path = globs ? std::nullopt : path_of_address(text);
      add_path("fs.read", path ? literal(*path) : Argument{});
    } else {
      emit(host_from(text));
    }
  }
}

void ShellReader::add_plain(std::string_view effect_class) {
  add({.effect_class = std::string(effect_class), .command = command_});
}

void ShellReader::remote_code() {
  add_plain("code.remote");
}

void ShellReader::make_link(const Argument& target, const std::vector<Argument>& sources) {
  if (!target.word.known() || state_.folders.size() > 1) {
    changes_.links_unknown = true;
    return;
  }
  for (const std::string& text : target.word.values) {
    const std::optional<std::string> folder =
        state_.folders.empty() ? std::nullopt : std::optional(state_.folders[0]);
    const auto path = absolute_path(text, folder);
    if (!path) {
      changes_.links_unknown = true;
      return;
    }
    const bool is_folder =
        text.ends_with('/') || text == "." || text.ends_with("..") || expansion_.is_folder(*path);
    if (!is_folder) {
      changes_.links.insert(*path);
      continue;
    }
    for (const Argument& source : sources) {
      const bool known = source.word.known() && source.below.empty();
      changes_.links_unknown = changes_.links_unknown || !known;
      if (!known) return;
      for (const std::string& from : source.word.values) {
        changes_.links.insert(cleaned_path(*path + "/" + std::string(last_segment(from))));
      }
    }
  }
  if (changes_.links.size() > kMostEffects) changes_.links_unknown = true;
}

// With more copied or unpacked folders in one line, every later path is unknown.
constexpr std::size_t kMostCopies = 32;

// Links in a folder are copied with it, so a path below the copy leads to the same place as the
// path below the source.
void ShellReader::copy_tree(const Argument& target, const std::vector<Argument>& sources) {
  const auto absolute = [&](const Argument& argument) -> std::optional<std::string> {
    const std::string* text = argument.text();
    if (text == nullptr || state_.folders.size() != 1) return std::nullopt;
    return absolute_path(*text, state_.folders[0]);
  };
  const std::optional<std::string> to = absolute(target);
  for (const Argument& source : sources) {
    const std::optional<std::string> from = absolute(source);
    if (!to || !from || changes_.copies.size() >= kMostCopies) {
      changes_.links_unknown = true;
      return;
    }
    changes_.copies.insert({*to, *from});
    changes_.copies.insert({cleaned_path(*to + "/" + std::string(last_segment(*from))), *from});
  }
}

bool ShellReader::is_copied_link(const std::string& path) {
  return std::ranges::any_of(changes_.copies, [&](const auto& copy) {
    const auto& [to, from] = copy;
    if (path == to || !is_at_or_below(path, to)) return false;
    return expansion_.leads_out(from, path.substr(to.size()));
  });
}

// An archive may contain links, so a path below one of its names may lead anywhere.
void ShellReader::unpack(const Argument& folder) {
  const std::string* text = folder.text();
  const std::optional<std::string> path =
      text == nullptr || state_.folders.size() > 1
          ? std::nullopt
          : absolute_path(*text,
                          state_.folders.empty() ? std::nullopt : std::optional(state_.folders[0]));
  if (path && changes_.unpacked.size() < kMostCopies) {
    changes_.unpacked.insert(*path);
  } else {
    changes_.links_unknown = true;
  }
}

bool ShellReader::is_below_unpacked(const std::string& path) const {
  return std::ranges::any_of(changes_.unpacked, [&](const std::string& folder) {
    if (!is_at_or_below(path, folder) || path == folder) return false;
    const std::size_t start = folder == "/" ? 1 : folder.size() + 1;
    return path.find('/', start) != std::string::npos;
  });
}

bool ShellReader::is_file(const std::string& text) {
  return std::ranges::any_of(state_.folders, [&](const std::string& folder) {
    const auto path = absolute_path(text, folder);
    return path && expansion_.exists(*path);
  });
}

bool ShellReader::may_be_folder(const std::string& text) {
  return std::ranges::any_of(state_.folders, [&](const std::string& folder) {
    const std::string path = *absolute_path(text, folder);
    // An earlier command of the line may have made it.
    const bool made = changes_.written_unknown ||
                      std::ranges::any_of(changes_.written, [&](const std::string& written) {
                        return is_at_or_below(path, written);
                      });
    return made || expansion_.may_be_folder(path);
  });
}

bool ShellReader::was_downloaded(const Argument& file) const {
  if (file.remote) return true;
  return std::ranges::any_of(file.word.values, [&](const std::string& text) {
    const auto matches = [&](const std::optional<std::string>& folder) {
      const auto path = absolute_path(text, folder);
      return path && changes_.downloads.contains(*path);
    };
    if (state_.folders.empty()) return matches(std::nullopt);
    return std::ranges::any_of(state_.folders, [&](const auto& folder) { return matches(folder); });
  });
}

void ShellReader::mark_downloaded(const Argument& target, const Argument& source) {
  const std::string* to = target.text();
  const std::string* from = source.text();
  if (to == nullptr || from == nullptr) return;
  for (const std::string& folder : state_.folders) {
    const std::string path = *absolute_path(*to, folder);
    changes_.downloads.insert(path);
    changes_.downloads.insert(cleaned_path(path + "/" + std::string(last_segment(*from))));
  }
}

void ShellReader::set_folder(const Argument& folder) {
  std::vector<std::string> next;
  for (const std::string& text : folder.word.values) {
    if (text.starts_with('/')) {
      next.push_back(cleaned_path(text));
      continue;
    }
    if (state_.folders.empty()) {
      next.clear();
      break;
    }
    for (const std::string& from : state_.folders) next.push_back(cleaned_path(from + "/" + text));
  }
  std::ranges::sort(next);
  next.erase(std::ranges::unique(next).begin(), next.end());
  state_.folders = folder.word.known() && next.size() <= 8 ? next : std::vector<std::string>();
}

void ShellReader::assign(const std::string& name, std::vector<std::string> values) {
  const bool numbers = !values.empty() && std::ranges::all_of(values, is_integer);
  if (!numbers) doubtful_.insert(name);
  state_.set(name, std::move(values));
}

void ShellReader::assign_unknown_names() {
  state_.forget_variables();
  doubtful_.emplace();
}

bool ShellReader::is_doubtful(std::string_view name) const {
  return doubtful_.contains(name) || doubtful_.contains(std::string_view());
}

bool ShellReader::is_safe_arithmetic(std::string_view text) const {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '$' || c == '`' || c == '\\') return false;
    const std::size_t end = name_end(text, at);
    // After a digit it is part of a number: `0x1f`.
    const bool number = at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';
    if (end > at && !number && is_doubtful(text.substr(at, end - at))) return false;
    at = std::max(end, at + 1);
  }
  return true;
}

// Marks the files that the effects from `first` to `last` write as coming from the network.
void ShellReader::mark_downloads(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last && i < out_.effects.size(); ++i) {
    const auto& path = out_.effects[i].path;
    if (out_.effects[i].effect_class != "fs.write" || !path || path->unknown) continue;
    if (const auto absolute = absolute_path(path->text, path->folder)) {
      changes_.downloads.insert(*absolute);
    }
  }
}

}  // namespace sallyport::effects
