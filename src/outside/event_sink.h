// Delivers entries to an outside consumer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sallyport/result.h"
#include "workspace/config/events_config.h"

namespace sallyport::app {

// One entry for delivery. Sealed content stays sealed.
struct OutgoingEvent {
  std::uint64_t sequence = 0;
  std::string id{};    // of the entry; of a pruned one `sequence-` and its number
  std::string kind{};  // `pruned` where the bytes are gone
  std::string line{};
};

// Used on one thread, which may block.
class EventSink {
 public:
  virtual ~EventSink() = default;

  virtual EventForm form() const = 0;
  // The consumer has stored the first `count` of them.
  struct Delivered {
    std::size_t count = 0;
    std::optional<Error> error{};  // why not all
  };
  // In order. Ends within ten seconds.
  virtual Delivered deliver(std::span<const OutgoingEvent> events) = 0;
  // From any thread. A running delivery ends soon, and nothing more is delivered.
  virtual void cancel() = 0;
};

// `InvalidInput`: a variable is not set, a file cannot be read, or it would be sent unencrypted.
Result<std::unique_ptr<EventSink>> open_jetstream(const JetStreamConfig& config);
Result<std::unique_ptr<EventSink>> open_http_sink(const EventPostConfig& config);

}  // namespace sallyport::app
