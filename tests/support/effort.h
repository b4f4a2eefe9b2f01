// How often a test that draws its cases draws one. What a sanitizer has built is several times
// slower, and looks for faults of memory, which show in the first hundreds.
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
