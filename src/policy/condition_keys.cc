#include "policy/condition_keys.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "config/yaml_json.h"
#include "effects/command_line.h"

namespace sallyport::policy {

namespace {

using rules::Conditions;

constexpr std::size_t kMostItems = 1'000;
constexpr std::size_t kMostAlternatives = 100;

const std::vector<std::string> kRuleFronts = {"mcp", "http", "hook", "library", "agent"};

}  // namespace

json::object one_or_list(json::object item, std::size_t most) {
  return {{"anyOf", json::array{item, json::object{{"type", "array"},
                                                   {"items", item},
                                                   {"minItems", 1},
                                                   {"maxItems", most}}}}};
}

config::ReadValue one_or_more(std::size_t most, config::ReadValue read) {
  return [most, read = std::move(read)](const config::Place& place) -> Result<void> {
    if (place.node.kind != config::YamlNode::Kind::Sequence) return read(place);
    if (place.node.items.empty())
      return place.refuse("the list is empty; name something or leave it out");
    return config::read_list(most, read)(place);
  };
}

config::ReadValue names_into(std::vector<std::string>& out) {
  return one_or_more(kMostItems, [&out](const config::Place& place) -> Result<void> {
    std::string name;
    SALLYPORT_CHECK_OK(config::read_text(name, kLongestRuleName)(place));
    out.push_back(std::move(name));
    return {};
  });
}

// Accepts a value or a list; a list with both answers is refused.
config::ReadValue truth_into(std::optional<bool>& out) {
  return one_or_more(2, [&out](const config::Place& place) -> Result<void> {
    bool value = false;
    SALLYPORT_CHECK_OK(config::read_truth(value)(place));
    if (out && *out != value) {
      return place.refuse("a list of true and false always holds; leave the condition out");
    }
    out = value;
    return {};
  });
}

namespace {

template <class Item>
config::ReadValue parsed_into(std::vector<Item>& out, Result<Item> (*parse)(std::string_view)) {
  return one_or_more(kMostItems, [&out, parse](const config::Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(config::read_text(text, kLongestPattern)(place));
    Result<Item> item = parse(text);
    if (!item) return place.refuse(item.error().message);
    out.push_back(std::move(*item));
    return {};
  });
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

Result<void> read_run(const config::Place& place, std::vector<std::string>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(config::read_text(text, kLongestPattern)(place));
  out = words_of(text);
  if (out.empty()) return place.refuse("name a program and its first words");
  return {};
}

config::Mapping command_keys(effects::CommandPattern& out) {
  config::Mapping keys("a command");
  keys.required("run", "the program and its first words", config::text_schema(kLongestPattern),
                [&out](const config::Place& place) { return read_run(place, out.run); })
      .optional("flags", "at least one of these flags is present",
                one_or_list(config::text_schema(kLongestRuleName), kMostItems),
                names_into(out.flags))
      .optional("without", "none of these flags is present",
                one_or_list(config::text_schema(kLongestRuleName), kMostItems),
                names_into(out.without));
  return keys;
}

config::ReadValue command_into(std::vector<effects::CommandPattern>& out) {
  return one_or_more(kMostItems, [&out](const config::Place& place) -> Result<void> {
    effects::CommandPattern pattern;
    if (place.node.kind == config::YamlNode::Kind::Mapping) {
      SALLYPORT_CHECK_OK(command_keys(pattern).read(place));
    } else {
      SALLYPORT_CHECK_OK(read_run(place, pattern.run));
    }
    out.push_back(std::move(pattern));
    return {};
  });
}

json::object constraint_schema() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", json::array{"type", "value"}},
          {"properties", json::object{{"type", config::text_schema(kLongestRuleName)},
                                      {"value", json::object{}}}}};
}

config::ReadValue constraint_into(std::vector<rules::Argument>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    Constraint constraint;
    config::Mapping keys("a constraint on the input");
    keys.required("type", "type of the constraint", config::text_schema(kLongestRuleName),
                  config::read_text(constraint.type, kLongestRuleName))
        .required("value", "value of the constraint", json::object{},
                  [&](const config::Place& value) -> Result<void> {
                    SALLYPORT_TRY(constraint.value, to_json(value.node, value.file));
                    return {};
                  });
    SALLYPORT_CHECK_OK(keys.read(place));
    Result<rules::Argument> argument = rules::Argument::of(std::move(constraint));
    if (!argument) return place.refuse(argument.error().message);
    out.push_back(std::move(*argument));
    return {};
  };
}

Result<void> read_class(const config::Place& place, std::vector<std::string>& out) {
  std::string name;
  SALLYPORT_CHECK_OK(config::read_text(name, kLongestRuleName)(place));
  out.push_back(std::move(name));
  return {};
}

config::Mapping condition_keys(Conditions& out) {
  const json::object names = one_or_list(config::text_schema(kLongestRuleName), kMostItems);
  const json::object patterns = one_or_list(config::text_schema(kLongestPattern), kMostItems);
  effects::CommandPattern any_command;
  config::Mapping keys("conditions that must all hold");
  keys.optional("agent", "name of the authenticated agent; also matches its sub-agents", names,
                names_into(out.agent))
      .optional("session", "id of the session", names, names_into(out.session))
      .optional("front", "front that the call came through",
                one_or_list(config::choice_schema(kRuleFronts), kMostItems),
                one_or_more(kMostItems, config::read_choice(kRuleFronts,
                                                            [&out](std::size_t at) {
                                                              out.front.push_back(kRuleFronts[at]);
                                                            })))
      .optional("interactive", "whether the host can ask its user",
                one_or_list(config::truth_schema(), 2), truth_into(out.interactive))
      .optional("server", "name of the server", names, names_into(out.server))
      .optional("tool", "name of the tool; `*` stands for any characters", names,
                names_into(out.tool))
      .optional("class", "class of the effect, such as `fs.write`", names,
                one_or_more(kMostItems,
                            [&out](const config::Place& place) {
                              return read_class(place, out.effect_class);
                            }))
      .optional("path", "globs; the path of the effect matches one of them", patterns,
                parsed_into<rules::Glob>(out.path, rules::Glob::parse))
      .optional("inside", "folders; the path of the effect lies in one of them", patterns,
                parsed_into<rules::FolderName>(out.inside, rules::FolderName::parse))
      .optional("outside", "folders; the path of the effect lies in none of them", patterns,
                parsed_into<rules::FolderName>(out.outside, rules::FolderName::parse))
      .optional("recursive", "whether the effect reaches everything below its path",
                one_or_list(config::truth_schema(), 2), truth_into(out.recursive))
      .optional("opaque", "whether the program that would run is unknown",
                one_or_list(config::truth_schema(), 2), truth_into(out.opaque))
      .optional("host", "host of the effect: a name, `*.suffix` or `private`", patterns,
                parsed_into<rules::HostName>(out.host, rules::HostName::parse))
      .optional("command", "the command: words, or `{run, flags, without}`",
                one_or_list({{"anyOf", json::array{config::text_schema(kLongestPattern),
                                                   command_keys(any_command).schema()}}},
                            kMostItems),
                command_into(out.command))
      .optional("args", "constraints on the input; all of them must hold",
                one_or_list(constraint_schema(), kMostItems),
                one_or_more(kMostItems, constraint_into(out.args)));
  return keys;
}

// An empty mapping would match everything, which is probably a mistake.
Result<void> read_conditions(const config::Place& place, Conditions& out) {
  if (place.node.kind != config::YamlNode::Kind::Mapping || place.node.members.empty()) {
    return place.must_be("a mapping of conditions; leave it out where the rule always applies");
  }
  return condition_keys(out).read(place);
}

}  // namespace

json::object when_schema() {
  Conditions any;
  return one_or_list(condition_keys(any).schema(), kMostAlternatives);
}

config::ReadValue read_when(std::vector<Conditions>& out) {
  return one_or_more(kMostAlternatives, [&out](const config::Place& place) -> Result<void> {
    Conditions conditions;
    SALLYPORT_CHECK_OK(read_conditions(place, conditions));
    out.push_back(std::move(conditions));
    return {};
  });
}

json::object alternatives_schema() {
  Conditions any;
  const json::object shape{
      {"anyOf", json::array{config::list_schema(constraint_schema(), kMostItems),
                            condition_keys(any).schema()}}};
  return config::list_schema(shape, kMostAlternatives);
}

config::ReadValue read_alternatives(std::vector<rules::Alternative>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    if (place.node.kind != config::YamlNode::Kind::Sequence || place.node.items.empty()) {
      return place.must_be("a list of alternatives");
    }
    return config::read_list(kMostAlternatives, [&out](const config::Place& item) -> Result<void> {
      rules::Alternative alternative;
      alternative.is_list = item.node.kind == config::YamlNode::Kind::Sequence;
      if (alternative.is_list) {
        if (item.node.items.empty())
          return item.refuse("an alternative without constraints allows everything");
        SALLYPORT_CHECK_OK(
            config::read_list(kMostItems, constraint_into(alternative.constraints))(item));
      } else {
        SALLYPORT_CHECK_OK(read_conditions(item, alternative.conditions));
      }
      out.push_back(std::move(alternative));
      return {};
    })(place);
  };
}

}  // namespace sallyport::policy
