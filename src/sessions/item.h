// One item of a transcript, in a form that is independent of providers.
//
// Content is a list of blocks:
//   {"type":"text","text":str}                                    user, assistant
//   {"type":"tool_call","id":str,"name":str,"input":any}          assistant; `input` is a string
//                                    where the model's arguments are not one JSON object
//   {"type":"tool_result","text":str,"is_error":bool}             tool; the item names its call
//   {"type":"notice","task_id":str,"status":str,"exit_code":int|null}   user; of a background task
//   {"type":"summary","text":str}                                 user; of what was compacted
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::sessions {

enum class Role : std::uint8_t { System, User, Assistant, Tool };
std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view word);

// An item that is not yet in a transcript.
struct NewItem {
  Role role = Role::User;
  json::array content{};
  std::optional<std::string> tool_call_id{};  // set for a result

  bool operator==(const NewItem&) const = default;
};

struct Item {
  std::uint64_t index = 0;     // position in the transcript
  std::uint64_t revision = 0;  // of the session after this item
  Role role = Role::User;
  json::array content{};
  std::optional<std::string> tool_call_id{};
  std::string created_at{};  // RFC 3339 in UTC, `Z` and microseconds

  bool operator==(const Item&) const = default;
};

// The export form of an item (RT-8).
json::object to_json(const Item& item);

}  // namespace sallyport::sessions
