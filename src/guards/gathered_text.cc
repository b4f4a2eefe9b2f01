#include "guards/gathered_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "base/json_members.h"
#include "base/try.h"
#include "guards/assignment_checks.h"
#include "guards/long_integer.h"
#include "guards/service_account.h"

namespace sallyport::guards {

namespace {

const json::string* text_of_block(const json::value& value) {
  const json::object* const block = value.if_object();
  if (block == nullptr || text_in(*block, "type") != "text") return nullptr;
  const json::value* const text = block->if_contains("text");
  return text == nullptr ? nullptr : text->if_string();
}

class Gathering {
 public:
  explicit Gathering(const SanitizerSettings& settings) : settings_(settings) {
    by_name_ = settings.detectors.test(index_of(Detector::PasswordAssignment)) ||
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
      visit_blocks(*blocks, 0);
    } else {
      visit(value, 0);
    }
  }

  void visit(const json::value& value, std::size_t depth) {
    ++bytes_;
    switch (value.kind()) {
      case json::kind::string:
        return add_alone(Piece::Kind::Value, &value, value.get_string());
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

  void visit_object(const json::value& value, std::size_t depth,
                    const json::string* already_added = nullptr) {
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
        if (text == already_added) continue;
        note_secret_member(name, *text);
        add_alone(Piece::Kind::Value, &inside, *text);
      } else if (const json::array* blocks = name == "content" ? inside.if_array() : nullptr) {
        visit_blocks(*blocks, depth + 1);
      } else {
        visit(inside, depth + 1);
      }
    }
  }

  // The next piece is the value of this member.
  void note_secret_member(std::string_view name, std::string_view value) {
    if (!by_name_ || !secret_of_member(name, value, settings_.detectors)) return;
    const auto piece = static_cast<std::uint32_t>(gathered_.pieces.size());
    gathered_.secret_members.push_back({piece, name});
    gathered_.suspects.push_back(piece);
  }

  // Neighbouring text blocks are one text (PI-53).
  void visit_blocks(const json::array& blocks, std::size_t depth) {
    if (!enters(depth)) return;
    for (std::size_t i = 0; i < blocks.size();) {
      std::size_t end = i;
      while (end < blocks.size() && text_of_block(blocks[end]) != nullptr) ++end;
      if (end - i < 2) {
        visit(blocks[i++], depth + 1);
        continue;
      }
      std::vector<const json::value*> texts;
      for (std::size_t k = i; k < end; ++k)
        texts.push_back(blocks[k].get_object().if_contains("text"));
      add_together(texts);
      for (; i < end; ++i) visit_object(blocks[i], depth + 1, text_of_block(blocks[i]));
    }
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
      if (text_of_block(chunk) != nullptr)
        block_texts.push_back(chunk.get_object().if_contains("text"));
    }
    if (block_texts.size() > 1) add_together(block_texts);
    for (const json::value& chunk : chunks) {
      if (chunk.is_string()) continue;
      const json::string* const text = text_of_block(chunk);
      if (text != nullptr && block_texts.size() > 1) {
        visit_object(chunk, 0, text);
      } else {
        visit(chunk, 0);
      }
    }
  }

  void add_alone(Piece::Kind kind, const void* place, std::string_view text) {
    const std::uint32_t begin = here();
    add_piece(kind, place, text, static_cast<std::uint32_t>(gathered_.pieces.size()));
    close_area(begin, gathered_.pieces.back().group);
  }

  // Once as one text, and then each for itself: a secret at the end of one loses its word edge
  // where the next begins with a letter.
  void add_together(const std::vector<const json::value*>& texts) {
    const auto group = static_cast<std::uint32_t>(gathered_.pieces.size());
    const std::uint32_t begin = here();
    for (const json::value* const text : texts) {
      add_piece(Piece::Kind::Value, text, text->get_string(), group);
    }
    close_area(begin, group);
    for (std::size_t i = group; i < gathered_.pieces.size(); ++i) {
      const Piece& piece = gathered_.pieces[i];
      const std::uint32_t copy = here();
      gathered_.text.append(gathered_.text, piece.begin, piece.size);
      close_area(copy, group);
    }
  }

  void add_piece(Piece::Kind kind, const void* place, std::string_view text, std::uint32_t group) {
    constexpr std::size_t kQuotes = 2;
    bytes_ += text.size() + kQuotes;
    // What is too large is refused as a whole, and then none of it is needed.
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
