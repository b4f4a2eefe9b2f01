// The origin of a call. The front makes one for every call (AT-12).
//
//   DispatchContext context{.dispatch_id = id, .agent_id = "deploy-bot", .action = "write_file"};
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sallyport/classification.h"
#include "sallyport/json.h"

namespace sallyport::autonomy {

struct Trigger {
  std::string id{};
  std::string provider{};
  std::string kind{};
  std::string trace_id{};
  std::map<std::string, std::string> headers{};

  bool operator==(const Trigger&) const = default;
};

struct DispatchContext {
  std::string dispatch_id{};
  Trigger trigger{};
  std::optional<std::string> replay_of_event_id{};
  std::string binding_id{};
  std::uint64_t binding_version = 0;
  std::string agent_id{};
  std::string action{};
  std::optional<Autonomy> autonomy_tier{};

  bool operator==(const DispatchContext&) const = default;
};

// An absent `replay_of_event_id` is left out; an absent tier is `null`.
json::object to_json(const DispatchContext& context);

}  // namespace sallyport::autonomy
