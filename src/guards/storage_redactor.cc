#include "guards/storage_redactor.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "guards/redaction_mark.h"
#include "guards/sensitive_name.h"
#include "guards/service_account.h"
#include "guards/text_redaction.h"

namespace sallyport::guards {

namespace {

// How the names above a value bear on it.
enum class Reach {
  Plain,      // detectors only
  Sensitive,  // it is the value of a sensitive name
  Inside,     // it is within such a value: numbers may be counts and stay
  Schemas,    // its members are schemas of members, named after them
  Schema,     // it describes a sensitive member
};

bool is_integer_of_nine_digits(const json::value& value) {
  constexpr std::int64_t kLeast = 100'000'000;
  if (value.is_uint64()) return value.get_uint64() >= static_cast<std::uint64_t>(kLeast);
  if (value.is_int64()) return value.get_int64() >= kLeast || value.get_int64() <= -kLeast;
  // A double is stored in its ECMAScript form, which writes whole numbers below 1e21 as integers.
  if (!value.is_double()) return false;
  const double number = std::fabs(value.get_double());
  return number >= static_cast<double>(kLeast) && number < 1e21 && std::floor(number) == number;
}

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

// What stands behind a name, seen from the reach of the object that holds it.
Reach reach_of_member(Reach object, std::string_view name, const json::value& value) {
  if (object == Reach::Sensitive || object == Reach::Inside) return Reach::Inside;
  if (object == Reach::Schema) {
    const bool states_value = name == "default" || name == "const" || name == "enum" ||
                              name == "example" || name == "examples";
    return states_value ? Reach::Sensitive : Reach::Plain;
  }
  if (is_sensitive_name(name)) {
    return object == Reach::Schemas && value.is_object() ? Reach::Schema : Reach::Sensitive;
  }
  return name == "properties" && value.is_object() ? Reach::Schemas : Reach::Plain;
}

// One walk over one value.
class Walk {
 public:
  explicit Walk(const Detectors& detectors) : detectors_(detectors) {}

  void visit(json::value& value, Reach reach) {
    if (json::object* object = value.if_object()) {
      visit_object(value, *object, reach);
    } else if (json::array* array = value.if_array()) {
      visit_array(*array, reach);
    } else if (value.is_string()) {
      visit_string(value, reach);
    } else if (value.is_number()) {
      visit_number(value, reach);
    }
  }

  std::vector<core::Removal> take_removals() && { return std::move(removals_); }

 private:
  void visit_object(json::value& value, json::object& object, Reach reach) {
    if (is_service_account(object)) {
      remove(value, nullptr, Category::Secret, canonical_json(value));
      return;
    }
    std::vector<Reach> reaches;  // by the names as they came
    reaches.reserve(object.size());
    for (const auto& member : object) {
      reaches.push_back(reach_of_member(reach, member.key(), member.value()));
    }
    visit_names(object);
    for (std::size_t i = 0; auto& member : object) {
      const PathMark mark(*this, member.key());
      visit(member.value(), reaches[i++]);
    }
  }

  // Rewrites names that hold something. The others keep theirs, so they are spoken for first.
  void visit_names(json::object& object) {
    std::vector<RedactedText> names;
    std::set<std::string, std::less<>> spoken_for;
    bool any = false;
    for (const auto& member : object) {
      names.push_back(redact_text(detectors_, member.key()));
      if (names.back().removed.empty()) continue;
      any = true;
    }
    if (!any) return;
    for (std::size_t i = 0; const auto& member : object) {
      if (names[i++].removed.empty()) spoken_for.emplace(member.key());
    }
    json::object renamed(object.storage());
    renamed.reserve(object.size());
    std::map<std::string, int> last_number;
    for (std::size_t i = 0; auto& member : object) {
      RedactedText& name = names[i++];
      std::string key(member.key());
      if (!name.removed.empty()) {
        key = name.text;
        int& number = last_number.try_emplace(name.text, 1).first->second;
        while (!spoken_for.insert(key).second) {
          key = name.text + "#" + std::to_string(++number);
        }
        const PathMark mark(*this, key);
        for (RemovedText& removed : name.removed) record(removed);
      }
      renamed.emplace(key, std::move(member.value()));
    }
    object = std::move(renamed);
  }

  void visit_array(json::array& array, Reach reach) {
    const Reach element = reach == Reach::Sensitive ? Reach::Inside : reach;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const PathMark mark(*this, std::to_string(i));
      visit(array[i], element);
    }
  }

  void visit_string(json::value& value, Reach reach) {
    const std::string_view text = view(value.get_string());
    if (reach == Reach::Sensitive || reach == Reach::Inside) {
      if (text.empty() || is_redaction_mark(text)) return;
      remove(value, redaction_mark(Category::Secret), Category::Secret, std::string(text));
      return;
    }
    replace_matches(value, text);
  }

  void visit_number(json::value& value, Reach reach) {
    if (reach == Reach::Sensitive) {
      remove(value, redaction_mark(Category::Secret), Category::Secret, canonical_json(value));
    } else if (is_integer_of_nine_digits(value)) {
      replace_matches(value, canonical_json(value));
    }
  }

  std::string path_;
};

}  // namespace

}  // namespace sallyport::guards
