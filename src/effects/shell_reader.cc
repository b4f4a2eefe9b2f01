#include "effects/shell_reader.h"

#include <algorithm>
#include <utility>

#include "effects/path_text.h"
#include "effects/program_table.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

ShellReader::ShellReader(const ShellSetting& setting) : setting_(setting), expansion_(setting) {
  if (setting.folder) state_.folders.push_back(cleaned_path(*setting.folder));
}

void ShellReader::read_line(std::string_view line) {
  span_end_ = line.size();
  if (line.size() > kMostBytes) return fail(OpaqueReason::Limit, 0, line.size());
  check_characters(line);
  ShellParser parser(line, 0, commands_);
  const ShellSyntax syntax = parser.read();
  read_list(syntax.list, Place::Top);
  if (syntax.failure) fail(syntax.failure->reason, syntax.failure->start, syntax.failure->end);
}

void ShellReader::read_words(const std::vector<std::string>& words) {
  Invocation call;
  std::size_t bytes = 0;
  for (const std::string& word : words) {
    check_characters(word);
    bytes += word.size() + 1;
    call.words.push_back({.word = {.values = {word}}});
  }
  span_end_ = call.end = bytes;
  if (bytes > kMostBytes) return fail(OpaqueReason::Limit, 0, bytes);
  if (words.empty()) return;
  started_.emplace_back();
  for (const Argument& argument : call.words) started_.back().push_back(argument.word);
  run(std::move(call));
}

Effects ShellReader::take_effects() {
  if (out_.effects.empty()) out_.effects.push_back({.effect_class = "none"});
  return std::move(out_);
}

void ShellReader::read_list(const CommandList& list, Place place) {
  for (const AndOrList& item : list.items) {
    if (!item.background) {
      const std::vector<std::string> folders = state_.folders;
      read_and_or(item, place);
      doubt_move(folders);
      continue;
    }
    const ShellState before = state_;
    read_and_or(item, Place::Inside);
    const bool steered = state_.steered;
    state_ = before;
    state_.steered = state_.steered || steered;
  }
}

// After a failed `cd`, the commands after `;` run in the old folder.
void ShellReader::doubt_move(const std::vector<std::string>& before) {
  const bool certain = std::ranges::all_of(state_.folders, [&](const std::string& folder) {
    return folder == "/" || folder == "/tmp" || folder == setting_.home ||
           std::ranges::find(before, folder) != before.end() || expansion_.is_folder(folder);
  });
  if (state_.folders == before || state_.folders.empty() || certain) return;
  ShellState stayed = state_;
  stayed.folders = before;
  state_ = joined(stayed, state_);
}

void ShellReader::read_and_or(const AndOrList& item, Place place) {
  ShellState skipped = state_;  // the state if the next part does not run
  for (std::size_t i = 0; i < item.pipelines.size(); ++i) {
    if (i == 0) {
      read_pipeline(item.pipelines[0], place);
      continue;
    }
    const bool is_or = item.is_or[i - 1];
    const ShellState after = state_;
    // After `||` the part before it has failed, so it may have changed nothing.
    if (is_or) state_ = joined(skipped, state_);
    skipped = state_;
    read_pipeline(item.pipelines[i], Place::Inside);
    state_ = joined(after, state_);
  }
}

void ShellReader::read_pipeline(const Pipeline& pipeline, Place place) {
  if (pipeline.commands.size() == 1) {
    read_command(pipeline.commands[0], place);
    return;
  }
  const ShellState before = state_;
  const StandardInput outer = input_;
  const std::size_t requests = requests_;
  for (std::size_t i = 0; i < pipeline.commands.size(); ++i) {
    state_ = before;
    if (i > 0) input_ = {.redirected = true, .remote = outer.remote || requests_ > requests};
    read_command(pipeline.commands[i], Place::Inside);
  }
  state_ = before;
  input_ = outer;
}

void ShellReader::read_subshell(const CommandList& list) {
  const ShellState before = state_;
  if (++level_ <= kMostLevels) {
    read_list(list, Place::Inside);
  } else {
    fail(OpaqueReason::Limit, span_start_, span_end_);
  }
  --level_;
  state_ = before;
}

void ShellReader::read_command(const CommandSyntax& command, Place place) {
  if (limit_reached_) return;
  if (++work_ > kMostWork) {
    if (work_ == kMostWork + 1) fail(OpaqueReason::Limit, command.start, command.end);
    return;
  }
  if (command.kind == CommandSyntax::Kind::Simple) return read_simple(command, place);
  const StandardInput outer = input_;
  const std::size_t requests = requests_;
  const std::size_t effects = out_.effects.size();
  read_redirections(command, input_);
  const std::size_t behind = out_.effects.size();
  switch (command.kind) {
    case CommandSyntax::Kind::Subshell:
      for (const auto& list : command.lists) read_subshell(*list);
      break;
    case CommandSyntax::Kind::Group:
      for (const auto& list : command.lists) read_list(*list, Place::Inside);
      break;
    case CommandSyntax::Kind::If:
      read_if(command);
      break;
    case CommandSyntax::Kind::Loop:
      read_loop(command);
      break;
    case CommandSyntax::Kind::For:
      read_for(command);
      break;
    case CommandSyntax::Kind::Case:
      read_case(command);
      break;
    case CommandSyntax::Kind::Condition:
      read_condition(command);
      break;
    case CommandSyntax::Kind::Arithmetic:
      visit(command.parts);
      break;
    case CommandSyntax::Kind::Simple:
      break;
  }
  if (requests_ > requests) mark_downloads(effects, behind);
  input_ = outer;
}

void ShellReader::read_if(const CommandSyntax& command) {
  // Conditions run one after the other; each may lead to its branch.
  std::optional<ShellState> end;
  const auto ends = [&] { end = end ? joined(*end, state_) : state_; };
  const std::size_t pairs = command.lists.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    read_list(*command.lists[2 * i], Place::Inside);
    const ShellState condition = state_;
    read_list(*command.lists[2 * i + 1], Place::Inside);
    ends();
    state_ = condition;
  }
  if (command.lists.size() % 2 != 0) read_list(*command.lists.back(), Place::Inside);
  ends();
  state_ = *end;
}

void ShellReader::read_case(const CommandSyntax& command) {
  for (const WordSyntax& word : command.words) visit(word.parts);
  // `;&` falls through, so each branch starts where any branch before it may have ended.
  for (const auto& list : command.lists) {
    const ShellState before = state_;
    read_list(*list, Place::Inside);
    state_ = joined(before, state_);
  }
}

// Runs a body until the state at its start no longer changes between rounds.
template <class Body>
void ShellReader::repeat(const Body& body) {
  const std::size_t effects = out_.effects.size();
  const std::size_t opaque = out_.opaque.size();
  const std::size_t started = started_.size();
  for (int round = 1;; ++round) {
    const ShellState before = state_;
    const std::size_t version = changes_.version();
    const std::size_t doubtful = doubtful_.size();
    body();
    const bool same = joined(before, state_) == before;
    const bool steady = same && version == changes_.version() && doubtful == doubtful_.size();
    state_ = joined(before, state_);
    if (steady || round == 3 || limit_reached_) return;
    if (round == 2) {
      // A state that is correct for all further rounds.
      if (!same) state_.folders.clear();
      assign_unknown_names();
      changes_.written_unknown = true;
    }
    out_.effects.resize(std::min(out_.effects.size(), effects));
    out_.opaque.resize(std::min(out_.opaque.size(), opaque));
    started_.resize(started);
  }
}

void ShellReader::read_loop(const CommandSyntax& command) {
  repeat([&] {
    visit(command.parts);
    for (const auto& list : command.lists) read_list(*list, Place::Inside);
  });
}

void ShellReader::read_for(const CommandSyntax& command) {
  std::vector<std::string> values;
  bool known = command.has_in;
  for (const WordSyntax& word : command.words) {
    visit(word.parts);
    for (Word& field : expansion_.fields(word, state_, changes_)) {
      known = known && field.known() && values.size() <= kMostEffects;
      if (!known) break;
      std::ranges::move(field.values, std::back_inserter(values));
    }
  }
  if (!known) values.clear();
  const bool numbers = !values.empty() && std::ranges::all_of(values, is_integer);
  if (!numbers) doubtful_.insert(command.name);
  if (!numbers && is_arithmetic_variable(command.name)) {
    fail(OpaqueReason::Code, command.start, command.end);
  }
  if (steers_programs(command.name)) {
    state_.steered = true;
    fail(OpaqueReason::Environment, command.start, command.end);
  }
  repeat([&] {
    state_.set(command.name, values);
    for (const auto& list : command.lists) read_list(*list, Place::Inside);
    state_.set(command.name, {});
  });
  state_.set(command.name, {});
}

void ShellReader::read_condition(const CommandSyntax& command) {
  constexpr auto kNumbers =
      std::to_array<std::string_view>({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"});
  for (const WordSyntax& word : command.words) visit(word.parts);
  const auto evaluated = [&](const WordSyntax& word) {
    for (const Part& part : word.parts) {
      if (part.kind == Part::Kind::Command)
        return fail(OpaqueReason::Code, command.start, command.end);
    }
    if (!check_arithmetic(word.parts)) fail(OpaqueReason::Code, command.start, command.end);
  };
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const std::optional<std::string> bare = command.words[i].bare();
    if (!bare) continue;
    if (std::ranges::find(kNumbers, *bare) != kNumbers.end()) {
      if (i > 0) evaluated(command.words[i - 1]);
      if (i + 1 < command.words.size()) evaluated(command.words[i + 1]);
    }
    if ((bare == "-v" || bare == "-R") && i + 1 < command.words.size()) {
      evaluated(command.words[i + 1]);
    }
  }
}

// True if arithmetic may evaluate the expanded text. Arithmetic runs subscripts in values.
bool ShellReader::check_arithmetic(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    switch (part.kind) {
      case Part::Kind::Text:
        if (!is_safe_arithmetic(part.text)) return false;
        break;
      case Part::Kind::Parameter:
        if (!part.plain) {
          if (!part.inside.empty() || is_doubtful(part.text)) return false;
          break;
        }
        if (const auto* values = state_.find(part.text)) {
          if (!std::ranges::all_of(*values, [&](const auto& v) { return is_safe_arithmetic(v); }))
            return false;
        } else if (is_doubtful(part.text)) {
          return false;
        }
        break;
      case Part::Kind::Arithmetic:
        break;  // a number; its own content was checked separately
      default:
        return false;
    }
  }
  return true;
}

// Visits the commands in the parts of a word.
bool ShellReader::visit(const std::vector<Part>& parts) {
  const std::size_t requests = requests_;
  bool remote = false;
  for (const Part& part : parts) {
    if (part.list != nullptr) {
      const StandardInput outer = input_;
      read_subshell(*part.list);
      input_ = outer;
      remote = remote || requests_ > requests;
    }
    if (!part.inside.empty()) remote = visit(part.inside) || remote;
    const bool evaluates = part.kind == Part::Kind::Arithmetic || part.arithmetic;
    if (evaluates && !check_arithmetic(part.inside)) {
      fail(OpaqueReason::Code, span_start_, span_end_);
    }
    // `((x = 1))`, `${x:=y}`.
    if (part.kind == Part::Kind::Arithmetic) {
      for (const Part& inner : part.inside) {
        if (inner.kind != Part::Kind::Text) continue;
        std::size_t at = 0;
        while (at < inner.text.size()) {
          const std::size_t end = name_end(inner.text, at);
          if (end > at) state_.set(inner.text.substr(at, end - at), {});
          at = std::max(end, at + 1);
        }
      }
    } else if (part.kind == Part::Kind::Parameter && !part.plain) {
      const bool sets =
          !part.inside.empty() && part.inside[0].kind == Part::Kind::Text &&
          (part.inside[0].text.starts_with('=') || part.inside[0].text.starts_with(":="));
      if (sets) {
        assign(part.text, {});
        if (steers_programs(part.text)) {
          state_.steered = true;
          fail(OpaqueReason::Environment, span_start_, span_end_);
        }
      }
    }
  }
  return remote;
}

}  // namespace sallyport::effects
