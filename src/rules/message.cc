#include "rules/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/cut_text.h"
#include "base/visible_text.h"

namespace sallyport::rules {

namespace {

using effects::Effect;

constexpr std::size_t kLongestValue = 200;  // characters
constexpr std::string_view kVariables[] = {"path", "host", "command", "workspace"};

std::string shown(std::string_view text) {
  return cut_code_points(visible(text), kLongestValue);
}

std::string path_text(const Effect& effect) {
  if (!effect.path || effect.path->unknown) return {};
  const PathForms forms = forms_of(*effect.path, nullptr);
  return forms.unknown ? effect.path->text : forms.forms.front().text();
}

std::string workspace_text(const Scene& scene) {
  std::string all;
  for (const std::string& folder : scene.facts().workspace) {
    if (!all.empty()) all += ", ";
    all += folder;
  }
  return all;
}

std::string value_of(std::string_view variable, const Effect& effect, const Scene& scene) {
  std::string value;
  if (variable == "path") {
    value = effect.path ? path_text(effect) : std::string();
  } else if (variable == "host") {
    value = effect.host ? effect.host->text : std::string();
  } else if (variable == "command") {
    value = effect.command ? command_text(*effect.command) : std::string();
  } else {
    value = workspace_text(scene);
  }
  return value.empty() ? "unknown" : shown(value);
}

std::string filled(std::string_view message, const Effect& effect, const Scene& scene) {
  std::string out;
  while (!message.empty()) {
    const std::size_t mark = message.find("${");
    out += message.substr(0, mark);
    if (mark == std::string_view::npos) break;
    message.remove_prefix(mark);
    const std::size_t end = message.find('}');
    if (end == std::string_view::npos) {
      out += message;
      break;
    }
    out += value_of(message.substr(2, end - 2), effect, scene);
    message.remove_prefix(end + 1);
  }
  return out;
}

struct Deed {
  std::string_view effect_class;
  std::string_view verb;  // followed by a path or a host, or alone
};
constexpr Deed kDeeds[] = {{"fs.read", "reads"},
                           {"fs.write", "writes"},
                           {"fs.delete", "deletes"},
                           {"git.write", "changes the repository at"},
                           {"git.discard", "discards work in the repository at"},
                           {"message.send", "sends a message to"},
                           {"network.request", "sends a request to"},
                           {"package.install", "installs packages from"},
                           {"package.publish", "publishes a package to"},
                           {"process.exec", "runs"},
                           {"code.remote", "runs code from the network"},
                           {"privilege", "runs with other rights"},
                           {"db.read", "reads a database"},
                           {"db.write", "changes a database"},
                           {"db.schema", "changes the schema of a database"},
                           {"none", "prints, plans or asks its user"}};

// The target of a push: the first words after `push` that are not flags. Empty: Git's default.
std::vector<std::string> push_words(const effects::Command& command) {
  constexpr std::string_view kTakesValue[] = {"-o", "--push-option", "--receive-pack", "--exec",
                                              "--repo"};
  std::vector<std::string> found;
  bool behind = false;
  bool is_value = false;
  for (const effects::Word& word : command.words) {
    const std::string text = word.values.empty() ? std::string("...") : word.values.front();
    if (!behind) {
      behind = text == "push";
    } else if (std::exchange(is_value, false)) {
      continue;
    } else if (text.starts_with('-')) {
      is_value = std::ranges::find(kTakesValue, text) != std::end(kTakesValue);
    } else {
      found.push_back(text);
    }
  }
  return found;
}

std::string push_of(const Effect& effect) {
  const std::vector<std::string> words =
      effect.command ? push_words(*effect.command) : std::vector<std::string>();
  if (words.size() > 1) {
    return fmt::format("it pushes `{}` to `{}`", shown(words[1]), shown(words[0]));
  }
  if (words.size() == 1) return fmt::format("it pushes commits to `{}`", shown(words[0]));
  const std::string folder = path_text(effect);
  return folder.empty() ? std::string("it pushes commits")
                        : fmt::format("it pushes commits of the repository at `{}`", shown(folder));
}

std::string deed_of(const Effect& effect) {
  if (effect.effect_class == "git.push" && !effect.opaque) return push_of(effect);
  if (effect.opaque) {
    const std::string command = effect.command ? command_text(*effect.command) : std::string();
    return command.empty() ? "the program that it runs is not known"
                           : fmt::format("the program that `{}` runs is not known", shown(command));
  }
  const auto deed = std::ranges::find(kDeeds, effect.effect_class, &Deed::effect_class);
  std::string text = deed == std::end(kDeeds)
                         ? fmt::format("it has an effect of the class `{}`", effect.effect_class)
                         : fmt::format("it {}", deed->verb);
  const auto without_place = [&] {
    for (const std::string_view word : {" at", " to", " from"}) {
      if (text.ends_with(word)) text.resize(text.size() - word.size());
    }
  };
  if (effect.path) {
    const std::string path = path_text(effect);
    text +=
        path.empty() ? std::string(" a path that is not known") : fmt::format(" `{}`", shown(path));
  } else if (effect.host) {
    text += effect.host->unknown ? std::string(" a host that is not known")
                                 : fmt::format(" `{}`", shown(effect.host->text));
  } else if (effect.effect_class == "process.exec") {
    const std::string command = effect.command ? command_text(*effect.command) : std::string();
    text += command.empty() ? std::string(" a program") : fmt::format(" `{}`", shown(command));
  } else {
    without_place();
  }
  if (effect.recursive) text += " recursively";
  return text;
}

// The first condition that adds something to the effect itself.
std::string condition_of(const Rule& rule, const Effect& effect, const Scene& scene) {
  for (const Conditions& conditions : rule.when) {
    if (!conditions.outside.empty()) {
      const FolderName& folder = conditions.outside.front();
      if (folder.kind != FolderName::Kind::Workspace) {
        return fmt::format(", outside of `{}`", shown(folder.text()));
      }
      const std::string workspace = workspace_text(scene);
      return workspace.empty() ? std::string(", and the workspace is not known")
                               : fmt::format(", outside of the workspace `{}`", shown(workspace));
    }
    if (!conditions.inside.empty()) {
      return fmt::format(", inside of `{}`", shown(conditions.inside.front().text()));
    }
    if (!conditions.path.empty() && effect.path && !effect.path->unknown) {
      return ", a path that the rule names";
    }
    if (!conditions.host.empty() && effect.host && !effect.host->unknown &&
        conditions.host.front().kind == HostName::Kind::Private) {
      return ", a private address";
    }
    if (!conditions.command.empty() && effect.command && effect.effect_class != "process.exec") {
      return fmt::format(" with `{}`", shown(command_text(*effect.command)));
    }
    if (!conditions.tool.empty()) {
      return fmt::format(", a call of `{}`", shown(scene.facts().call.tool));
    }
    if (!conditions.agent.empty()) {
      return fmt::format(", a call by `{}`", shown(scene.facts().call.agent_id));
    }
  }
  return {};
}

}  // namespace

std::string command_text(const effects::Command& command) {
  std::string text;
  for (const effects::Word& word : command.words) {
    if (!text.empty()) text += ' ';
    text += word.values.empty() ? std::string("...") : word.values.front();
  }
  return text;
}

std::optional<std::string> unknown_variable(std::string_view message) {
  for (std::size_t mark = message.find("${"); mark != std::string_view::npos;
       mark = message.find("${", mark + 2)) {
    const std::size_t end = message.find('}', mark);
    const std::string_view name =
        message.substr(mark + 2, end == std::string_view::npos ? end : end - mark - 2);
    if (end == std::string_view::npos ||
        std::ranges::find(kVariables, name) == std::end(kVariables)) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

std::string message_of(const Rule& rule, const RuleMatch& match, const effects::Effects& effects,
                       const Scene& scene, const std::string& why) {
  const Effect& effect = effects.effects[match.effect];
  std::string text;
  if (!rule.message.empty()) {
    text = filled(rule.message, effect, scene);
  } else if (!why.empty()) {
    text = deed_of(effect) + ", and " + why;
  } else {
    text = deed_of(effect) + condition_of(rule, effect, scene);
  }
  return cut_code_points(text, kLongestMessage);
}

std::string result_message(const Rule& rule, const RuleMatch& match,
                           const effects::Effects& effects, const Scene& scene) {
  if (rule.message.empty() && !(rule.result && rule.result->any && !rule.when.empty())) return {};
  return message_of(rule, match, effects, scene, {});
}

}  // namespace sallyport::rules
