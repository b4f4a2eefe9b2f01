#include "people/registered_reviewers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "core/plan/plan_shelf.h"
#include "ledger/read/store_reader.h"
#include "trust/approver_book.h"

namespace sallyport::app {

namespace {

Result<trust::Reviewers> of_folder(const std::filesystem::path& file) {
  policy::ReviewerFile reviewers(file, true);
  SALLYPORT_TRY(const policy::ReviewerFile::List list, reviewers.now());
  return *list;
}

// Sources of policies that name reviewers, each with the digest of its list.
Result<std::vector<core::Fact>> loaded_lists(const Context& context) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  const Result<std::unique_ptr<Workspace>> workspace = Workspace::open_reading(place);
  if (workspace) return ledger::StoreReader((*workspace)->store()).facts(core::kPolicyPeople);
  if (workspace.error().code == ErrorCode::NotFound) return std::vector<core::Fact>{};
  return std::unexpected(workspace.error());
}

std::string digest_of(const trust::Reviewers& people) {
  return core::digest_of_people(trust::ApproverBook(people));
}

void add(trust::Reviewers& all, const trust::Reviewers& more) {
  all.people.insert(all.people.end(), more.people.begin(), more.people.end());
}

Result<void> add_named(trust::Reviewers& all, const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    SALLYPORT_TRY(const trust::Reviewers more, policy::read_reviewers(file));
    add(all, more);
  }
  return {};
}

// The people of policies with an unchanged list. `missing` names a policy with a changed list.
trust::Reviewers of_policies(const std::vector<core::Fact>& lists, std::string* missing) {
  trust::Reviewers all;
  for (const core::Fact& list : lists) {
    const Result<trust::Reviewers> read = policy::read_reviewers(list.key);
    if (read && digest_of(*read) == list.value.value_or("")) {
      add(all, *read);
    } else {
      *missing = list.key;
    }
  }
  return all;
}

}  // namespace

Result<trust::Reviewers> registered_reviewers(const Context& context,
                                              const std::optional<std::filesystem::path>& named) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  const std::filesystem::path usual = place.reviewers_file();
  if (named) {
    std::error_code code;
    if (std::filesystem::equivalent(*named, usual, code)) {
      return of_folder(usual);
    }
    SALLYPORT_TRY(trust::Reviewers people, policy::read_reviewers(*named));
    SALLYPORT_TRY(const std::vector<core::Fact> lists, loaded_lists(context));
    const std::string digest = digest_of(people);
    const bool loaded = std::ranges::any_of(
        lists, [&](const core::Fact& list) { return list.value.value_or("") == digest; });
    if (loaded) return people;
    return fail(ErrorCode::Unauthenticated,
                fmt::format("no gate on this data folder has loaded the reviewers of `{:.200}`; "
                            "name its policy, or register people in {}",
                            named->string(), usual.string()),
                "--reviewers");
  }
  SALLYPORT_TRY(trust::Reviewers people, of_folder(usual));
  if (!people.people.empty()) return people;
  SALLYPORT_TRY(const std::vector<core::Fact> lists, loaded_lists(context));
  std::string missing;
  people = of_policies(lists, &missing);
  if (!people.people.empty() || missing.empty()) return people;
  return fail(ErrorCode::NotFound,
              fmt::format("the policy `{:.200}` names reviewers and cannot be read from here as it "
                          "was loaded; run the command where it can, or register people in {}",
                          missing, usual.string()));
}

Result<trust::Reviewers> reviewers_of_all_times(const Context& context,
                                                const std::vector<std::filesystem::path>& files) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  const std::filesystem::path usual = place.reviewers_file();
  SALLYPORT_TRY(trust::Reviewers all, of_folder(usual));
  // The commands that check a ledger report an unreadable one.
  if (const Result<std::vector<core::Fact>> lists = loaded_lists(context)) {
    std::string missing;
    add(all, of_policies(*lists, &missing));
  }
  SALLYPORT_CHECK_OK(add_named(all, files));
  return all;
}

Result<trust::Reviewers> reviewers_for_file(const Context& context,
                                            const std::vector<std::filesystem::path>& files) {
  trust::Reviewers all;
  if (const Result<trust::Reviewers> here = reviewers_of_all_times(context, {})) all = *here;
  SALLYPORT_CHECK_OK(add_named(all, files));
  return all;
}

}  // namespace sallyport::app
