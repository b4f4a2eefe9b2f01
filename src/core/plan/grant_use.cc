#include "core/plan/grant_use.h"

#include <boost/json.hpp>

#include "base/object_reader.h"

namespace sallyport::core {

namespace {

json::object grant_json(const Grant& grant) {
  json::array constraints;
  for (const Constraint& each : grant.constraints) {
    constraints.push_back(json::object{{"type", each.type}, {"value", each.value}});
  }
  return {{"server", grant.server},
          {"tool", grant.tool},
          {"constraints", std::move(constraints)},
          {"reads_result", grant.reads_result}};
}

Grant grant_in(const json::value& value, ObjectReader& outer) {
  ObjectReader in(value, "grant");
  Grant grant{.server = in.text("server"),
              .tool = in.text("tool"),
              .reads_result = in.boolean("reads_result")};
  for (const json::value& each : in.array("constraints")) {
    ObjectReader constraint(each, "constraint");
    grant.constraints.push_back({constraint.text("type"), constraint.any("value")});
    if (!constraint.ok()) outer.take(constraint.error());
  }
  if (!in.ok()) outer.take(in.error());
  return grant;
}

}  // namespace

std::shared_ptr<const Scope> no_grants() {
  static const auto kNone = std::make_shared<const Scope>();
  return kNone;
}

json::object grant_use_json(const GrantUse& use) {
  json::array grants;
  for (const Grant& grant : use.scope->grants) grants.push_back(grant_json(grant));
  return {{"index", use.index}, {"grants", std::move(grants)}};
}

Result<GrantUse> grant_use_from_json(const json::value& value) {
  ObjectReader in(value, "grant use");
  auto scope = std::make_shared<Scope>();
  const std::uint64_t index = in.number("index");
  for (const json::value& each : in.array("grants")) scope->grants.push_back(grant_in(each, in));
  if (!in.ok()) return std::unexpected(in.error());
  return GrantUse{.scope = std::move(scope), .index = index};
}

}  // namespace sallyport::core
