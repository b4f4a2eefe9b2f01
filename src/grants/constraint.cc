#include "grants/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/try.h"
#include "grants/host.h"
#include "grants/leaves.h"
#include "grants/path.h"
#include "grants/patterns.h"
#include "grants/selector.h"

namespace sallyport::grants {

namespace {

using Test = Condition::Test;

std::unexpected<Error> wrong(std::string_view wanted) {
  return fail(ErrorCode::InvalidInput, fmt::format("its value must be {}", wanted));
}

Result<std::string> text_of(const json::value& value, std::string_view wanted) {
  if (!value.is_string()) return wrong(wanted);
  return std::string(value.get_string());
}

Result<std::set<std::string, std::less<>>> texts_of(const json::value& value) {
  if (!value.is_array()) return wrong("a list of texts");
  std::set<std::string, std::less<>> texts;
  for (const json::value& each : value.get_array()) {
    if (!each.is_string()) return wrong("a list of texts");
    texts.emplace(each.get_string());
  }
  return texts;
}

Result<std::uint64_t> count_of(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) {
    return static_cast<std::uint64_t>(value.get_int64());
  }
  return wrong("a whole number that is not negative");
}

// Accepts `{at, NAME}` without further members.
struct Located {
  Selector at;
  json::value other;
};
Result<Located> located(const json::value& value, std::string_view name) {
  const json::object* const object = value.if_object();
  const std::optional<std::string_view> at = object ? text_in(*object, "at") : std::nullopt;
  const json::value* const other = object ? object->if_contains(name) : nullptr;
  std::optional<Selector> selector = at ? Selector::parse(*at) : std::nullopt;
  if (!selector || other == nullptr || object->size() != 2) {
    return wrong(fmt::format("{{at, {}}}, with a JSON Pointer in `at`", name));
  }
  return Located{std::move(*selector), *other};
}

bool has_number(const json::value& value) {
  if (const json::array* const array = value.if_array()) {
    return std::ranges::any_of(*array, has_number);
  }
  if (const json::object* const object = value.if_object()) {
    return std::ranges::any_of(*object,
                               [](const auto& member) { return has_number(member.value()); });
  }
  return value.is_number();
}

Result<Test> path_prefix(const json::value& value) {
  std::optional<PathPrefix> prefix = PathPrefix::parse(value);
  if (!prefix) return wrong("an absolute path, or {prefix, at:[JSON Pointers]}");
  return [prefix = std::move(*prefix)](const CallView& view) {
    return prefix.matches(view.call.input);
  };
}

Test every_host(std::function<bool(const Host&)> fits) {
  return [fits = std::move(fits)](const CallView& view) {
    const std::optional<std::vector<Host>> hosts = hosts_in(view.call.input);
    return hosts && !hosts->empty() && std::ranges::all_of(*hosts, fits);
  };
}

Result<Test> domain_exact(const json::value& value) {
  SALLYPORT_TRY(const std::string text, text_of(value, "a host"));
  std::optional<Host> wanted = read_host(text);
  // A port would be ignored, and the grant wider than it looks.
  const bool port = wanted && text.find(':') != text.npos &&
                    (!wanted->name.starts_with('[') || text.find("]:") != text.npos);
  if (!wanted || port) return wrong("a host, without a port");
  return every_host([wanted = std::move(*wanted)](const Host& host) { return host == wanted; });
}

Result<Test> domain_glob(const json::value& value) {
  SALLYPORT_TRY(const std::string text, text_of(value, "`*.` and a domain"));
  std::optional<Host> suffix = glob_suffix(text);
  if (!suffix) return wrong("`*.` and a domain");
  return every_host(
      [suffix = std::move(*suffix)](const Host& host) { return is_below(host, suffix); });
}

Result<Test> regex_match(const json::value& value) {
  SALLYPORT_TRY(const std::string pattern, text_of(value, "a pattern"));
  SALLYPORT_TRY(Patterns patterns, Patterns::anywhere(std::span(&pattern, 1)));
  return [patterns = std::move(patterns)](const CallView& view) {
    return std::ranges::any_of(all_strings(view.call.input),
                               [&](std::string_view text) { return patterns.match(text); });
  };
}

Result<Test> arg_regex(const json::value& value) {
  SALLYPORT_TRY(Located at, located(value, "pattern"));
  SALLYPORT_TRY(const std::string pattern, text_of(at.other, "{at, pattern}"));
  SALLYPORT_TRY(Patterns patterns, Patterns::in_full(pattern));
  return [at = std::move(at.at), patterns = std::move(patterns)](const CallView& view) {
    const std::vector<const json::value*> found = at.select(view.call.input);
    return !found.empty() && std::ranges::all_of(found, [&](const json::value* each) {
      return each->is_string() && patterns.match(each->get_string());
    });
  };
}

Result<Test> arg_equals(const json::value& value) {
  SALLYPORT_TRY(Located at, located(value, "value"));
  return [at = std::move(at.at), wanted = canonical_json(at.other)](const CallView& view) {
    const std::vector<const json::value*> found = at.select(view.call.input);
    return !found.empty() && std::ranges::all_of(found, [&](const json::value* each) {
      // A double cannot distinguish such a number from its neighbour.
      if (view.call.raw_input && has_number(*each)) return false;
      return canonical_json(*each) == wanted;
    });
  };
}

Result<Test> custom(const json::value& value) {
  const json::array* const pair = value.if_array();
  if (pair == nullptr || pair->size() != 2 || !pair->at(0).is_string() ||
      !pair->at(1).is_string()) {
    return wrong("[key, text]");
  }
  return [key = std::string(pair->at(0).get_string()),
          text = std::string(pair->at(1).get_string())](const CallView& view) {
    const json::object* const input = view.call.input.if_object();
    return input != nullptr && text_in(*input, key) == text;
  };
}

Result<Test> max_length(const json::value& value) {
  SALLYPORT_TRY(const std::uint64_t most, count_of(value));
  return [most](const CallView& view) {
    return std::ranges::all_of(all_strings(view.call.input),
                               [&](std::string_view text) { return text.size() <= most; });
  };
}

Result<Test> max_args_size(const json::value& value) {
  SALLYPORT_TRY(const std::uint64_t most, count_of(value));
  return [most](const CallView& view) {
    if (view.call.raw_input && view.call.raw_input->size() > most) return false;
    return canonical_json(view.call.input).size() <= most;
  };
}

// Holds if there is a member of these names, at any depth, and each is a text or a list of texts
// that are all listed.
bool all_listed(const json::value& value, std::span<const std::string_view> members,
                const std::set<std::string, std::less<>>& listed, bool& present) {
  const auto is_listed = [&](const json::value& text) {
    return text.is_string() && listed.contains(std::string_view(text.get_string()));
  };
  if (const json::array* const array = value.if_array()) {
    return std::ranges::all_of(*array, [&](const json::value& item) {
      return all_listed(item, members, listed, present);
    });
  }
  const json::object* const object = value.if_object();
  if (object == nullptr) return true;
  return std::ranges::all_of(*object, [&](const auto& member) {
    if (!names(members, std::string_view(member.key()))) {
      return all_listed(member.value(), members, listed, present);
    }
    present = true;
    const json::array* const list = member.value().if_array();
    return list ? std::ranges::all_of(*list, is_listed) : is_listed(member.value());
  });
}

Result<Test> allowlist(const json::value& value, std::span<const std::string_view> members) {
  SALLYPORT_TRY(auto listed, texts_of(value));
  return [listed = std::move(listed), members](const CallView& view) {
    bool present = false;
    return all_listed(view.call.input, members, listed, present) && present;
  };
}

constexpr auto kAudienceMembers = std::to_array<std::string_view>(
    {"recipient", "recipients", "audience", "to", "cc", "bcc", "channel", "channels"});
constexpr auto kStoreMembers =
    std::to_array<std::string_view>({"store", "memory_store", "collection", "namespace"});

Result<Test> audience_allowlist(const json::value& value) {
  return allowlist(value, kAudienceMembers);
}

Result<Test> memory_store_allowlist(const json::value& value) {
  return allowlist(value, kStoreMembers);
}

Result<Test> memory_write_deny_patterns(const json::value& value) {
  SALLYPORT_TRY(const auto texts, texts_of(value));
  if (texts.empty()) return Test([](const CallView&) { return true; });
  SALLYPORT_TRY(Patterns patterns,
                Patterns::anywhere(std::vector<std::string>(texts.begin(), texts.end())));
  return [patterns = std::move(patterns)](const CallView& view) {
    return std::ranges::none_of(all_strings(view.call.input),
                                [&](std::string_view text) { return patterns.match(text); });
  };
}

Result<Test> side_effect_class(const json::value& value) {
  SALLYPORT_TRY(auto classes, texts_of(value));
  return [classes = std::move(classes)](const CallView& view) {
    return classes.contains(view.effect_class);
  };
}

Result<Test> autonomy_ceiling(const json::value& value) {
  if (!value.is_string() || !autonomy_from(value.get_string())) return wrong("a tier");
  return Test([](const CallView&) { return true; });
}

Test where_rows_are_filtered() {
  return [](const CallView& view) { return view.filters_rows; };
}

Result<Test> max_rows_returned(const json::value& value) {
  SALLYPORT_CHECK_OK(count_of(value));
  return where_rows_are_filtered();
}

Result<Test> column_or_table_list(const json::value& value) {
  SALLYPORT_CHECK_OK(texts_of(value));
  return where_rows_are_filtered();
}

bool holds(const json::value& value, const json::value& wanted) {
  if (&value == &wanted) return true;
  const auto inside = [&](const json::value& each) { return holds(each, wanted); };
  if (const json::array* const array = value.if_array()) return std::ranges::any_of(*array, inside);
  const json::object* const object = value.if_object();
  return object &&
         std::ranges::any_of(*object, [&](const auto& member) { return inside(member.value()); });
}

// True if a member of one of these names, at any depth, contains the value.
bool holds_under(const json::value& value, std::span<const std::string_view> members,
                 const json::value& wanted) {
  const auto inside = [&](const json::value& each) { return holds_under(each, members, wanted); };
  if (const json::array* const array = value.if_array()) return std::ranges::any_of(*array, inside);
  const json::object* const object = value.if_object();
  return object && std::ranges::any_of(*object, [&](const auto& member) {
           return names(members, std::string_view(member.key())) ? holds(member.value(), wanted)
                                                                 : inside(member.value());
         });
}

// Whether the value of a child is as narrow as the value of its parent.

bool is_subset(const json::value& child, const json::value& parent) {
  const auto few = texts_of(child);
  const auto many = texts_of(parent);
  return few && many && std::ranges::includes(*many, *few);
}

bool is_superset(const json::value& child, const json::value& parent) {
  return is_subset(parent, child);
}

bool not_larger(const json::value& child, const json::value& parent) {
  const auto small = count_of(child);
  const auto large = count_of(parent);
  return small && large && *small <= *large;
}

bool lower_tier(const json::value& child, const json::value& parent) {
  if (!child.is_string() || !parent.is_string()) return false;
  const auto low = autonomy_from(child.get_string());
  const auto high = autonomy_from(parent.get_string());
  return low && high && *low <= *high;
}

bool deeper_path(const json::value& child, const json::value& parent) {
  const std::optional<PathPrefix> deep = PathPrefix::parse(child);
  const std::optional<PathPrefix> high = PathPrefix::parse(parent);
  return deep && high && deep->within(*high);
}

bool same_host(const json::value& child, const json::value& parent) {
  if (!child.is_string() || !parent.is_string()) return false;
  const std::optional<Host> host = read_host(child.get_string());
  return host && host == read_host(parent.get_string());
}

bool host_under_glob(const json::value& child, const json::value& parent) {
  if (!child.is_string() || !parent.is_string()) return false;
  const std::optional<Host> suffix = glob_suffix(parent.get_string());
  const std::optional<Host> host = read_host(child.get_string());
  return suffix && host && is_below(*host, *suffix);
}

bool glob_under_glob(const json::value& child, const json::value& parent) {
  if (!child.is_string() || !parent.is_string()) return false;
  const std::optional<Host> suffix = glob_suffix(parent.get_string());
  const std::optional<Host> deeper = glob_suffix(child.get_string());
  return suffix && deeper && (*deeper == *suffix || is_below(*deeper, *suffix));
}

// Whether a constraint of this value may depend on a text of the input.

bool looks_at_nothing(const json::value&, const json::value&, const json::value&) {
  return false;
}

bool looks_at_audience(const json::value&, const json::value& input, const json::value& text) {
  return holds_under(input, kAudienceMembers, text);
}

bool looks_at_store(const json::value&, const json::value& input, const json::value& text) {
  return holds_under(input, kStoreMembers, text);
}

// Without `at`, the constraint looks at the whole input.
bool looks_at_places(const json::value& value, const json::value& input, const json::value& text) {
  const json::object* const object = value.if_object();
  const json::value* const at = object ? object->if_contains("at") : nullptr;
  if (at == nullptr) return true;
  const auto selects = [&](const json::value& pointer) {
    const auto selector =
        pointer.is_string() ? Selector::parse(pointer.get_string()) : std::nullopt;
    return !selector || std::ranges::any_of(selector->select(input), [&](const json::value* each) {
      return holds(*each, text);
    });
  };
  return at->is_array() ? std::ranges::any_of(at->get_array(), selects) : selects(*at);
}

// Another text may name the base folder of relative paths (CG-44).
bool looks_at_path(const json::value& value, const json::value& input, const json::value& text) {
  return holds_under(input, kBaseKeys, text) || looks_at_places(value, input, text);
}

bool looks_at_member(const json::value& value, const json::value& input, const json::value& text) {
  const json::array* const pair = value.if_array();
  if (pair == nullptr || pair->empty() || !pair->front().is_string() || !input.is_object()) {
    return looks_at_places(value, input, text);
  }
  const std::string_view key = pair->front().get_string();
  const json::value* const member = input.get_object().if_contains(key);
  return member && holds(*member, text);
}

struct Type {
  std::string_view name;
  Result<Test> (*make)(const json::value& value);
  // Null: only the same value is as narrow.
  bool (*implies)(const json::value& child, const json::value& parent) = nullptr;
  bool (*looks_at)(const json::value& value, const json::value& input,
                   const json::value& text) = looks_at_places;
  // A child of this other type can be as narrow too.
  std::string_view other = {};
  bool (*implied_by_other)(const json::value& child, const json::value& parent) = nullptr;
};
constexpr Type kTypes[] = {
    {"path_prefix", path_prefix, deeper_path, looks_at_path},
    {"domain_exact", domain_exact, same_host},
    {"domain_glob", domain_glob, glob_under_glob, looks_at_places, "domain_exact", host_under_glob},
    {"regex_match", regex_match},
    {"arg_regex", arg_regex},
    {"arg_equals", arg_equals},
    {"custom", custom, nullptr, looks_at_member},
    {"max_length", max_length, not_larger},
    {"max_args_size", max_args_size, not_larger},
    {"audience_allowlist", audience_allowlist, is_subset, looks_at_audience},
    {"memory_store_allowlist", memory_store_allowlist, is_subset, looks_at_store},
    {"memory_write_deny_patterns", memory_write_deny_patterns, is_superset},
    {"side_effect_class", side_effect_class, is_subset, looks_at_nothing},
    {"autonomy_ceiling", autonomy_ceiling, lower_tier, looks_at_nothing},
    {"max_rows_returned", max_rows_returned, not_larger, looks_at_nothing},
    {"column_denylist", column_or_table_list, is_superset, looks_at_nothing},
    {"table_allowlist", column_or_table_list, is_subset, looks_at_nothing}};

// Null: there is no such type.
const Type* type_of(const Constraint& constraint) {
  const Type* const found = std::ranges::find(kTypes, constraint.type, &Type::name);
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace

std::vector<std::string_view> constraint_types() {
  std::vector<std::string_view> names;
  for (const Type& type : kTypes) names.push_back(type.name);
  return names;
}

bool implies(const Constraint& child, const Constraint& parent) {
  const bool same = child.type == parent.type;
  if (same && canonical_json(child.value) == canonical_json(parent.value)) return true;
  const Type* const type = type_of(parent);
  if (type == nullptr) return false;
  if (same) return type->implies && type->implies(child.value, parent.value);
  return type->implied_by_other && child.type == type->other &&
         type->implied_by_other(child.value, parent.value);
}

bool looks_at(const Constraint& constraint, const json::value& input, const json::value& text) {
  const Type* const type = type_of(constraint);
  return (type ? type->looks_at : looks_at_places)(constraint.value, input, text);
}

std::optional<Autonomy> autonomy_from(std::string_view text) {
  for (const Autonomy tier :
       {Autonomy::Shadow, Autonomy::Suggest, Autonomy::ActWithApproval, Autonomy::ActAuto}) {
    if (to_string(tier) == text) return tier;
  }
  return std::nullopt;
}

Condition Condition::of(const Constraint& constraint) {
  Condition condition;
  condition.type_ = constraint.type;
  const Type* const type = type_of(constraint);
  if (type == nullptr) {
    condition.fault_ = "unknown constraint";
    return condition;
  }
  Result<Test> test = type->make(constraint.value);
  if (!test) {
    condition.fault_ = test.error().message;
    return condition;
  }
  condition.test_ = std::move(*test);
  if (type->make == autonomy_ceiling) {
    condition.ceiling_ = autonomy_from(constraint.value.get_string());
  }
  return condition;
}

}  // namespace sallyport::grants
