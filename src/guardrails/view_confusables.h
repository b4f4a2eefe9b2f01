// Characters that look like one of ASCII.
#pragma once

namespace sallyport::guardrails {

// The ASCII character with the same UTS #39 skeleton, else the character itself. Of several the one
// of the same general category, then a letter, then a digit (GR-38). ASCII is never changed.
char32_t look_alike(char32_t character);

}  // namespace sallyport::guardrails
