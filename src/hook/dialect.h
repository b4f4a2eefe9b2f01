// Reads the events of one coding agent and writes our decisions. Pure: no clock, no files.
//
//   const Dialect* claude = dialect_named("claude-code");
//   SALLYPORT_CHECK_OK(read_event(*claude, text, event));
//   std::cout << claude->write(event, Decision::deny("not here"), Setting{});
#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hook/decision.h"
#include "hook/event.h"
#include "sallyport/classification.h"
#include "sallyport/result.h"

namespace sallyport::hook {

// How the agent is being used.
struct Setting {
  bool interactive = true;               // the agent's user can be asked
  std::vector<std::string> workspace{};  // folders of the project, from its environment
};

// A built-in tool of a host.
struct HostTool {
  std::string_view name;
  Tier tier;
  std::string_view effect_class;
};

// Stateless, from any thread.
class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view name() const = 0;

  // An event that does not concern us is `Other`. `InvalidInput` names the member that is missing
  // or of another type. `event` then has the members read so far, so that the answer fits the
  // event.
  virtual Result<void> read(const json::object& object, Event& event) const = 0;

  // One JSON object, or an empty text if the host expects no output.
  virtual std::string write(const Event& event, const Decision& decision,
                            const Setting& setting) const = 0;

  // True: the host can ask its user, and a yes lets the call run.
  virtual bool asks(const Setting&) const { return false; }

  // Its tools, without those that are known by name everywhere.
  virtual std::span<const HostTool> tools() const { return {}; }
};

inline constexpr std::size_t kLargestEvent = 16u << 20;
inline constexpr JsonLimits kEventLimits{.bytes = kLargestEvent, .values = 250'000};

// The most that is read of an event. One over its limit is refused, and its name may be at the end.
inline constexpr std::size_t kMostOfEvent = 4 * kLargestEvent;

// Reads one event as its host wrote it. `InvalidInput` says what is wrong, and where. `event` then
// has what could be read, so that the answer fits the event. It may not be judged.
Result<void> read_event(const Dialect& dialect, std::string_view text, Event& event);

// Null: there is no such dialect.
const Dialect* dialect_named(std::string_view name);
std::vector<std::string> dialect_names();

}  // namespace sallyport::hook
