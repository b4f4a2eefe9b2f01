#include "effects/arguments.h"

#include <algorithm>

namespace sallyport::effects {

bool Arguments::has(char meaning) const {
  return std::ranges::any_of(options, [&](const GivenOption& given) {
    return given.option != nullptr && given.option->meaning == meaning;
  });
}

bool Arguments::has(std::string_view spelling) const {
  return std::ranges::any_of(options, [&](const GivenOption& given) {
    if (given.spelling == spelling) return true;
    return given.option != nullptr &&
           std::ranges::find(given.option->spellings, spelling) != given.option->spellings.end();
  });
}

const Argument* Arguments::value(char meaning) const {
  for (const GivenOption& given : options) {
    if (given.option != nullptr && given.option->meaning == meaning && given.value)
      return &*given.value;
  }
  return nullptr;
}

const Argument* Arguments::value(std::string_view spelling) const {
  for (const GivenOption& given : options) {
    if (given.option == nullptr || !given.value) continue;
    const auto& known = given.option->spellings;
    if (std::ranges::find(known, spelling) != known.end()) return &*given.value;
  }
  return nullptr;
}

bool Arguments::has_unknown() const {
  return std::ranges::any_of(options, [](const GivenOption& given) {
    return given.option == nullptr && given.spelling.starts_with("--");
  });
}

Argument literal(std::string text) {
  return {.word = {.values = {std::move(text)}}};
}

namespace {

class Reading {
 public:
  Reading(const std::vector<Argument>& words, std::size_t from, const ArgumentRules& rules)
      : words_(words), at_(from), rules_(rules) {}

  Arguments run() {
    while (at_ < words_.size()) {
      const Argument& argument = words_[at_];
      if (!argument.word.known()) {
        if (rules_.stop_at_operand) break;
        out_.unclear = out_.unclear || (argument.below.empty() && !argument.process);
        out_.operands.push_back(argument);
        ++at_;
        continue;
      }
      const std::string& text = argument.word.values[0];
      const bool option = std::ranges::any_of(argument.word.values, is_option);
      if (!option) {
        if (rules_.stop_at_operand) break;
        out_.operands.push_back(argument);
        ++at_;
        continue;
      }
      if (argument.word.values.size() > 1) {
        // The word may have several values, some of them options: all of them count.
        ++at_;
        for (const std::string& value : argument.word.values) {
          if (is_option(value)) {
            read_option(value);
          } else {
            out_.operands.push_back(literal(value));
          }
        }
        out_.unclear = true;
        continue;
      }
      ++at_;
      if (text == "--") {
        out_.dashes = true;
        break;
      }
      read_option(text);
    }
    out_.before_dashes = out_.operands.size();
    out_.next = at_;
    if (rules_.stop_at_operand) return std::move(out_);
    for (; at_ < words_.size(); ++at_) out_.operands.push_back(words_[at_]);
    return std::move(out_);
  }

 private:
  static bool is_option(const std::string& text) { return text.size() > 1 && text[0] == '-'; }

  void read_option(const std::string& text) {
    if (text.starts_with("--") || rules_.single_dash) {
      const std::size_t equals = text.find('=');
      GivenOption given{.option = find_option(rules_.options, text.substr(0, equals)),
                        .spelling = text.substr(0, equals)};
      if (equals != std::string::npos) {
        given.value = literal(text.substr(equals + 1));
      } else if (given.option != nullptr && given.option->takes_value) {
        take_value(given);
      }
      out_.options.push_back(std::move(given));
      return;
    }
    // The whole word may be one option, such as `-len`.
    if (const Option* whole = find_option(rules_.options, text);
        whole != nullptr && text.size() > 2) {
      GivenOption given{.option = whole, .spelling = text};
      if (whole->takes_value) take_value(given);
      out_.options.push_back(std::move(given));
      return;
    }
    constexpr std::size_t kMostLetters = 256;
    out_.unclear = out_.unclear || text.size() > kMostLetters;
    for (std::size_t i = 1; i < std::min(text.size(), kMostLetters); ++i) {
      GivenOption given{.spelling = {'-', text[i]}};
      given.option = find_option(rules_.options, given.spelling);
      const bool attached =
          given.option != nullptr && (given.option->takes_value || given.option->meaning == '?');
      if (attached && i + 1 < text.size()) {
        given.value = literal(text.substr(i + 1));
        out_.options.push_back(std::move(given));
        return;
      }
      if (attached && given.option->takes_value) take_value(given);
      out_.options.push_back(std::move(given));
    }
  }

  void take_value(GivenOption& given) {
    if (at_ < words_.size()) given.value = words_[at_++];
    // It may be any number of words: the value and more.
    if (given.value && given.value->word.many) out_.unclear = true;
  }

  const std::vector<Argument>& words_;
  std::size_t at_;
  const ArgumentRules& rules_;
  Arguments out_{};
};

}  // namespace

Arguments read_arguments(const std::vector<Argument>& words, std::size_t from,
                         const ArgumentRules& rules) {
  return Reading(words, from, rules).run();
}

}  // namespace sallyport::effects
