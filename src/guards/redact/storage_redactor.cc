#include "guards/redact/storage_redactor.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "base/json_cursor.h"
#include "base/json_pointer.h"
#include "core/plan/command_names.h"
#include "guards/detect/long_integer.h"
#include "guards/detect/service_account.h"
#include "guards/redact/member_names.h"
#include "guards/redact/redaction_mark.h"
#include "guards/redact/sensitive_name.h"
#include "guards/redact/text_redaction.h"

namespace sallyport::guards {

namespace {

// The effect of the names above a value.
enum class Reach : std::uint8_t {
  Plain,      // detectors only
  Sensitive,  // it is the value of a sensitive name
  Inside,     // it is within such a value: numbers may be counts and stay
  Schemas,    // its members are schemas, each named after the member it describes
  Schema,     // it describes a sensitive member
};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_schema(const json::value& value) {
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"string", "number", "integer", "boolean", "object", "array", "null"});
  constexpr auto kCombiners = std::to_array<std::string_view>({"$ref", "anyOf", "oneOf", "allOf"});
  const json::object* object = value.if_object();
  if (object == nullptr) return false;
  const json::value* type = object->if_contains("type");
  if (type != nullptr) {
    return type->is_array() || (type->is_string() && is_one_of(type->get_string(), kTypes));
  }
  return std::ranges::any_of(
      kCombiners, [object](std::string_view keyword) { return object->contains(keyword); });
}

// The effect of a member name on its value, in an object of the given reach.
Reach reach_of_member(Reach object, std::string_view name, const json::value& value) {
  constexpr auto kStatesValue =
      std::to_array<std::string_view>({"default", "const", "enum", "example", "examples", "value"});
  if (object == Reach::Sensitive || object == Reach::Inside) return Reach::Inside;
  if (object == Reach::Schema && is_one_of(name, kStatesValue)) return Reach::Sensitive;
  if (is_sensitive_name(name)) {
    return object == Reach::Schemas && is_schema(value) ? Reach::Schema : Reach::Sensitive;
  }
  return name == "properties" ? Reach::Schemas : Reach::Plain;
}

// JSON as text, as tools often answer, begins like this.
bool may_be_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

// Redacts one value.
class Walk {
 public:
  // `outer`: the walk that found this value as JSON in a text, or null. They share its budget of
  // values.
  Walk(const Detectors& detectors, std::string_view name, const Walk* outer = nullptr)
      : detectors_(detectors),
        values_(outer != nullptr ? outer->values_ : kMostInTexts),
        name_(name),
        outer_(outer) {}

  void visit(json::value& value, Reach reach) {
    if (value.is_object()) {
      visit_object(value, reach);
    } else if (value.is_array()) {
      visit_array(value.get_array(), reach);
    } else if (value.is_string()) {
      visit_string(value, reach);
    } else if (value.is_number()) {
      visit_number(value, reach);
    }
  }

  std::vector<core::Removal> take_removals() { return std::move(removals_); }

 private:
  using Step = std::variant<std::string_view, std::size_t>;  // a name or an index

  void visit_object(json::value& value, Reach reach) {
    json::object& object = value.get_object();
    if (is_bare_service_account(object)) {
      record(Detector::GcpServiceAccount, canonical_json(value));
      value = nullptr;
      return;
    }
    std::vector<Reach> reaches;
    reaches.reserve(object.size());
    for (const auto& member : object) {
      reaches.push_back(reach_of_member(reach, member.key(), member.value()));
    }
    visit_names(object);
    for (std::size_t i = 0; auto& member : object) {
      steps_.emplace_back(std::string_view(member.key()));
      visit(member.value(), reaches[i++]);
      steps_.pop_back();
    }
  }

  void visit_names(json::object& object) {
    for (RenamedMember& member : redact_member_names(detectors_, object)) {
      steps_.emplace_back(std::string_view(member.name));
      // A removal from a name has no place in a text.
      for (RemovedText& removed : member.removed) record(removed.detector, removed.bytes);
      steps_.pop_back();
    }
  }

  void visit_array(json::array& array, Reach reach) {
    const Reach inside = reach == Reach::Sensitive ? Reach::Inside : reach;
    for (std::size_t i = 0; i < array.size(); ++i) {
      steps_.emplace_back(i);
      visit(array[i], inside);
      steps_.pop_back();
    }
  }

  void visit_string(json::value& value, Reach reach) {
    const std::string_view text = value.get_string();
    if (reach != Reach::Sensitive && reach != Reach::Inside) {
      if (!replace_in_json_text(value, text)) replace_matches(value, text);
    } else if (!text.empty() && !is_redaction_mark(text)) {
      replace_whole(value, text);
    }
  }

  // Redacts JSON inside a text, so that its member names count too.
  bool replace_in_json_text(json::value& value, std::string_view text) {
    constexpr std::size_t kLongest = 1u << 20;
    if (text.size() > kLongest || !may_be_json(text)) return false;
    Result<ParsedJson> parsed = parse_json(text, {.values = values_});
    if (!parsed || !parsed->exact) {
      // Parsing the text costs time too.
      values_ -= std::min(values_, text.size() / 16);
      return false;
    }
    values_ -= parsed->values;
    Walk inner(detectors_, {}, this);
    inner.visit(parsed->value, Reach::Plain);
    values_ = inner.values_;
    const std::vector<core::Removal> removals = inner.take_removals();
    if (removals.empty()) return false;
    const std::string here = path();
    for (const core::Removal& removal : removals) {
      removals_.push_back(
          {here, removal.category, removal.removed, removal.detector, std::nullopt, text.size()});
    }
    value = canonical_json(parsed->value);
    return true;
  }

  void visit_number(json::value& value, Reach reach) {
    const std::string text = number_text(value);
    if (reach == Reach::Sensitive) {
      replace_whole(value, text);
    } else if (is_long_integer(text)) {
      replace_matches(value, text);
    }
  }

  void replace_whole(json::value& value, std::string_view text) {
    removals_.push_back({path(), std::string(to_string(Category::Secret)), std::string(text),
                         "member_name", 0, text.size()});
    value = redaction_mark(Category::Secret);
  }

  void replace_matches(json::value& value, std::string_view text) {
    RedactedText redacted = redact_text(detectors_, text);
    // In a shell, the words after `password=x` are a command, so they stay visible.
    const bool words = std::ranges::any_of(redacted.removed, [](const RemovedText& removed) {
      return removed.detector == Detector::PassphraseAssignment;
    });
    if (words && in_command()) {
      redacted = redact_text(detectors_, text,
                             default_detectors().reset(index_of(Detector::PassphraseAssignment)));
    }
    if (redacted.removed.empty()) return;
    for (const RemovedText& removed : redacted.removed) {
      record(removed.detector, removed.bytes);
      removals_.back().at = removed.at;
      removals_.back().of = text.size();
    }
    value = redacted.text;
  }

  // True if a name around the value marks it as a command. `args` of a record is the list of
  // inputs.
  bool in_command() const {
    if (name_ != "args" && core::is_command_name(name_)) return true;
    for (const Step& step : steps_) {
      const std::string_view* const name = std::get_if<std::string_view>(&step);
      if (name != nullptr && core::is_command_name(*name)) return true;
    }
    return outer_ != nullptr && outer_->in_command();
  }

  void record(Detector detector, std::string_view bytes) {
    removals_.push_back({path(), std::string(to_string(category_of(detector))), std::string(bytes),
                         std::string(name_of(detector)), std::nullopt, bytes.size()});
  }

  std::string path() const {
    std::string path;
    for (const Step& step : steps_) {
      if (const std::size_t* index = std::get_if<std::size_t>(&step)) {
        append_step(path, std::to_string(*index));
      } else {
        append_step(path, std::get<std::string_view>(step));
      }
    }
    return path;
  }

  // The most values in all JSON texts of one value: a megabyte of text may hold half a million.
  // Further texts are searched as plain texts.
  static constexpr std::size_t kMostInTexts = 250'000;

  const Detectors& detectors_;
  std::size_t values_;
  std::vector<Step> steps_;
  std::vector<core::Removal> removals_;
  std::string_view name_;
  const Walk* outer_;
};

// Reads a JSON text once and stops at the first part that `Walk` might redact or must see as a
// whole. A text that passes is clean.
class CleanText {
 public:
  CleanText(const Detectors& detectors, std::string_view text)
      : detectors_(detectors), cursor_(text) {}

  bool whole(std::string_view name) { return value(name) && cursor_.at_end(); }

 private:
  bool value(std::string_view name) {
    if (is_sensitive_name(name) || name == "properties") return false;
    switch (cursor_.peek()) {
      case '{':
        return members();
      case '[':
        return items();
      case '"':
        return string();
      case 't':
      case 'f':
      case 'n':
        return cursor_.take_literal();
      default:
        return number();
    }
  }

  bool members() {
    cursor_.take('{');
    if (cursor_.take('}')) return true;
    do {
      std::string scratch;
      const std::string_view written = cursor_.take_string();
      if (written.empty()) return false;
      const std::string_view name = string_in(written, scratch);
      if (!has_no_match(name) || !cursor_.take(':') || !value(name)) return false;
    } while (cursor_.take(','));
    return cursor_.take('}');
  }

  bool items() {
    cursor_.take('[');
    if (cursor_.take(']')) return true;
    do {
      if (!value({})) return false;
    } while (cursor_.take(','));
    return cursor_.take(']');
  }

  bool string() {
    std::string scratch;
    const std::string_view written = cursor_.take_string();
    if (written.empty()) return false;
    const std::string_view text = string_in(written, scratch);
    return !may_be_json(text) && has_no_match(text);
  }

  bool number() {
    constexpr std::size_t kLongInteger = 9;
    const std::string_view number = cursor_.take_number();
    return !number.empty() && number.size() < kLongInteger;
  }

  bool has_no_match(std::string_view text) const {
    return detectors_.scan(text, default_detectors()).empty();
  }

  const Detectors& detectors_;
  JsonCursor cursor_;
};

}  // namespace

StorageRedactor::StorageRedactor(std::shared_ptr<const Detectors> detectors)
    : detectors_(std::move(detectors)) {}

std::vector<core::Removal> StorageRedactor::redact(std::string_view name,
                                                   json::value& value) const {
  Walk walk(*detectors_, name);
  walk.visit(value, reach_of_member(Reach::Plain, name, value));
  return walk.take_removals();
}

bool StorageRedactor::is_clean(std::string_view name, std::string_view text) const {
  try {
    return CleanText(*detectors_, text).whole(name);
  } catch (const std::exception&) {
    return false;  // it is not known to be clean
  }
}

bool StorageRedactor::redact_identifier(std::string& text) const {
  constexpr std::size_t kRemembered = 256;
  if (clean_.with([&](const auto& clean) { return clean.contains(text); })) return false;
  RedactedText redacted = redact_text(*detectors_, text, detectors_of(Category::Secret));
  if (redacted.removed.empty()) {
    clean_.with([&](auto& clean) {
      if (clean.size() == kRemembered) clean.clear();
      clean.insert(text);
    });
    return false;
  }
  text = std::move(redacted.text);
  return true;
}

}  // namespace sallyport::guards
