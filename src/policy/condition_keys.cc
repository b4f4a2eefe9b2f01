#include "policy/condition_keys.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "effects/command_line.h"
#include "policy/yaml_json.h"

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

ReadValue one_or_more(std::size_t most, ReadValue read) {
  return [most, read = std::move(read)](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Sequence) return read(place);
    if (place.node.items.empty())
      return place.refuse("the list is empty; name something or leave it out");
    return read_list(most, read)(place);
  };
}

ReadValue names_into(std::vector<std::string>& out) {
  return one_or_more(kMostItems, [&out](const Place& place) -> Result<void> {
    std::string name;
    SALLYPORT_CHECK_OK(read_text(name, kLongestRuleName)(place));
    out.push_back(std::move(name));
    return {};
  });
}

// A list of one answer is that answer.
ReadValue truth_into(std::optional<bool>& out) {
  return one_or_more(2, [&out](const Place& place) -> Result<void> {
    bool said = false;
    SALLYPORT_CHECK_OK(read_truth(said)(place));
    if (out && *out != said) {
      return place.refuse("true or false is always so; leave the condition out");
    }
    out = said;
    return {};
  });
}

namespace {

template <class Item>
ReadValue parsed_into(std::vector<Item>& out, Result<Item> (*parse)(std::string_view)) {
  return one_or_more(kMostItems, [&out, parse](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(read_text(text, kLongestPattern)(place));
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

Result<void> read_run(const Place& place, std::vector<std::string>& out) {
  std::string text;
  SALLYPORT_CHECK_OK(read_text(text, kLongestPattern)(place));
  out = words_of(text);
  if (out.empty()) return place.refuse("name a program and its first words");
  return {};
}

Mapping command_keys(effects::CommandPattern& out) {
  Mapping keys("a command");
  keys.required("run", "the program and its first words", text_schema(kLongestPattern),
                [&out](const Place& place) { return read_run(place, out.run); })
      .optional("flags", "one of these is present",
                one_or_list(text_schema(kLongestRuleName), kMostItems), names_into(out.flags))
      .optional("without", "none of these is present",
                one_or_list(text_schema(kLongestRuleName), kMostItems), names_into(out.without));
  return keys;
}

ReadValue command_into(std::vector<effects::CommandPattern>& out) {
  return one_or_more(kMostItems, [&out](const Place& place) -> Result<void> {
    effects::CommandPattern pattern;
    if (place.node.kind == YamlNode::Kind::Mapping) {
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
          {"properties",
           json::object{{"type", text_schema(kLongestRuleName)}, {"value", json::object{}}}}};
}

ReadValue constraint_into(std::vector<rules::Argument>& out) {
  return [&out](const Place& place) -> Result<void> {
    Constraint constraint;
    Mapping keys("a constraint on the input");
    keys.required("type", "which one", text_schema(kLongestRuleName),
                  read_text(constraint.type, kLongestRuleName))
        .required("value", "what it takes", json::object{},
                  [&](const Place& value) -> Result<void> {
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

Result<void> read_class(const Place& place, std::vector<std::string>& out) {
  std::string name;
  SALLYPORT_CHECK_OK(read_text(name, kLongestRuleName)(place));
  out.push_back(std::move(name));
  return {};
}

Mapping condition_keys(Conditions& out) {
  const json::object names = one_or_list(text_schema(kLongestRuleName), kMostItems);
  const json::object patterns = one_or_list(text_schema(kLongestPattern), kMostItems);
  effects::CommandPattern any_command;
  Mapping keys("conditions that must all hold");
  keys.optional("agent", "the authenticated agent, or a sub-agent of it", names,
                names_into(out.agent))
      .optional("session", "the session", names, names_into(out.session))
      .optional("front", "how the call came", one_or_list(choice_schema(kRuleFronts), kMostItems),
                one_or_more(kMostItems, read_choice(kRuleFronts,
                                                    [&out](std::size_t at) {
                                                      out.front.push_back(kRuleFronts[at]);
                                                    })))
      .optional("interactive", "the host can ask its user", one_or_list(truth_schema(), 2),
                truth_into(out.interactive))
      .optional("server", "name of the server", names, names_into(out.server))
      .optional("tool", "name of the tool; `*` stands for any letters", names, names_into(out.tool))
      .optional(
          "class", "class of the effect, such as `fs.write`", names,
          one_or_more(kMostItems,
                      [&out](const Place& place) { return read_class(place, out.effect_class); }))
      .optional("path", "globs, one of which its path matches", patterns,
                parsed_into<rules::Glob>(out.path, rules::Glob::parse))
      .optional("inside", "folders, in one of which its path lies", patterns,
                parsed_into<rules::FolderName>(out.inside, rules::FolderName::parse))
      .optional("outside", "folders, in none of which its path lies", patterns,
                parsed_into<rules::FolderName>(out.outside, rules::FolderName::parse))
      .optional("recursive", "it reaches everything below its path", one_or_list(truth_schema(), 2),
                truth_into(out.recursive))
      .optional("opaque", "the program that runs is not known", one_or_list(truth_schema(), 2),
                truth_into(out.opaque))
      .optional("host", "hosts, `*.suffix` or `private`", patterns,
                parsed_into<rules::HostName>(out.host, rules::HostName::parse))
      .optional("command", "words, or `{run, flags, without}`",
                one_or_list({{"anyOf", json::array{text_schema(kLongestPattern),
                                                   command_keys(any_command).schema()}}},
                            kMostItems),
                command_into(out.command))
      .optional("args", "constraints on the input, all of which must hold",
                one_or_list(constraint_schema(), kMostItems),
                one_or_more(kMostItems, constraint_into(out.args)));
  return keys;
}

// An empty mapping would match everything, which its author did not mean.
Result<void> read_conditions(const Place& place, Conditions& out) {
  if (place.node.kind != YamlNode::Kind::Mapping || place.node.members.empty()) {
    return place.refuse("conditions belong here; leave the key out where the rule always applies");
  }
  return condition_keys(out).read(place);
}

}  // namespace

json::object when_schema() {
  Conditions any;
  return one_or_list(condition_keys(any).schema(), kMostAlternatives);
}

ReadValue read_when(std::vector<Conditions>& out) {
  return one_or_more(kMostAlternatives, [&out](const Place& place) -> Result<void> {
    Conditions conditions;
    SALLYPORT_CHECK_OK(read_conditions(place, conditions));
    out.push_back(std::move(conditions));
    return {};
  });
}

json::object alternatives_schema() {
  Conditions any;
  const json::object one{{"anyOf", json::array{list_schema(constraint_schema(), kMostItems),
                                               condition_keys(any).schema()}}};
  return list_schema(one, kMostAlternatives);
}

ReadValue read_alternatives(std::vector<rules::Alternative>& out) {
  return [&out](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Sequence || place.node.items.empty()) {
      return place.refuse("a list of alternatives belongs here");
    }
    return read_list(kMostAlternatives, [&out](const Place& item) -> Result<void> {
      rules::Alternative one;
      one.is_list = item.node.kind == YamlNode::Kind::Sequence;
      if (one.is_list) {
        if (item.node.items.empty())
          return item.refuse("an alternative without constraints allows everything");
        SALLYPORT_CHECK_OK(read_list(kMostItems, constraint_into(one.constraints))(item));
      } else {
        SALLYPORT_CHECK_OK(read_conditions(item, one.conditions));
      }
      out.push_back(std::move(one));
      return {};
    })(place);
  };
}

}  // namespace sallyport::policy
