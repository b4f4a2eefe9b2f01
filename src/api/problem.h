// An error for programs and people: RFC 9457, with `code` to switch on and `error` for clients that
// do not know problems.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "net/server_request.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::api {

struct Problem {
  unsigned status = 500;
  std::string code{};
  std::string detail{};
  std::string place{};  // the place in the input; empty: unknown
  json::object more{};  // further members, for example `state`

  json::object to_json() const;
  net::ServerResponse response() const;
};

// The code is the cause of the error, if that is a known code.
Problem problem_of(const Error& error);

// The name of a status in RFC 9110.
std::string_view title_of(unsigned status);

}  // namespace sallyport::api
