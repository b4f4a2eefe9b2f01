#include "guards/redact/gathered_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <unordered_set>
#include <utility>

#include "base/json_members.h"
#include "guards/detect/assignment_checks.h"
#include "guards/detect/encoded_text.h"
#include "guards/detect/long_integer.h"
#include "guards/detect/service_account.h"

namespace sallyport::guards {

namespace {

const json::value* text_member(const json::object& object) {
  const json::value* const text = object.if_contains("text");
  return text != nullptr && text->is_string() ? text : nullptr;
}

// The text that a reader joins to the block before: of a text block, of an embedded resource, of
// the contents of a resource, of a message of a prompt.
const json::value* text_of_block(const json::value& value) {
  const json::object* const block = value.if_object();
  if (block == nullptr) return nullptr;
  if (const json::value* const text = text_member(*block)) return text;
  for (const char* const name : {"resource", "content"}) {
    if (const json::object* const inner = object_in(*block, name)) return text_member(*inner);
  }
  return nullptr;
}

// Gemini joins the parts of a result, and a part may be a plain string.
constexpr std::string_view kGeminiParts = "llmContent";

bool holds_blocks(std::string_view name) {
  return name == "content" || name == "contents" || name == "messages" || name == kGeminiParts;
}

class Gathering {
 public:
  explicit Gathering(const SanitizerSettings& settings) : settings_(settings) {
    by_name_ = settings.detectors.test(index_of(Detector::PasswordAssignment)) ||
               settings.detectors.test(index_of(Detector::PassphraseAssignment)) ||
               settings.detectors.test(index_of(Detector::AwsSecretAccessKey));
    by_shape_ = settings.detectors.test(index_of(Detector::GcpServiceAccount));
  }

  Result<GatheredText> gather(const Envelope& envelope) {
    switch (envelope.kind) {
      case Envelope::Kind::Value:
        visit_root(envelope.value);
        break;
      case Envelope::Kind::Stream:
        visit_chunks(envelope.chunks);
        add_alone(Piece::Kind::Text, &envelope.reason, envelope.reason);
        break;
      case Envelope::Kind::Error:
        add_alone(Piece::Kind::Text, &envelope.message, envelope.message);
        if (envelope.code) visit_code(envelope);
        visit(envelope.data, 0);
        break;
    }
    if (too_deep_) {
      return fail(ErrorCode::Exhausted,
                  fmt::format("content is nested deeper than {} levels", kDeepest));
    }
    if (over()) {
      return fail(ErrorCode::Exhausted,
                  fmt::format("content is over {} bytes", settings_.max_total_bytes));
    }
    return std::move(gathered_);
  }

 private:
  // A lower bound of the size as JSON, which needs no serialisation.
  bool over() const { return bytes_ > settings_.max_total_bytes; }

  void visit_root(const json::value& value) {
    if (const json::array* const blocks = value.if_array()) {
      visit_blocks(*blocks, 0, false);
    } else {
      visit(value, 0);
    }
  }

  void visit(const json::value& value, std::size_t depth) {
    ++bytes_;
    switch (value.kind()) {
      case json::kind::string:
        if (!together_.contains(&value)) add_text(value);
        return;
      case json::kind::int64:
      case json::kind::uint64:
      case json::kind::double_:
        return visit_number(value);
      case json::kind::object:
        return visit_object(value, depth);
      case json::kind::array:
        if (!enters(depth)) return;
        for (const json::value& item : value.get_array()) visit(item, depth + 1);
        return;
      case json::kind::bool_:
      case json::kind::null:
        return;
    }
  }

  bool enters(std::size_t depth) {
    too_deep_ = too_deep_ || depth >= kDeepest;
    return !too_deep_ && !over();
  }

  void visit_number(const json::value& value) {
    if (!may_be_long_integer(value)) return;
    const std::string number = number_text(value);
    if (is_long_integer(number)) add_alone(Piece::Kind::Value, &value, number);
  }

  void visit_code(const Envelope& envelope) {
    const std::string number = std::to_string(*envelope.code);
    if (is_long_integer(number)) add_alone(Piece::Kind::Text, &envelope.code, number);
  }

  void visit_object(const json::value& value, std::size_t depth) {
    if (!enters(depth)) return;
    const json::object& object = value.get_object();
    if (by_shape_ && is_service_account(object)) {
      gathered_.service_accounts.push_back(&value);
      if (settings_.strategy_of(Detector::GcpServiceAccount) != Strategy::Keep) return;
    }
    for (const auto& member : object) {
      const std::string_view name = member.key();
      add_alone(Piece::Kind::Name, &member, name);
      const json::value& inside = member.value();
      if (const json::string* const text = inside.if_string()) {
        if (together_.contains(&inside)) continue;
        note_secret_member(name, *text);
        add_text(inside);
      } else if (const json::array* blocks = holds_blocks(name) ? inside.if_array() : nullptr) {
        visit_blocks(*blocks, depth + 1, name == kGeminiParts);
      } else {
        visit(inside, depth + 1);
      }
    }
  }

  // The next piece is the value of this member.
  void note_secret_member(std::string_view name, std::string_view value) {
    if (!by_name_ || !may_name_secret(name)) return;
    const auto piece = static_cast<std::uint32_t>(gathered_.pieces.size());
    // Also if the value is no secret yet: it may be one when other findings are marks (PI-67).
    gathered_.secret_members.push_back({piece, name});
    if (secret_of_member(name, value, settings_.detectors)) gathered_.suspects.push_back(piece);
  }

  // All text blocks of a result are one text, even with other blocks between them (PI-53).
  void visit_blocks(const json::array& blocks, std::size_t depth, bool may_be_strings) {
    if (!enters(depth)) return;
    std::vector<const json::value*> texts;
    for (const json::value& block : blocks) {
      const bool plain = may_be_strings && block.is_string();
      if (const json::value* const text = plain ? &block : text_of_block(block)) {
        texts.push_back(text);
      }
    }
    if (texts.size() > 1) add_together(texts);
    for (const json::value& block : blocks) visit(block, depth + 1);
  }

  void visit_chunks(const std::vector<json::value>& chunks) {
    std::vector<const json::value*> texts;
    for (const json::value& chunk : chunks) {
      if (chunk.is_string()) texts.push_back(&chunk);
    }
    if (texts.size() == 1) add_alone(Piece::Kind::Value, texts[0], texts[0]->get_string());
    if (texts.size() > 1) add_together(texts);
    std::vector<const json::value*> block_texts;
    for (const json::value& chunk : chunks) {
      if (const json::value* const text = text_of_block(chunk)) block_texts.push_back(text);
    }
    if (block_texts.size() > 1) add_together(block_texts);
    for (const json::value& chunk : chunks) {
      if (!chunk.is_string()) visit(chunk, 0);
    }
  }

  void add_text(const json::value& value) {
    add_alone(Piece::Kind::Value, &value, value.get_string());
    add_decoded(value);
  }

  // Also adds the text that a base64 string encodes.
  void add_decoded(const json::value& value) {
    const std::string_view text = value.get_string();
    if (over() || text.size() > settings_.max_string_bytes) return;
    const std::optional<std::string> decoded = text_in_base64(text);
    if (!decoded) return;
    const std::uint32_t begin = here();
    const auto group = static_cast<std::uint32_t>(gathered_.pieces.size());
    gathered_.pieces.push_back({.place = &value,
                                .begin = begin,
                                .size = static_cast<std::uint32_t>(decoded->size()),
                                .group = group,
                                .encoded = true});
    gathered_.text += *decoded;
    close_area(begin, group);
  }

  void add_alone(Piece::Kind kind, const void* place, std::string_view text) {
    const std::uint32_t begin = here();
    add_piece(kind, place, text, static_cast<std::uint32_t>(gathered_.pieces.size()));
    close_area(begin, gathered_.pieces.back().group);
  }

  // Adds them once as one text and then each alone: a secret at the end of one loses its word edge
  // if the next begins with a letter.
  void add_together(const std::vector<const json::value*>& texts) {
    const auto group = static_cast<std::uint32_t>(gathered_.pieces.size());
    const std::uint32_t begin = here();
    for (const json::value* const text : texts) {
      add_piece(Piece::Kind::Value, text, text->get_string(), group);
      together_.insert(text);
    }
    close_area(begin, group);
    const std::size_t end = gathered_.pieces.size();
    for (std::size_t i = group; i < end; ++i) {
      const Piece& piece = gathered_.pieces[i];
      const std::uint32_t copy = here();
      gathered_.text.append(gathered_.text, piece.begin, piece.size);
      close_area(copy, group);
    }
    for (const json::value* const text : texts) add_decoded(*text);
  }

  void add_piece(Piece::Kind kind, const void* place, std::string_view text, std::uint32_t group) {
    constexpr std::size_t kQuotes = 2;
    bytes_ += text.size() + kQuotes;
    // An envelope that is too large is refused, so its text is not needed.
    if (over()) text = {};
    const bool marked = text.size() > settings_.max_string_bytes && text.ends_with(kTruncated);
    if (marked) text.remove_suffix(kTruncated.size());
    const std::string_view scanned = cut_at_character(text, settings_.max_string_bytes);
    const bool cut = scanned.size() < text.size();
    if (cut) gathered_.suspects.push_back(group);
    gathered_.pieces.push_back({place, here(), static_cast<std::uint32_t>(scanned.size()), group,
                                kind, marked || cut, cut});
    gathered_.text.append(scanned);
  }

  void close_area(std::uint32_t begin, std::uint32_t group) {
    gathered_.areas.push_back({begin, here(), group});
    gathered_.text += '\n';
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(gathered_.text.size()); }

  const SanitizerSettings& settings_;
  bool by_name_ = false;
  bool by_shape_ = false;
  bool too_deep_ = false;
  std::uint64_t bytes_ = 0;
  std::unordered_set<const json::value*> together_;  // texts that were added with others
  GatheredText gathered_;
};

}  // namespace

Result<GatheredText> gather_text(const Envelope& envelope, const SanitizerSettings& settings) {
  return Gathering(settings).gather(envelope);
}

std::string_view cut_at_character(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace sallyport::guards
