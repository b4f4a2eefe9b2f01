// Names and values in URLs and forms (`application/x-www-form-urlencoded`).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sallyport::oauth {

using Fields = std::vector<std::pair<std::string, std::string>>;

// Encodes everything except letters, digits and `-._~`.
std::string percent_encoded(std::string_view text);

std::string form_text(const Fields& fields);

// No value: a name occurs twice, or the encoding is wrong.
std::optional<Fields> read_form(std::string_view text);

// Empty: it is absent.
std::string_view field(const Fields& fields, std::string_view name);

}  // namespace sallyport::oauth
