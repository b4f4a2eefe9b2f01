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

// `{at, NAME}` and nothing else.
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
  if (!wanted) return wrong("a host");
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
      // A number that a double cannot hold looks like its neighbour.
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

// Every member of these names, at any depth, is a text or a list of texts, all of them listed; and
// there is one.
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

// Does a member of one of these names, at any depth, hold the value?
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

struct Type {
  std::string_view name;
  Result<Test> (*make)(const json::value&);
};
constexpr Type kTypes[] = {{"path_prefix", path_prefix},
                           {"domain_exact", domain_exact},
                           {"domain_glob", domain_glob},
                           {"regex_match", regex_match},
                           {"arg_regex", arg_regex},
                           {"arg_equals", arg_equals},
                           {"custom", custom},
                           {"max_length", max_length},
                           {"max_args_size", max_args_size},
                           {"audience_allowlist", audience_allowlist},
                           {"memory_store_allowlist", memory_store_allowlist},
                           {"memory_write_deny_patterns", memory_write_deny_patterns},
                           {"side_effect_class", side_effect_class},
                           {"autonomy_ceiling", autonomy_ceiling},
                           {"max_rows_returned", max_rows_returned},
                           {"column_denylist", column_or_table_list},
                           {"table_allowlist", column_or_table_list}};

}  // namespace

bool looks_at(const Constraint& constraint, const json::value& input, const json::value& text) {
  constexpr auto kNoInput =
      std::to_array<std::string_view>({"side_effect_class", "autonomy_ceiling", "max_rows_returned",
                                       "column_denylist", "table_allowlist"});
  const std::string& type = constraint.type;
  if (names(kNoInput, type)) return false;
  if (type == "audience_allowlist") return holds_under(input, kAudienceMembers, text);
  if (type == "memory_store_allowlist") return holds_under(input, kStoreMembers, text);
  if (type == "custom" && constraint.value.is_array() && !constraint.value.get_array().empty() &&
      constraint.value.get_array().front().is_string() && input.is_object()) {
    const std::string_view key = constraint.value.get_array().front().get_string();
    const json::value* const member = input.get_object().if_contains(key);
    return member && holds(*member, text);
  }
  const json::object* const object = constraint.value.if_object();
  const json::value* const at = object ? object->if_contains("at") : nullptr;
  if (at == nullptr) return true;
  const auto selects = [&](const json::value& pointer) {
    const auto selector =
        pointer.is_string() ? Selector::parse(pointer.get_string()) : std::nullopt;
    return !selector || std::ranges::any_of(selector->select(input), [&](const json::value* each) {
      return holds(*each, text);
    });
  };
  // A relative path of `path_prefix` starts from a folder that another text names (CG-44).
  if (type == "path_prefix" && holds_under(input, kBaseKeys, text)) return true;
  return at->is_array() ? std::ranges::any_of(at->get_array(), selects) : selects(*at);
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
  const auto type = std::ranges::find(kTypes, constraint.type, &Type::name);
  if (type == std::end(kTypes)) {
    condition.fault_ = "unknown constraint";
    return condition;
  }
  Result<Test> test = type->make(constraint.value);
  if (!test) {
    condition.fault_ = test.error().message;
    return condition;
  }
  condition.test_ = std::move(*test);
  if (constraint.type == "autonomy_ceiling") {
    condition.ceiling_ = autonomy_from(constraint.value.get_string());
  }
  return condition;
}

}  // namespace sallyport::grants
