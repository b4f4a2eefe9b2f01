#include "guardrails/document/gallery.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include "base/try.h"
#include "guardrails/document/gallery_files.h"

namespace sallyport::guardrails {

namespace {

constexpr std::string_view kPresets[] = {"secrets",         "pii",      "prompt-injection",
                                         "dangerous-shell", "no-shell", "profanity-starter"};

std::string_view file_named(const std::string& name) {
  const auto file = std::ranges::find(gallery_files(), name, &GalleryFile::name);
  SALLYPORT_INVARIANT(file != gallery_files().end());
  return file->text;
}

std::vector<std::string> texts_of(const json::value& list) {
  std::vector<std::string> texts;
  for (const json::value& item : list.as_array()) texts.emplace_back(item.as_string());
  return texts;
}

Preset::Words words_of(const json::object& about, std::string_view locale) {
  const auto text = [&](std::string_view key) {
    return std::string(about.at(key).at(locale).as_string());
  };
  return {.name = text("name"),
          .description = text("description"),
          .known_misses = texts_of(about.at("known_misses").at(locale)),
          .known_false_alarms = texts_of(about.at("known_false_alarms").at(locale))};
}

// Each value once, in the order of its kind.
template <class E>
std::vector<E> kinds_of(const Document& document, E Check::* member) {
  std::vector<E> kinds;
  for (const Check& check : document.checks) kinds.push_back(check.*member);
  std::ranges::sort(kinds);
  const auto rest = std::ranges::unique(kinds);
  kinds.erase(rest.begin(), rest.end());
  return kinds;
}

Preset read_preset(const std::string& id) {
  const std::string_view text = file_named(id + ".json");
  const auto document = read_document(text);
  SALLYPORT_INVARIANT(document.has_value());
  const Result<ParsedJson> parsed = parse_json(file_named(id + ".about.json"));
  SALLYPORT_INVARIANT(parsed.has_value());
  const json::object& about = parsed->value.as_object();
  return {.id = id,
          .version = std::string(about.at("version").as_string()),
          .digest = document->config_hash,
          .stages = kinds_of(*document, &Check::stage),
          .check_types = kinds_of(*document, &Check::type),
          .actions = kinds_of(*document, &Check::on_fail),
          .languages = texts_of(about.at("languages")),
          .english = words_of(about, "en"),
          .ukrainian = words_of(about, "uk"),
          .document = text,
          .cases = file_named(id + ".cases.json")};
}

template <class E>
json::array spelt(const std::vector<E>& values) {
  json::array out;
  for (const E value : values) out.emplace_back(to_string(value));
  return out;
}

json::array listed(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

}  // namespace

std::span<const Preset> gallery() {
  static const std::vector<Preset> presets = [] {
    std::vector<Preset> all;
    for (const std::string_view id : kPresets) all.push_back(read_preset(std::string(id)));
    return all;
  }();
  return presets;
}

const Preset* preset(std::string_view id) {
  const auto found = std::ranges::find(gallery(), id, &Preset::id);
  return found == gallery().end() ? nullptr : &*found;
}

json::object to_json(const Preset& preset, Locale locale) {
  const Preset::Words& words = preset.words(locale);
  return {{"id", preset.id},
          {"name", words.name},
          {"description", words.description},
          {"version", preset.version},
          {"digest", preset.digest},
          {"stages", spelt(preset.stages)},
          {"check_types", spelt(preset.check_types)},
          {"actions", spelt(preset.actions)},
          {"languages", listed(preset.languages)},
          {"deterministic", true},
          {"data_egress", "none"},
          {"known_misses", listed(words.known_misses)},
          {"known_false_alarms", listed(words.known_false_alarms)}};
}

}  // namespace sallyport::guardrails
