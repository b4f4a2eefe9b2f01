// Characters that look like ones of ASCII, by the skeletons of UTS #39. From any thread.
#pragma once

namespace sallyport {

// The ASCII character with the same skeleton, else the character itself. Of several the one of the
// same general category, then a letter, then a digit (GR-38). ASCII is never changed.
char32_t look_alike(char32_t character);

// True for a character outside ASCII whose skeleton or compatible form (NFKC) is made of ASCII
// alone: it passes for one or more characters of ASCII.
bool looks_like_ascii(char32_t character);

}  // namespace sallyport
