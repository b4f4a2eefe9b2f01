#include "guards/redact/sanitizer_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <utility>

#include "base/try.h"
#include "guards/detect/char_class.h"
#include "guards/settings_object.h"

namespace sallyport::guards {

namespace {

constexpr std::string_view kCustom = "custom:";

std::unexpected<Error> refuse(const std::string& place, std::string_view what) {
  return fail(ErrorCode::InvalidInput, fmt::format("`{}` {}", place, what), place);
}

class Reading {
 public:
  Result<SanitizerSettings> read(const json::value& json) {
    SALLYPORT_TRY(const json::object* const object,
                  settings_object(json, "",
                                  {"categories", "detectors", "strategies", "allow", "deny",
                                   "max_string_bytes", "max_total_bytes"}));
    SALLYPORT_CHECK_OK(read_categories(*object));
    SALLYPORT_CHECK_OK(read_detectors(*object));
    SALLYPORT_CHECK_OK(read_deny(*object));
    SALLYPORT_CHECK_OK(read_allow(*object));
    SALLYPORT_CHECK_OK(read_strategies(*object));
    SALLYPORT_TRY(settings_.max_string_bytes,
                  size_setting(*object, "max_string_bytes", settings_.max_string_bytes));
    SALLYPORT_TRY(settings_.max_total_bytes,
                  size_setting(*object, "max_total_bytes", settings_.max_total_bytes));
    return std::move(settings_);
  }

 private:
  Result<void> read_categories(const json::object& object) {
    SALLYPORT_TRY(const json::object* const categories, member_object(object, "categories"));
    for (const auto& [name, on] : *categories) {
      const std::string place = fmt::format("categories.{}", std::string_view(name));
      const std::optional<Category> category = category_named(name);
      if (!category) return refuse(place, "is not a category, use `secret`, `pii` or `internal`");
      if (!on.is_bool()) return refuse(place, "must be true or false");
      const DetectorSet members = detectors_of(*category);
      if (on.get_bool()) {
        settings_.detectors |= members;
      } else {
        settings_.detectors &= ~members;
      }
    }
    return {};
  }

  Result<void> read_detectors(const json::object& object) {
    SALLYPORT_TRY(const json::object* const detectors, member_object(object, "detectors"));
    for (const auto& [name, on] : *detectors) {
      const std::string place = fmt::format("detectors.{}", std::string_view(name));
      const std::optional<Detector> detector = detector_named(name);
      if (!detector) return refuse(place, "is not a detector");
      if (!on.is_bool()) return refuse(place, "must be true or false");
      settings_.detectors.set(index_of(*detector), on.get_bool());
    }
    return {};
  }

  Result<void> read_deny(const json::object& object) {
    SALLYPORT_TRY(const json::array* const entries, member_array(object, "deny"));
    if (entries->size() > kMostDenyEntries) {
      return refuse("deny", fmt::format("has more than {} entries", kMostDenyEntries));
    }
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const std::string place = fmt::format("deny[{}]", i);
      SALLYPORT_TRY(const json::object* const entry,
                    settings_object((*entries)[i], place, {"name", "text", "pattern"}));
      const json::value* const name = entry->if_contains("name");
      if (name == nullptr || !name->is_string() || !is_name(name->get_string())) {
        return refuse(place + ".name", "must be 1 to 40 of `a-z`, `0-9` and `_`");
      }
      if (deny_named(name->get_string()) != nullptr) {
        return refuse(place + ".name", "is used twice");
      }
      SALLYPORT_TRY(Wording wording, read_wording(*entry, place));
      // A pattern may compile alone and not in a search of texts, so it is compiled as one.
      SALLYPORT_CHECK_OK(WordingSet::build({wording}, WordingSet::Mode::Anywhere));
      settings_.deny.push_back({std::string(name->get_string()), std::move(wording)});
    }
    return {};
  }

  Result<void> read_allow(const json::object& object) {
    SALLYPORT_TRY(const json::array* const entries, member_array(object, "allow"));
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const std::string place = fmt::format("allow[{}]", i);
      SALLYPORT_TRY(const json::object* const entry,
                    settings_object((*entries)[i], place, {"text", "pattern"}));
      SALLYPORT_TRY(Wording wording, read_wording(*entry, place));
      for (const DenyEntry& deny : settings_.deny) {
        if (deny.wording == wording) {
          return refuse(place, fmt::format("contradicts deny entry `{}`", deny.name));
        }
      }
      settings_.allow.push_back(std::move(wording));
    }
    return {};
  }

  static Result<Wording> read_wording(const json::object& entry, const std::string& place) {
    const json::value* const text = entry.if_contains("text");
    const json::value* const pattern = entry.if_contains("pattern");
    if ((text == nullptr) == (pattern == nullptr)) {
      return refuse(place, "must have either `text` or `pattern`");
    }
    const json::value& given = text != nullptr ? *text : *pattern;
    Wording wording{.text = "",
                    .is_pattern = pattern != nullptr,
                    .place = place + (pattern != nullptr ? ".pattern" : ".text")};
    if (!given.is_string()) return refuse(wording.place, "must be a string");
    wording.text = std::string(given.get_string());
    SALLYPORT_CHECK_OK(check_wording(wording));
    return wording;
  }

  Result<void> read_strategies(const json::object& object) {
    SALLYPORT_TRY(const json::object* const strategies, member_object(object, "strategies"));
    // Categories first: a setting of one detector overrides its category.
    for (const bool categories : {true, false}) {
      for (const auto& [name, value] : *strategies) {
        if (category_named(name).has_value() != categories) continue;
        const std::string place = fmt::format("strategies.{}", std::string_view(name));
        const std::optional<Strategy> strategy =
            value.is_string() ? strategy_named(value.get_string()) : std::nullopt;
        if (!strategy) {
          return refuse(place,
                        "must be `mask`, `fingerprint`, `drop`, `partial`, `type_label` or `keep`");
        }
        SALLYPORT_CHECK_OK(set_strategy(name, *strategy, place));
      }
    }
    return {};
  }

  Result<void> set_strategy(std::string_view name, Strategy strategy, const std::string& place) {
    if (const std::optional<Category> category = category_named(name)) {
      for (std::size_t i = 0; i < kDetectorCount; ++i) {
        if (category_of(static_cast<Detector>(i)) == *category) settings_.strategies[i] = strategy;
      }
      return {};
    }
    if (name.starts_with(kCustom)) {
      DenyEntry* const entry = deny_named(name.substr(kCustom.size()));
      if (entry == nullptr) return refuse(place, "names no deny entry");
      entry->strategy = strategy;
      return {};
    }
    const std::optional<Detector> detector = detector_named(name);
    if (!detector) return refuse(place, "is neither a category nor a detector");
    if (!settings_.detectors.test(index_of(*detector))) {
      return refuse(place, "has a strategy, but the detector is switched off");
    }
    settings_.strategies[index_of(*detector)] = strategy;
    return {};
  }

  DenyEntry* deny_named(std::string_view name) {
    const auto found = std::ranges::find(settings_.deny, name, &DenyEntry::name);
    return found == settings_.deny.end() ? nullptr : &*found;
  }

  static bool is_name(std::string_view name) {
    constexpr std::size_t kLongest = 40;
    return !name.empty() && name.size() <= kLongest &&
           run_end(name, 0, kLower | kDigit | kUnderscore) == name.size();
  }

  SanitizerSettings settings_;
};

json::value to_json(const Wording& wording) {
  return {{wording.is_pattern ? "pattern" : "text", wording.text}};
}

}  // namespace

SanitizerSettings::SanitizerSettings() : detectors(detectors_of(Category::Secret)) {
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    strategies[i] = default_strategy(category_of(static_cast<Detector>(i)));
  }
}

std::string SanitizerSettings::name_of(Detector detector) const {
  const std::size_t index = index_of(detector);
  if (index < kDetectorCount) return std::string(guards::name_of(detector));
  return std::string(kCustom) + deny.at(index - kDetectorCount).name;
}

Strategy SanitizerSettings::strategy_of(Detector detector) const {
  const std::size_t index = index_of(detector);
  return index < kDetectorCount ? strategies[index] : deny.at(index - kDetectorCount).strategy;
}

json::value SanitizerSettings::to_json() const {
  json::object by_detector;
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    if (!detectors.test(i)) continue;
    by_detector[guards::name_of(static_cast<Detector>(i))] = to_string(strategies[i]);
  }
  json::array allowed;
  for (const Wording& wording : allow) allowed.push_back(guards::to_json(wording));
  json::array denied;
  for (const DenyEntry& entry : deny) {
    json::object item = guards::to_json(entry.wording).as_object();
    item["name"] = entry.name;
    item["strategy"] = to_string(entry.strategy);
    denied.push_back(std::move(item));
  }
  return {{"detectors", std::move(by_detector)},
          {"allow", std::move(allowed)},
          {"deny", std::move(denied)},
          {"max_string_bytes", max_string_bytes},
          {"max_total_bytes", max_total_bytes}};
}

Result<SanitizerSettings> sanitizer_settings_from_json(const json::value& json) {
  return Reading().read(json);
}

}  // namespace sallyport::guards
