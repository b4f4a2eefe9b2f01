// Guardrail documents that come with the program: what they are, and the documents themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/nearest.h"
#include "cli/command.h"
#include "guardrails/document/gallery.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct PolicyGalleryOptions {
  bool names = false;  // print the names of stages, actions and so on, instead of the presets
  std::optional<std::string> name;
  std::optional<std::string> locale;
};

using guardrails::Locale;
using guardrails::Preset;

std::unexpected<Error> unknown(const std::string& name) {
  std::vector<std::string> known;
  for (const Preset& preset : guardrails::gallery()) known.push_back(preset.id);
  return fail(ErrorCode::NotFound,
              fmt::format("there is no preset `{:.200}`{}; `sallyport policy gallery` lists them",
                          name, did_you_mean(name, known)));
}

// `Prompt, Answer: Log`.
std::string actions_text(const Preset& preset, Locale locale) {
  const auto names = [&](const auto& kinds) {
    std::vector<std::string_view> out;
    for (const auto kind : kinds) out.push_back(guardrails::name_of(kind, locale).name);
    return fmt::format("{}", fmt::join(out, ", "));
  };
  return fmt::format("{}: {}", names(preset.stages), names(preset.actions));
}

std::string page_of(const Preset& preset, Locale locale) {
  const Preset::Words& words = preset.words(locale);
  return fmt::format("{} {}  {}\n    {}\n    {}\n", preset.id, preset.version, words.name,
                     actions_text(preset, locale), words.description);
}

std::string names_page(Locale locale) {
  const guardrails::Capability all = guardrails::capability(locale);
  std::string page = fmt::format("{} ({})  {}\n", all.name, all.category, all.description);
  const json::object names = guardrails::names_json(locale);
  for (const char* const list : {"stages", "types", "actions", "reason_codes"}) {
    page += fmt::format("{}\n", list);
    for (const json::value& one : names.at(list).as_array()) {
      page += fmt::format("  {}  {}: {}\n", one.at("code").as_string().c_str(),
                          one.at("name").as_string().c_str(),
                          one.at("description").as_string().c_str());
    }
  }
  return page;
}

Result<int> policy_gallery(const Context& context, const PolicyGalleryOptions& options) {
  const Locale locale = guardrails::locale_named(options.locale.value_or("en"));
  if (options.names) {
    if (options.name) {
      return fail(ErrorCode::InvalidInput,
                  "`--names` and a NAME exclude each other, leave one out");
    }
    print_line(context.json() ? canonical_json(guardrails::names_json(locale))
                              : names_page(locale));
    return 0;
  }
  if (options.name) {
    const Preset* const preset = guardrails::preset(*options.name);
    if (preset == nullptr) return unknown(*options.name);
    const std::string_view text = preset->document;
    print_line(context.json() ? canonical_json(parse_json(text)->value)
                              : std::string(trimmed(text)));
    return 0;
  }
  for (const Preset& preset : guardrails::gallery()) {
    print_line(context.json() ? canonical_json(to_json(preset, locale)) : page_of(preset, locale));
  }
  return 0;
}

const Command kPolicyGallery(
    "policy gallery", "list guardrails that come with the program", policy_gallery,
    [](Syntax& syntax, PolicyGalleryOptions& options) {
      syntax.text("name", options.name, "print this document", "NAME");
      syntax.text("--locale", options.locale, "names in this language [en]", "en|uk");
      syntax.flag("--names", options.names,
                  "print the names of guardrails, stages, types, actions and reason codes");
    });

}  // namespace

}  // namespace sallyport::app
