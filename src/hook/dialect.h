// How one coding agent speaks: its events in, our decisions out. Pure: no clock, no files.
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
  std::vector<std::string> workspace{};  // folders of the project, as its environment names them
};

// A tool that a host brings along.
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

  // An event that is not for us is `Other`. `InvalidInput` names the member that is missing or of
  // another type; what was understood until then stands in `event`, so that the host is answered in
  // the words of what it asked.
  virtual Result<void> read(const json::object& object, Event& event) const = 0;

  // One JSON object, or nothing where the host wants silence.
  virtual std::string write(const Event& event, const Decision& decision,
                            const Setting& setting) const = 0;

  // True: the host can ask its user, and a yes lets the call run.
  virtual bool asks(const Setting&) const { return false; }

  // Beside those that are known by name everywhere.
  virtual std::span<const HostTool> tools() const { return {}; }
};

inline constexpr std::size_t kLargestEvent = 16u << 20;
inline constexpr JsonLimits kEventLimits{.bytes = kLargestEvent, .values = 250'000};

// One event as its host wrote it. `InvalidInput` says what is wrong with it, and where.
Result<void> read_event(const Dialect& dialect, std::string_view text, Event& event);

// Null: we do not speak it.
const Dialect* dialect_named(std::string_view name);
std::vector<std::string> dialect_names();

}  // namespace sallyport::hook
