// Characters that look like ASCII, by the skeletons of UTS #39. May be used from any thread.
#pragma once

namespace sallyport {

// The ASCII character with the same skeleton, else the character itself. Among several, the same
// general category wins, then a letter, then a digit (GR-38). ASCII is never changed.
char32_t look_alike(char32_t character);

// True for a character outside ASCII whose skeleton or compatible form (NFKC) is only ASCII. It can
// pass for one or more ASCII characters.
bool looks_like_ascii(char32_t character);

}  // namespace sallyport
