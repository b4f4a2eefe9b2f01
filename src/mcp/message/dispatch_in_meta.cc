#include "mcp/message/dispatch_in_meta.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "core/turn/dispatch.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::size_t kLongestText = 128;

Result<void> refuse_unknown(const json::object& object, std::string_view where,
                            std::initializer_list<std::string_view> known) {
  for (const json::key_value_pair& member : object) {
    if (std::ranges::find(known, std::string_view(member.key())) != known.end()) continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}.{:.60}` is unknown", where, std::string_view(member.key())),
                fmt::format("{}.{:.60}", where, std::string_view(member.key())));
  }
  return {};
}

// Empty: it is absent.
Result<std::string> short_text(const json::object& object, std::string_view name,
                               std::string_view where) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return std::string();
  if (value->is_string() && value->get_string().size() <= kLongestText) {
    return std::string(value->get_string());
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("`{}.{}` is not a text of at most {} bytes", where, name, kLongestText),
              fmt::format("{}.{}", where, name));
}

Result<void> read_trigger(const json::value& value, Call& call) {
  const std::string where = fmt::format("_meta.{}.trigger", kDispatchMember);
  if (!value.is_object()) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}` is not an object", where), where);
  }
  const json::object& trigger = value.get_object();
  SALLYPORT_CHECK_OK(refuse_unknown(trigger, where, {"id", "provider", "kind", "trace_id"}));
  SALLYPORT_TRY(call.trigger_id, short_text(trigger, "id", where));
  SALLYPORT_CHECK_OK(core::check_trigger_id(call.trigger_id));
  for (const char* const name : {"provider", "kind"}) {
    SALLYPORT_TRY(call.setting.trigger[name], short_text(trigger, name, where));
  }
  SALLYPORT_TRY(std::string trace, short_text(trigger, "trace_id", where));
  if (!trace.empty()) call.trace_id = std::move(trace);
  return {};
}

Result<void> read_dispatch(const json::value& value, Call& call) {
  const std::string where = fmt::format("_meta.{}", kDispatchMember);
  if (!value.is_object()) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}` is not an object", where), where);
  }
  const json::object& dispatch = value.get_object();
  SALLYPORT_CHECK_OK(
      refuse_unknown(dispatch, where, {"turn", "provider", "model", "trigger", "scope"}));
  if (const json::value* const turn = dispatch.if_contains("turn")) {
    constexpr std::int64_t kLargest = (std::int64_t{1} << 53) - 1;
    const bool fits = turn->is_int64() && turn->get_int64() >= 0 && turn->get_int64() <= kLargest;
    if (!fits) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}.turn` is not a whole number from 0", where), where + ".turn");
    }
    call.turn = static_cast<std::uint64_t>(turn->get_int64());
  }
  SALLYPORT_TRY(std::string provider, short_text(dispatch, "provider", where));
  SALLYPORT_TRY(std::string model, short_text(dispatch, "model", where));
  if (!provider.empty()) call.provenance.provider = std::move(provider);
  if (!model.empty()) call.provenance.model = std::move(model);
  if (const json::value* const trigger = dispatch.if_contains("trigger")) {
    SALLYPORT_CHECK_OK(read_trigger(*trigger, call));
  }
  if (const json::value* const scope = dispatch.if_contains("scope")) {
    AutonomyScopes scopes;
    SALLYPORT_TRY(const AutonomyScopes::Entered inside, scopes.push(*scope, call.agent_id));
    call.scopes = scopes;
  }
  return {};
}

}  // namespace

Result<void> take_dispatch(Message& request, Call& call) {
  const auto meta = find(request.text, {"params", "_meta"});
  if (!meta || !find(*meta, {kDispatchMember})) return {};
  json::object& object = request.value.get_object().at("params").get_object();
  json::object& metas = object.at("_meta").get_object();
  const json::value dispatch = metas.at(kDispatchMember);
  metas.erase(kDispatchMember);
  if (metas.empty()) object.erase("_meta");
  std::string rest = without_member(*meta, kDispatchMember);
  if (members(rest).empty()) {
    const std::string_view params = *find(request.text, {"params"});
    request.text = edited(request.text, {{params, without_member(params, "_meta")}});
  } else {
    request.text = edited(request.text, {{*meta, std::move(rest)}});
  }
  return read_dispatch(dispatch, call);
}

}  // namespace sallyport::mcp
