// The passkeys and browser keys of the person who is signed in: making, listing and removing them.
#pragma once

#include "api/http_api.h"
#include "daemon/api/passkey_desk.h"

namespace sallyport::app {

// On the loop of the server. The desk must outlive it.
class PasskeysApi {
 public:
  explicit PasskeysApi(PasskeyDesk& desk) : desk_(desk) {}

  void add_to(api::HttpApi& api);

 private:
  using Request = api::Request;
  Task<api::Response> options(Request request);
  Task<api::Response> enrol(Request request);
  Task<api::Response> list(Request request);
  Task<api::Response> remove(Request request);

  PasskeyDesk& desk_;
};

// One key as pages and the command line show it.
json::object enrolment_json(const trust::Enrolment& enrolment);

}  // namespace sallyport::app
