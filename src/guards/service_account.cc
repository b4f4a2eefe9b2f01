#include "guards/service_account.h"

#include <boost/json/value.hpp>

namespace sallyport::guards {

bool is_service_account(const json::object& object) {
  const json::value* type = object.if_contains("type");
  const json::value* key = object.if_contains("private_key");
  return type != nullptr && type->is_string() && type->get_string() == "service_account" &&
         key != nullptr && !key->is_null();
}

}  // namespace sallyport::guards
