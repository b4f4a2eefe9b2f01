#include "ledger/entry/opening.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::ledger {

namespace {

std::unexpected<Error> malformed_opening(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

const json::string* text_member(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_string();
}

Result<void> read_value(const json::object& object, Opening& opening) {
  const json::value* const value = object.if_contains("value");
  if (value == nullptr) return malformed_opening("an opening lacks `value`");
  if (opening.form == Form::Json) {
    opening.value = canonical_json(*value);
    return {};
  }
  const auto bytes = value->is_string() ? from_base64(value->get_string()) : std::nullopt;
  if (!bytes) return malformed_opening("a raw `value` is not canonical base64");
  opening.value = *bytes;
  return {};
}

}  // namespace

std::string_view state_name(OpeningState state) {
  switch (state) {
    case OpeningState::Open:
      return "open";
    case OpeningState::Withheld:
      return "withheld";
    case OpeningState::Erased:
      return "erased";
  }
  return "";
}

std::string seal_digest(Form form, const Salt& salt, std::string_view value) {
  const Hash hash =
      sha256({"sallyport/field/v1\n", form == Form::Json ? "j" : "r", as_text(salt), value});
  return "sha256:" + hex(hash);
}

void append_opening_json(std::string& out, const Opening& opening) {
  out += opening.form == Form::Json ? R"({"form":"json","path":)" : R"({"form":"raw","path":)";
  append_canonical_string(out, opening.path);
  out += R"(,"salt":")";
  append_base64(out, opening.salt);
  out += R"(","value":)";
  if (opening.form == Form::Json) {
    out += opening.value;
  } else {
    out += '"';
    append_base64(out, as_bytes(opening.value));
    out += '"';
  }
  out += '}';
}

Result<Opening> opening_from_json(const json::value& value) {
  const json::object* const object = value.if_object();
  if (object == nullptr) return malformed_opening("an opening is an object");
  for (const json::key_value_pair& member : *object) {
    const std::string_view name = member.key();
    if (name != "path" && name != "form" && name != "salt" && name != "value") {
      return malformed_opening(fmt::format("an opening has the unknown member `{:.40}`", name));
    }
  }
  Opening opening;
  const json::string* const path = text_member(*object, "path");
  if (path == nullptr) return malformed_opening("an opening lacks `path`");
  opening.path = *path;
  const json::string* const form = text_member(*object, "form");
  if (form == nullptr || (*form != "json" && *form != "raw")) {
    return malformed_opening("`form` of an opening is `json` or `raw`");
  }
  opening.form = *form == "raw" ? Form::Raw : Form::Json;
  const json::string* const salt = text_member(*object, "salt");
  const auto bytes = salt == nullptr ? std::nullopt : from_base64(*salt);
  if (!bytes || bytes->size() != opening.salt.size()) {
    return malformed_opening("`salt` of an opening is the base64 of 32 bytes");
  }
  std::copy(bytes->begin(), bytes->end(), opening.salt.begin());
  SALLYPORT_CHECK_OK(read_value(*object, opening));
  return opening;
}

namespace {

void put_sized(std::string& out, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  out += bytes;
}

// Takes fields from the front. A missing field makes `good` false and all later fields empty.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view take_sized() {
    std::uint32_t size = 0;
    for (const char c : take(4)) size = size << 8 | static_cast<unsigned char>(c);
    return take(size);
  }
  bool good() const { return good_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

Result<Opening> take_opening(Fields& fields) {
  Opening opening;
  const std::string_view kind = fields.take(2);
  opening.path = fields.take_sized();
  if (!fields.good() || (kind[0] != 'j' && kind[0] != 'r'))
    return fail(ErrorCode::Corrupt, "an opening is damaged");
  opening.form = kind[0] == 'j' ? Form::Json : Form::Raw;
  switch (kind[1]) {
    case 'o':
      opening.state = OpeningState::Open;
      break;
    case 'w':
      opening.state = OpeningState::Withheld;
      break;
    case 'e':
      opening.state = OpeningState::Erased;
      break;
    default:
      return fail(ErrorCode::Corrupt, "an opening has an unknown state");
  }
  if (opening.state != OpeningState::Erased) {
    const std::string_view salt = fields.take(opening.salt.size());
    std::copy(salt.begin(), salt.end(), opening.salt.begin());
  }
  if (opening.state == OpeningState::Open) opening.value = fields.take_sized();
  if (!fields.good()) return fail(ErrorCode::Corrupt, "an opening is cut off");
  return opening;
}

}  // namespace

namespace {

// Calls `look(kind, path, salt)` for each packed opening. False: a later one cannot be read.
template <class Look>
bool look_through(std::string_view packed, const Look& look) {
  Fields fields(packed);
  while (!fields.empty()) {
    const std::string_view kind = fields.take(2);
    const std::string_view path = fields.take_sized();
    const bool erased = kind.ends_with('e');
    const std::string_view salt = erased ? std::string_view{} : fields.take(Salt{}.size());
    if (kind.ends_with('o')) fields.take_sized();
    if (!fields.good()) return false;
    look(kind, path, salt);
  }
  return true;
}

}  // namespace

void append_manifest(std::string& out, std::string_view packed) {
  const std::size_t before = out.size();
  const bool good = look_through(
      packed, [&](std::string_view kind, std::string_view path, std::string_view salt) {
        out += kind;
        put_sized(out, path);
        if (kind.ends_with('w')) out += salt;
      });
  if (good) return;
  out.resize(before);
  out += '!';
  out += packed;
}

bool has_erased(std::string_view packed) {
  bool found = false;
  look_through(packed, [&](std::string_view kind, std::string_view, std::string_view) {
    found = found || kind.ends_with('e');
  });
  return found;
}

std::string pack_openings(const std::vector<Opening>& openings) {
  constexpr std::size_t kMarksAndSizes = 2 + 4 + 4;
  std::size_t size = 0;
  for (const Opening& opening : openings) {
    size += kMarksAndSizes + opening.path.size() + opening.salt.size() + opening.value.size();
  }
  std::string out;
  out.reserve(size);
  for (const Opening& opening : openings) {
    out += opening.form == Form::Json ? 'j' : 'r';
    out += opening.state == OpeningState::Open       ? 'o'
           : opening.state == OpeningState::Withheld ? 'w'
                                                     : 'e';
    put_sized(out, opening.path);
    if (opening.state != OpeningState::Erased) out += as_text(opening.salt);
    if (opening.state == OpeningState::Open) put_sized(out, opening.value);
  }
  return out;
}

Result<std::vector<Opening>> unpack_openings(std::string_view packed) {
  std::vector<Opening> openings;
  Fields fields(packed);
  while (!fields.empty()) {
    SALLYPORT_TRY(Opening opening, take_opening(fields));
    openings.push_back(std::move(opening));
  }
  return openings;
}

Result<void> check_opening(const json::value& entry, const Opening& opening) {
  boost::system::error_code code;
  const json::value* const field = entry.find_pointer(opening.path, code);
  const json::object* const object = field == nullptr ? nullptr : field->if_object();
  const json::string* const digest =
      object == nullptr || object->size() != 1 ? nullptr : text_member(*object, "$sealed");
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
