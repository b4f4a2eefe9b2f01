#include "guards/size_limiter.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string>
#include <utility>

#include "base/try.h"
#include "core/plan/protocol_frame.h"
#include "guards/redact/gathered_text.h"
#include "guards/settings_object.h"

namespace sallyport::guards {

namespace {

// The result of an MCP tool: its `content` is a list of blocks, and a bare string is none.
bool is_mcp_result(const json::value& value) {
  const json::object* const object = value.if_object();
  const json::value* const content = object ? object->if_contains("content") : nullptr;
  return content != nullptr && content->is_array();
}

json::value text_block(std::string_view text) {
  return {{"type", "text"}, {"text", text}};
}

// Cuts one envelope once.
class Cutting {
 public:
  explicit Cutting(const SizeLimits& limits) : limits_(limits) {}

  json::value cut(const json::value& value) {
    if (const json::string* const text = value.if_string()) return json::value(cut_text(*text));
    if (const json::array* const array = value.if_array()) return cut_items(*array);
    const json::object* const object = value.if_object();
    if (object == nullptr) return value;
    json::object out;
    out.reserve(object->size());
    for (const auto& member : *object) out.emplace(member.key(), cut(member.value()));
    return out;
  }

  std::string cut_text(std::string_view text) {
    const std::string_view kept = cut_at_character(text, limits_.max_string_bytes);
    if (kept.size() == text.size()) return std::string(text);
    changed_ = true;
    return fmt::format("{}[TRUNCATED: kept {} of {} bytes]", kept, kept.size(), text.size());
  }

  template <class Items>
  json::array cut_items(const Items& items) {
    json::array out;
    for (const json::value& item : items) {
      if (out.size() == limits_.max_items) {
        changed_ = true;
        out.push_back(
            json::value(fmt::format("[TRUNCATED: kept {} of {} items]", out.size(), items.size())));
        break;
      }
      out.push_back(cut(item));
    }
    return out;
  }

  // As `cut`, but an MCP result remains an MCP result.
  json::value cut_result(const json::value& value) {
    json::value out = cut(value);
    if (!is_mcp_result(value)) return out;
    json::array& blocks = out.as_object().at("content").as_array();
    const bool marked = blocks.size() > limits_.max_items;
    if (marked) blocks.back() = text_block(blocks.back().as_string());
    return out;
  }

  bool changed() const { return changed_; }

 private:
  const SizeLimits& limits_;
  bool changed_ = false;
};

std::size_t content_bytes(const Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::Kind::Value:
      return canonical_json(envelope.value).size();
    case Envelope::Kind::Stream:
      return canonical_json(json::array(envelope.chunks.begin(), envelope.chunks.end())).size();
    case Envelope::Kind::Error:
      return canonical_json(json::value(envelope.message)).size() +
             (envelope.data.is_null() ? 0 : canonical_json(envelope.data).size());
  }
  return 0;
}

void replace_content(Envelope& envelope, const std::string& text) {
  envelope.data = nullptr;
  switch (envelope.kind) {
    case Envelope::Kind::Value:
      if (is_mcp_result(envelope.value)) {
        json::object replaced{{"content", json::array{text_block(text)}}};
        const json::value* const failed = envelope.value.get_object().if_contains("isError");
        if (failed != nullptr) replaced["isError"] = *failed;
        envelope.value = std::move(replaced);
      } else {
        envelope.value = text;
      }
      return;
    case Envelope::Kind::Stream:
      envelope.chunks = {json::value(text)};
      return;
    case Envelope::Kind::Error:
      envelope.message = text;
  }
}

}  // namespace

json::value SizeLimits::to_json() const {
  return {{"max_string_bytes", max_string_bytes},
          {"max_items", max_items},
          {"max_total_bytes", max_total_bytes},
          {"over", over_blocks ? "block" : "replace"}};
}

Result<SizeLimits> size_limits_from_json(const json::value& json) {
  SALLYPORT_TRY(
      const json::object* const object,
      settings_object(json, "", {"max_string_bytes", "max_items", "max_total_bytes", "over"}));
  SizeLimits limits;
  SALLYPORT_TRY(limits.max_string_bytes,
                size_setting(*object, "max_string_bytes", limits.max_string_bytes));
  SALLYPORT_TRY(limits.max_items, size_setting(*object, "max_items", limits.max_items));
  SALLYPORT_TRY(limits.max_total_bytes,
                size_setting(*object, "max_total_bytes", limits.max_total_bytes));
  if (const json::value* const over = object->if_contains("over")) {
    limits.over_blocks = *over == "block";
    if (!limits.over_blocks && *over != "replace") {
      return fail(ErrorCode::InvalidInput, "`over` must be `replace` or `block`", "over");
    }
  }
  return limits;
}

SizeLimiter::SizeLimiter(const SizeLimits& limits) : limits_(limits) {
  traits_.name = "size-limiter";
  traits_.rewrites = true;
  traits_.limit = std::chrono::milliseconds{1000};
  traits_.settings = limits_.to_json();
}

Verdict SizeLimiter::limit(const Envelope& result) const {
  Cutting cutting(limits_);
  Envelope cut = result;
  cut.value = cutting.cut_result(result.value);
  cut.message = cutting.cut_text(result.message);
  cut.reason = cutting.cut_text(result.reason);
  cut.data = cutting.cut(result.data);
  const json::array chunks = cutting.cut_items(result.chunks);
  cut.chunks.assign(chunks.begin(), chunks.end());
  const std::size_t bytes = content_bytes(cut);
  if (bytes > limits_.max_total_bytes) {
    if (limits_.over_blocks) return Verdict::deny(fmt::format("output too large: {} bytes", bytes));
    replace_content(cut, fmt::format("[OUTPUT TOO LARGE: {} bytes]", bytes));
    return Verdict::rewrite(cut.to_json());
  }
  return cutting.changed() ? Verdict::rewrite(cut.to_json()) : Verdict::allow();
}

Task<Verdict> SizeLimiter::judge(const Envelope& result, const ResultContext& context) const {
  if (context.effect_class == core::kProtocolFrame) co_return Verdict::allow();
  co_return limit(result);
}

}  // namespace sallyport::guards
