#include "sallyport/event.h"

#include <boost/json.hpp>
#include <type_traits>
#include <utility>

#include "base/try.h"
#include "core/event/abort_reason.h"
#include "core/event/event_json.h"
#include "core/event/event_table.h"

namespace sallyport {

namespace {

using core::kShape;

std::unexpected<Error> unfit(std::string field, std::string_view why) {
  std::string message = "`event." + field + "` " + std::string(why);
  return fail(ErrorCode::InvalidInput, std::move(message), "event." + field);
}

// Rules between fields, which a reader of foreign events does not enforce.
struct Consistency {
  template <class E>
  Result<void> operator()(const E&) const {
    return {};
  }
  Result<void> operator()(const event::ToolExecutionFinished& finished) const {
    if (finished.is_error || !finished.error) return {};
    return unfit("error", "must be null when `is_error` is false");
  }
  Result<void> operator()(const event::ModelResponseFinished& finished) const {
    if (finished.success || !finished.stop_reason) return {};
    return unfit("stop_reason", "must be null when `success` is false");
  }
  Result<void> operator()(const event::RunAborted& aborted) const {
    if (core::abort_cause(aborted.reason)) return {};
    return unfit("reason", core::abort_cause_rule());
  }
};

}  // namespace

bool is_event_type(std::string_view text) {
  return []<class... E>(std::string_view wanted, std::variant<E...>*) {
    return ((kShape<E>.kind == wanted) || ...);
  }(text, static_cast<Event*>(nullptr));
}

std::string_view event_type(const Event& event) {
  return std::visit([]<class E>(const E&) { return kShape<E>.kind; }, event);
}

const std::string& scope(const Event& event) {
  return std::visit(
      []<class E>(const E& kind) -> const std::string& { return kind.*kShape<E>.scope; }, event);
}

bool announces(const Event& event) {
  return std::visit([]<class E>(const E&) { return kShape<E>.role == core::Role::Announces; },
                    event);
}

template <class Out>
void core::write_members(Out& out, const Event& event) {
  std::visit([&](const auto& kind) { write_event(out, kind); }, event);
}
template void core::write_members(CanonicalWriter& out, const Event& event);

json::object to_json(const Event& event) {
  return core::object_of(event);
}

Result<Event> event_from_json(const json::value& value) {
  return core::read_event(value);
}

Result<void> check(const Event& event) {
  // Reading it back is the check: nothing can be written that the reader would refuse.
  SALLYPORT_CHECK_OK(event_from_json(to_json(event)));
  return std::visit(Consistency{}, event);
}

}  // namespace sallyport
