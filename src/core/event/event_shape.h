// The fields of each event, declared once: its wire name, its role and where each field is kept.
// The writer, the reader and the small queries use this declaration.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/json_writer.h"
#include "core/record/read_field.h"
#include "sallyport/event.h"

namespace sallyport::core {

enum class Role { Announces, Reports };

template <class Owner, class T>
struct Field {
  MemberName name;
  T Owner::* member;
};

// A field with one of these words.
template <class Owner, class Enum>
struct WordField {
  MemberName name;
  Enum Owner::* member;
  std::type_identity_t<std::span<const Word<Enum>>> accepted;
};

enum class CutUnit { Bytes, CodePoints };

// Text that is written only up to a limit.
template <class Owner>
struct CutField {
  MemberName name;
  std::string Owner::* member;
  CutUnit unit;
  std::size_t limit;
};

template <class E, class... Fields>
struct Shape {
  std::string_view kind;
  Role role;
  std::string E::* scope;
  std::tuple<Fields...> fields;
};

template <class E, class... Fields>
constexpr Shape<E, Fields...> shape(std::string_view kind, Role role, std::string E::* scope,
                                    Fields... fields) {
  return {kind, role, scope, std::tuple(fields...)};
}

inline constexpr std::array<Word<event::DeniedAction>, 9> kDeniedActions{{
    {"front_admission", event::DeniedAction::FrontAdmission},
    {"read_file", event::DeniedAction::ReadFile},
    {"list_files", event::DeniedAction::ListFiles},
    {"search_files", event::DeniedAction::SearchFiles},
    {"write_file", event::DeniedAction::WriteFile},
    {"edit_file", event::DeniedAction::EditFile},
    {"shell", event::DeniedAction::Shell},
    {"background_start", event::DeniedAction::BackgroundStart},
    {"background_limit", event::DeniedAction::BackgroundLimit},
}};
inline constexpr std::array<Word<event::Authorization>, 3> kAuthorizations{{
    {"allow", event::Authorization::Allow},
    {"prompt", event::Authorization::Prompt},
    {"deny", event::Authorization::Deny},
}};
inline constexpr std::array<Word<event::TaskStatus>, 3> kTaskStatuses{{
    {"finished", event::TaskStatus::Finished},
    {"failed", event::TaskStatus::Failed},
    {"interrupted", event::TaskStatus::Interrupted},
}};

inline constexpr std::span<const Word<event::Authorization>> kBlockingAuthorizations =
    std::span(kAuthorizations).subspan(1);

constexpr std::span<const Word<event::DeniedAction>> words_of(event::DeniedAction) {
  return kDeniedActions;
}
constexpr std::span<const Word<event::Authorization>> words_of(event::Authorization) {
  return kAuthorizations;
}
constexpr std::span<const Word<event::TaskStatus>> words_of(event::TaskStatus) {
  return kTaskStatuses;
}

}  // namespace sallyport::core
