#include "guards/detect/service_account.h"

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <string_view>

namespace sallyport::guards {

namespace {

bool is_known_member(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"type", "project_id", "private_key_id", "private_key", "client_email", "client_id",
       "auth_uri", "token_uri", "auth_provider_x509_cert_url", "client_x509_cert_url",
       "universe_domain", "quota_project_id"});
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

bool is_service_account(const json::object& object) {
  const json::value* type = object.if_contains("type");
  const json::value* key = object.if_contains("private_key");
  return type != nullptr && type->is_string() && type->get_string() == "service_account" &&
         key != nullptr && !key->is_null();
}

bool is_bare_service_account(const json::object& object) {
  return is_service_account(object) && std::ranges::all_of(object, [](const auto& member) {
           return is_known_member(member.key());
         });
}

}  // namespace sallyport::guards
