#include "sallyport/envelope.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/shapes.h"

namespace sallyport {

namespace {

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

Result<Envelope> stream_from(const json::object& stream) {
  Envelope envelope{.kind = Envelope::Kind::Stream};
  const json::value* const chunks = stream.if_contains("chunks");
  const std::optional<bool> complete = bool_in(stream, "complete");
  if (chunks == nullptr || !chunks->is_array() || !complete) {
    return malformed("a stream has `chunks` and `complete`");
  }
  envelope.chunks.assign(chunks->get_array().begin(), chunks->get_array().end());
  envelope.complete = *complete;
  const auto reason = text_in(stream, "reason");
  if (envelope.complete == reason.has_value()) {
    return malformed("a stream has a `reason` exactly when it is not complete");
  }
  envelope.reason = reason.value_or("");
  return envelope;
}

Result<Envelope> error_from(const json::object& error) {
  const auto message = text_in(error, "message");
  if (!message) return malformed("an error has a `message`");
  Envelope envelope = Envelope::error(std::string(*message));
  if (const json::value* const code = error.if_contains("code")) {
    if (!code->is_int64()) return malformed("`code` of an error is a whole number");
    envelope.code = code->get_int64();
  }
  if (const json::value* const data = error.if_contains("data")) envelope.data = *data;
  return envelope;
}

// Reads a value that is itself a result with documents as that result. The upstream may set neither
// the artifact nor the duration (AU-18).
std::optional<ToolResult> result_with_documents(const json::value& value, bool success) {
  const json::object* const object = value.if_object();
  if (object == nullptr || !object->contains("documents")) return std::nullopt;
  Result<ToolResult> result = tool_result_from_json(value);
  if (!result || result->documents.empty() || result->success != success) return std::nullopt;
  result->artifact.reset();
  result->duration_ms.reset();
  return std::move(*result);
}

}  // namespace

Envelope Envelope::of(json::value value) {
  return {.kind = Kind::Value, .value = std::move(value)};
}

Envelope Envelope::error(std::string message, std::optional<std::int64_t> code) {
  return {.kind = Kind::Error, .code = code, .message = std::move(message)};
}

Envelope Envelope::malformed_output(std::string bytes) {
  Envelope envelope = error("upstream sent malformed output");
  envelope.malformed_bytes = std::move(bytes);
  return envelope;
}

Envelope Envelope::from_upstream(std::string bytes, std::size_t limit) {
  Result<ParsedJson> parsed = parse_json(bytes, {.bytes = limit});
  if (!parsed) return malformed_output(std::move(bytes));
  return of(std::move(parsed->value));
}

template <class Out>
void core::write_members(Out& out, const Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::Kind::Value:
      out.put("kind", "value");
      out.put("value", envelope.value);
      break;
    case Envelope::Kind::Stream:
      out.put("kind", "stream");
      out.object("stream", [&] {
        out.array("chunks", [&] {
          for (const json::value& chunk : envelope.chunks) out.item(chunk);
        });
        out.put("complete", envelope.complete);
        if (!envelope.complete) out.put("reason", envelope.reason);
      });
      break;
    case Envelope::Kind::Error:
      out.put("kind", "error");
      out.object("error", [&] {
        out.put("message", envelope.message);
        if (envelope.code) out.put("code", *envelope.code);
        if (!envelope.data.is_null()) out.put("data", envelope.data);
      });
      break;
  }
}
template void core::write_members(CanonicalWriter& out, const Envelope& envelope);
template void core::write_members(ObjectWriter& out, const Envelope& envelope);

json::value Envelope::to_json() const {
  return core::object_of(*this);
}

Result<Envelope> Envelope::from_json(const json::value& json) {
  const json::object* const object = json.if_object();
  const auto kind = object == nullptr ? std::nullopt : text_in(*object, "kind");
  if (!kind) return malformed("an envelope is an object with a `kind`");
  if (*kind == "value" && object->contains("value")) return Envelope::of(object->at("value"));
  const json::object* const inner = object_in(*object, *kind);
  if (*kind == "stream" && inner != nullptr) return stream_from(*inner);
  if (*kind == "error" && inner != nullptr) return error_from(*inner);
  return malformed("an envelope is of kind `value`, `stream` or `error`, and holds that");
}

ToolResult Envelope::to_result() const {
  switch (kind) {
    case Kind::Value:
      if (value.is_string()) return {.success = true, .output = std::string(value.get_string())};
      if (std::optional<ToolResult> result = result_with_documents(value, true)) return *result;
      return {.success = true, .output = canonical_json(value), .data = value};
    case Kind::Stream: {
      ToolResult result{.success = complete};
      for (const json::value& chunk : chunks) {
        result.output +=
            chunk.is_string() ? std::string(chunk.get_string()) : canonical_json(chunk);
      }
      return result;
    }
    case Kind::Error: {
      ToolResult result{.success = false, .output = message, .data = data};
      if (std::optional<ToolResult> given = result_with_documents(data, false)) {
        result.data = std::move(given->data);
        result.documents = std::move(given->documents);
      }
      return result;
    }
  }
  return {};
}

bool same(const Envelope& a, const Envelope& b) {
  // Equal values are the same. Unequal values may still have the same text.
  const bool equal = a.kind == b.kind && a.value == b.value && a.chunks == b.chunks &&
                     a.complete == b.complete && a.reason == b.reason && a.code == b.code &&
                     a.message == b.message && a.data == b.data;
  if (equal) return true;
  return canonical_json(a.to_json()) == canonical_json(b.to_json());
}

}  // namespace sallyport
