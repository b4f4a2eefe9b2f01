// Removes a known secret from texts that others wrote, such as errors that repeat a key.
#pragma once

#include <string>
#include <string_view>

namespace sallyport {

// The text with a mark in place of every occurrence of the secret. A secret of fewer than 4 bytes
// stays: it stands in too many texts.
std::string without_secret(std::string text, std::string_view secret);

}  // namespace sallyport
