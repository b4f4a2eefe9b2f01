#include "ledger/opening.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::ledger {

namespace {

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

const json::string* text_member(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_string();
}

Result<OpeningState> state_of(const json::object& object, bool stored) {
  if (!stored || !object.contains("state")) return OpeningState::Open;
  const json::string* const state = text_member(object, "state");
  if (state == nullptr) return malformed("`state` of an opening is text");
  if (*state == "withheld") return OpeningState::Withheld;
  if (*state == "erased") return OpeningState::Erased;
  return malformed(fmt::format("an opening has the unknown state `{:.20}`", std::string_view(*state)));
}

Result<void> read_value(const json::object& object, Opening& opening) {
  const json::value* const value = object.if_contains("value");
  if (value == nullptr) return malformed("an opening lacks `value`");
  if (opening.form == Form::Json) {
    opening.value = canonical_json(*value);
    return {};
  }
  const auto bytes = value->is_string() ? from_base64(value->get_string()) : std::nullopt;
  if (!bytes) return malformed("a raw `value` is not canonical base64");
  opening.value = *bytes;
  return {};
}

}  // namespace

std::string seal_digest(Form form, const Salt& salt, std::string_view value) {
  const Hash hash = sha256({"sallyport/field/v1\n", form == Form::Json ? "j" : "r", as_text(salt), value});
  return "sha256:" + hex(hash);
}

void append_opening_json(std::string& out, const Opening& opening) {
  out += R"({"form":)";
  out += opening.form == Form::Json ? R"("json","path":)" : R"("raw","path":)";
  append_canonical_string(out, opening.path);
  if (opening.state != OpeningState::Erased) {
    out += R"(,"salt":")";
    append_base64(out, opening.salt);
    out += '"';
  }
  if (opening.state == OpeningState::Withheld) out += R"(,"state":"withheld")";
  if (opening.state == OpeningState::Erased) out += R"(,"state":"erased")";
  if (opening.state == OpeningState::Open) {
    out += R"(,"value":)";
    if (opening.form == Form::Json) {
      out += opening.value;
    } else {
      out += '"';
      append_base64(out, as_bytes(opening.value));
      out += '"';
    }
  }
  out += '}';
}

std::string pack_openings(const std::vector<Opening>& openings) {
  if (openings.empty()) return {};
  std::string out = "[";
  for (const Opening& opening : openings) {
    if (out.size() > 1) out += ',';
    append_opening_json(out, opening);
  }
  return out + "]";
}

Result<Opening> opening_from_json(const json::value& value, bool stored) {
  const json::object* const object = value.if_object();
  if (object == nullptr) return malformed("an opening is an object");
  for (const json::key_value_pair& member : *object) {
    const std::string_view name = member.key();
    if (name != "path" && name != "form" && name != "salt" && name != "value" &&
        !(stored && name == "state")) {
      return malformed(fmt::format("an opening has the unknown member `{:.40}`", name));
    }
  }
  Opening opening;
  SALLYPORT_TRY(opening.state, state_of(*object, stored));
  const json::string* const path = text_member(*object, "path");
  if (path == nullptr) return malformed("an opening lacks `path`");
  opening.path = *path;
  const json::string* const form = text_member(*object, "form");
  if (form == nullptr || (*form != "json" && *form != "raw")) {
    return malformed("`form` of an opening is `json` or `raw`");
  }
  opening.form = *form == "raw" ? Form::Raw : Form::Json;
  // What was taken away must be gone: a salt that stays lets a guess be tested (LE-59).
  if ((opening.state != OpeningState::Open && object->contains("value")) ||
      (opening.state == OpeningState::Erased && object->contains("salt"))) {
    return malformed("an opening holds more than its state allows");
  }
  if (opening.state == OpeningState::Erased) return opening;
  const json::string* const salt = text_member(*object, "salt");
  const auto bytes = salt == nullptr ? std::nullopt : from_base64(*salt);
  if (!bytes || bytes->size() != opening.salt.size()) {
    return malformed("`salt` of an opening is the base64 of 32 bytes");
  }
  std::copy(bytes->begin(), bytes->end(), opening.salt.begin());
  if (opening.state == OpeningState::Open) SALLYPORT_CHECK_OK(read_value(*object, opening));
  return opening;
}

Result<std::vector<Opening>> unpack_openings(std::string_view packed) {
  std::vector<Opening> openings;
  if (packed.empty()) return openings;
  SALLYPORT_TRY(json::value list, parse_own_json(packed, {.bytes = 1u << 30}));
  if (!list.is_array()) return malformed("stored openings are not a list");
  for (const json::value& item : list.get_array()) {
    SALLYPORT_TRY(Opening opening, opening_from_json(item, true));
    openings.push_back(std::move(opening));
  }
  return openings;
}

Result<void> check_opening(const json::value& entry, const Opening& opening) {
  boost::system::error_code code;
  const json::value* const field = entry.find_pointer(opening.path, code);
  const json::object* const object = field == nullptr ? nullptr : field->if_object();
  const json::string* const digest = object == nullptr || object->size() != 1
                                         ? nullptr
                                         : text_member(*object, "$sealed");
  if (digest == nullptr) {
    return fail(ErrorCode::Corrupt, "an opening points at no sealed field", opening.path);
  }
  if (opening.state != OpeningState::Open) return {};
  if (seal_digest(opening.form, opening.salt, opening.value) != std::string_view(*digest)) {
    return fail(ErrorCode::Corrupt, "an opening does not match its commitment", opening.path);
  }
  return {};
}

}  // namespace sallyport::ledger
