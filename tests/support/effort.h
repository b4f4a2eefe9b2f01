// The number of cases that a randomised test draws. A sanitizer build is several times slower and
// looks for memory errors, which show in the first hundreds of cases.
#pragma once

namespace sallyport::test {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

constexpr int rounds(int usual) {
  return kIsSanitized ? usual / 4 : usual;
}

}  // namespace sallyport::test
