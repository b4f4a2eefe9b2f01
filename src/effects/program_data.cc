// The table of programs as JSON, for people and programs (RU-31).
#include <algorithm>
#include <boost/json.hpp>

#include "effects/profiles.h"
#include "effects/program_table.h"

namespace sallyport::effects {

namespace {

std::string_view meaning_of(char letter) {
  switch (letter) {
    case ' ':
      return "plain";
    case '<':
      return "reads";
    case '>':
      return "writes";
    case '@':
      return "host";
    case '!':
      return "runs";
    case '~':
      return "script";
    case 'T':
      return "target";
    case 'C':
      return "configuration";
    case 'c':
      return "code";
    case 'R':
      return "recursive";
    case 'W':
      return "operands_written";
    case 'L':
      return "keeps_links";
    case 'N':
      return "no_effect";
    case '?':
      return "optional_value";
    default:
      return "own";  // specific to this program
  }
}

json::array options_json(std::string_view options) {
  json::array rows;
  for (const Option& option : options_of(options)) {
    json::array spellings;
    for (const std::string_view spelling : option.spellings) spellings.emplace_back(spelling);
    rows.push_back(json::object{{"spellings", std::move(spellings)},
                                {"takes_value", option.takes_value},
                                {"meaning", meaning_of(option.meaning)}});
  }
  return rows;
}

template <class Visit>
void each_word(std::string_view words, const Visit& visit) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) visit(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

}  // namespace

json::array programs_json(std::string_view program) {
  json::array rows;
  for (const Program& row : programs()) {
    each_word(row.names, [&](std::string_view name) {
      if (!program.empty() && program != name) return;
      rows.push_back(json::object{{"program", name},
                                  {"operands", name_of(row.operands)},
                                  {"options", options_json(row.options)},
                                  {"always_recursive", row.always_recursive}});
    });
  }
  for (const Subcommand& row : subcommands()) {
    if (!program.empty() && program != row.program) continue;
    std::string names(row.names);
    std::ranges::replace(names, ',', ' ');
    each_word(names, [&](std::string_view name) {
      rows.push_back(json::object{{"program", row.program},
                                  {"subcommand", name},
                                  {"class", row.effect_class},
                                  {"options", options_json(row.options)}});
    });
  }
  return rows;
}

}  // namespace sallyport::effects
