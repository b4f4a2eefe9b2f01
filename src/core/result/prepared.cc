#include "sallyport/prepared.h"

#include <boost/json.hpp>

#include "core/record/shape_fields.h"

namespace sallyport {

json::object to_json(const Prepared& prepared) {
  json::object object{{"operation_id", prepared.operation_id},
                      {"revision", prepared.revision},
                      {"snapshot", prepared.snapshot}};
  if (prepared.expires_at) object["expires_at"] = *prepared.expires_at;
  return object;
}

Result<Prepared> prepared_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Prepared prepared{.operation_id = in.text("operation_id"),
                    .revision = in.number("revision"),
                    .snapshot = in.any("snapshot"),
                    .expires_at = core::optional_utc_time_in(in, "expires_at")};
  return core::finished(in, std::move(prepared));
}

json::value effective_input(const json::value& requested, const Prepared& prepared) {
  return {{"requested_input", requested},
          {"prepared_snapshot", prepared.snapshot},
          {"operation_id", prepared.operation_id},
          {"revision", prepared.revision},
          {"expires_at", core::or_null(prepared.expires_at)}};
}

}  // namespace sallyport
