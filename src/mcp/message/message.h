// One JSON-RPC message of the Model Context Protocol: its text, and what is known about it.
//
// A message holds the members of its kind and no others: `jsonrpc`, and of a request `id`, `method`
// and `params`, of a notification `method` and `params`, of a response `id` and `result` or `error`
// with `code`, `message` and `data`. Guards judge `params`, `result` and `error`. Other members
// would pass unchecked, so they are left out when a message is read. A message without such members
// keeps its received bytes.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::mcp {

struct Message {
  enum class Kind { Request, Notification, Response };

  Kind kind = Kind::Notification;
  std::string text{};       // as received, without the members that `dropped` counts
  json::value value{};      // the parsed text; always an object
  bool exact = true;        // false: a double cannot hold one of its numbers
  std::size_t values = 0;   // in it, with the names of members
  std::string id{};         // of a request or response, canonical; empty: none
  std::string method{};     // of a request or notification
  std::size_t dropped = 0;  // members that belong to no message of this kind

  // `InvalidInput`: the text is not JSON (cause `parse`), not a message (cause `request`; params
  // must be an object) or over a limit (cause `kOverLimit`).
  static Result<Message> read(std::string text, const JsonLimits& limits);

  // Messages of our own. `params` (empty: none) and `result` are JSON text, and only they are
  // parsed. Requests and answers have the id 0 until they are sent with another one.
  static Message make_notification(std::string_view method);
  static Result<Message> make_request(std::string_view method, std::string_view params,
                                      const JsonLimits& limits);
  static Result<Message> make_answer(std::string_view result, const JsonLimits& limits);

  // Changes `params` or `result` to this JSON text, which alone is parsed. After an error the
  // message is unchanged.
  Result<void> replace(std::string_view member, std::string_view changed, const JsonLimits& limits);

  // The approximate bytes of memory that it takes while it waits.
  std::size_t weight() const;

  const json::object& object() const { return value.get_object(); }
  const json::object* params() const;
  const json::object* meta() const;  // `_meta` of the params; null: there is none
  // True if it declares the stateless era.
  bool is_modern() const;

  // Parts of `text`; empty: absent.
  std::string_view params_text() const;
  std::string_view result_text() const;
  std::string_view error_text() const;
  bool is_error() const { return object().contains("error"); }

  // The same message under another id, which is JSON text.
  std::string with_id(std::string_view id) const;
};

// The text of an id or of a token of progress: canonical, and whole numbers keep all their digits.
std::string id_text(const json::value& id);

// True if the text is a batch: several messages in one array, as one revision has them.
bool is_batch(std::string_view text);

// The messages of a batch of a server. Empty: the text is no batch, is unreadable, or has too many.
std::vector<std::string> batch_messages(std::string_view text, const JsonLimits& limits);

// The canonical id of something that is not a message; empty: none is found.
std::string id_in_malformed(std::string_view beginning, std::string_view end);
// Returns the id under which the sender waits for the answer to an unreadable request. Never an id
// inside its params, which would end another request.
std::string awaited_id(std::string_view text);

// Messages of our own. Ids, params and results are JSON text.
std::string request_text(std::string_view id, std::string_view method, std::string_view params);
std::string notification_text(std::string_view method, std::string_view params);
// The notification that the request of this id is cancelled. `reason` may be empty.
std::string cancelled_text(std::uint64_t id, std::string_view reason);
std::string result_text(std::string_view id, std::string_view result);
std::string error_text(std::string_view id, std::int64_t code, std::string_view message,
                       const json::value& data = {});
// The error for the sender of something that is not a message; `why` is the error of
// `Message::read`.
std::string unreadable_text(std::string_view request, const Error& why);
// The error for the sender of more than `most` bytes, of which `beginning` is left.
std::string too_long_text(std::string_view beginning, std::string_view end, std::size_t most);

// JSON-RPC's own codes, and ours (outside of all reserved ranges).
inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kInternalError = -32603;
inline constexpr std::int64_t kHeaderMismatch = -32020;
inline constexpr std::int64_t kMissingCapability = -32021;
inline constexpr std::int64_t kUnsupportedVersion = -32022;
inline constexpr std::int64_t kDenied = -31403;
inline constexpr std::int64_t kApprovalOver = -31410;
inline constexpr std::int64_t kTooMuch = -31429;
inline constexpr std::int64_t kNotRecorded = -31500;

// True for requests that are calls: judged, recorded, and subject to grants.
bool is_governed(std::string_view method);

// The params member that identifies what a request is about; empty: none.
std::string_view subject_member(std::string_view method);

// Returns the canonical id of the cancelled request; empty: the notification names none.
std::string cancelled_id(const Message& notification);

}  // namespace sallyport::mcp
