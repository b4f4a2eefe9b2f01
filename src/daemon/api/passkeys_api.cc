#include "daemon/api/passkeys_api.h"

#include <boost/json.hpp>

#include "api/schema.h"
#include "base/base64url.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
constexpr std::size_t kLargestEnrolment = 32u << 10;

Result<std::string> bytes_in(const json::object& body, std::string_view name) {
  const auto text = text_in(body, name);
  std::optional<std::string> bytes = text ? from_base64url(*text) : std::nullopt;
  if (bytes && !bytes->empty()) return std::move(*bytes);
  return fail(ErrorCode::InvalidInput, "`" + std::string(name) + "` is unpadded base64url",
              std::string(name));
}

// The page on which this happens: only it knows what its passkeys are for.
Result<void> check_page(const api::Request& request) {
  if (!request.person.session.empty() && !request.origin.empty()) return {};
  return fail(ErrorCode::InvalidInput, "a key is enrolled on a page of the console");
}

json::array ids_of(const std::vector<trust::Enrolment>& own) {
  json::array ids;
  for (const trust::Enrolment& one : own) {
    if (one.is_passkey() && one.counts()) ids.emplace_back(one.credential_id);
  }
  return ids;
}

json::object key_schema() {
  return schema::object({{"credential_id", schema::text()},
                         {"kind", schema::text()},
                         {"alg", schema::text()},
                         {"origin", schema::text()},
                         {"enrolled_at", schema::text()},
                         {"vouched_by", schema::text()}});
}

}  // namespace

json::object enrolment_json(const trust::Enrolment& enrolment) {
  const bool by_passkey = enrolment.signature.starts_with(trust::Assertion::kMark);
  return {{"credential_id", enrolment.credential_id},
          {"kind", enrolment.is_passkey() ? "passkey" : "browser_key"},
          {"alg", enrolment.alg},
          {"origin", enrolment.origin},
          {"enrolled_at", enrolment.at},
          {"vouched_by", by_passkey ? "passkey" : "key"}};
}

void PasskeysApi::add_to(api::HttpApi& api) {
  const api::Roles roles{api::Role::Approver, api::Role::Controller};
  api.add({.method = "POST",
           .pattern = "passkeys/options",
           .roles = roles,
           .handler = api::Act([this](Request request) { return options(std::move(request)); }),
           .words = {.name = "passkeyOptions",
                     .summary = "Returns the options that a browser needs to create a passkey",
                     .request = schema::exact({}),
                     .response = schema::object({{"challenge", schema::text()},
                                                 {"rp_id", schema::text()},
                                                 {"user_id", schema::text()},
                                                 {"user_name", schema::text()},
                                                 {"exclude", schema::list(schema::text())}})}});
  api.add(
      {.method = "POST",
       .pattern = "passkeys",
       .roles = roles,
       .body_bytes = kLargestEnrolment,
       .handler = api::Act([this](Request request) { return enrol(std::move(request)); }),
       .words = {.name = "enrolPasskey",
                 .summary = "Enrols a key that a page has created, or signs for one with a passkey",
                 .request = schema::exact({}, {{"client_data", schema::text()},
                                               {"authenticator_data", schema::text()},
                                               {"public_key", schema::text()},
                                               {"code", schema::text()},
                                               {"signature", schema::text()}}),
                 .response = schema::object({}, {{"code", schema::text()},
                                                 {"challenge", schema::text()},
                                                 {"statement", schema::object()},
                                                 {"passkeys", schema::list(schema::text())},
                                                 {"added", key_schema()}}),
                 .problems = {409},
                 .good = {200, 202}}});
  api.add({.method = "GET",
           .pattern = "passkeys",
           .roles = roles,
           .handler = api::Act([this](Request request) { return list(std::move(request)); }),
           .words = {.name = "listPasskeys",
                     .summary = "Lists the caller's own passkeys and browser keys",
                     .response = schema::page(key_schema())}});
  api.add({.method = "DELETE",
           .pattern = "passkeys/{id}",
           .roles = roles,
           .handler = api::Act([this](Request request) { return remove(std::move(request)); }),
           .words = {.name = "removePasskey", .summary = "Removes one of the caller's own keys"}});
}

Task<api::Response> PasskeysApi::options(Request request) {
  SALLYPORT_CO_CHECK_OK(check_page(request));
  const std::string& name = request.person.name;
  SALLYPORT_CO_TRY(const std::vector<trust::Enrolment> own, desk_.of(name));
  co_return api::Response{
      .body = json::object{{"challenge", base64url(desk_.challenge("enrol\n" + name))},
                           {"rp_id", rp_id_of(request.origin)},
                           {"user_id", base64url(text_of(sha256(name)))},
                           {"user_name", name},
                           {"exclude", ids_of(own)}}};
}

// A key that waits for its signature is answered with 202, one that counts with 200.
Task<api::Response> PasskeysApi::enrol(Request request) {
  SALLYPORT_CO_CHECK_OK(check_page(request));
  const json::object* const body = request.body.if_object();
  if (body == nullptr) co_return fail(ErrorCode::InvalidInput, "the body is an object");
  const std::string& name = request.person.name;
  if (const auto code = text_in(*body, "code")) {
    SALLYPORT_CO_TRY(const trust::Enrolment waits, desk_.offered(*code));
    if (waits.reviewer != name) {
      co_return fail(ErrorCode::NotFound, "you have no waiting key with this code");
    }
    SALLYPORT_CO_TRY(const trust::Enrolment added,
                     co_await desk_.accept(std::string(*code), text_or_empty(*body, "signature")));
    co_return api::Response{.body = json::object{{"added", enrolment_json(added)}}};
  }
  Result<PasskeyDesk::Offer> offer = fail(ErrorCode::InvalidInput, "");
  if (body->contains("public_key")) {
    SALLYPORT_CO_TRY(const std::string spki, bytes_in(*body, "public_key"));
    offer = desk_.offer_browser_key(name, request.origin, spki);
  } else {
    SALLYPORT_CO_TRY(const std::string client, bytes_in(*body, "client_data"));
    SALLYPORT_CO_TRY(const std::string data, bytes_in(*body, "authenticator_data"));
    offer = desk_.offer_passkey(name, request.origin, client, data);
  }
  if (!offer) co_return std::unexpected(offer.error());
  SALLYPORT_CO_TRY(const std::vector<trust::Enrolment> own, desk_.of(name));
  co_return api::Response{
      .status = 202,
      .body =
          json::object{{"code", offer->code},
                       {"statement", offer->enrolment.statement()},
                       {"challenge", base64url(text_of(sha256(offer->enrolment.statement_text())))},
                       {"passkeys", ids_of(own)}}};
}

Task<api::Response> PasskeysApi::list(Request request) {
  SALLYPORT_CO_TRY(const std::vector<trust::Enrolment> own, desk_.of(request.person.name));
  json::array items;
  for (const trust::Enrolment& one : own) {
    if (one.counts()) items.push_back(enrolment_json(one));
  }
  co_return whole_list(std::move(items));
}

Task<api::Response> PasskeysApi::remove(Request request) {
  const std::string& name = request.person.name;
  SALLYPORT_CO_CHECK_OK(co_await desk_.remove(name, request.at("id"), name));
  co_return api::Response{.status = 204};
}

}  // namespace sallyport::app
