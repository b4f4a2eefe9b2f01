#include "people/approver_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

constexpr const char* kWords = "correct horse battery";

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class ApproverKeyTest : public testing::Test {
 protected:
  test::TempFolder folder;
  std::filesystem::path file = approver_key_file(folder.path(), "user:ada");
  SystemEntropy entropy;
};

// AP-28 (partly)
TEST_F(ApproverKeyTest, OnlyThePassphraseOpensIt) {
  const Result<ApproverKey> made = ApproverKey::create(file, "user:ada", kWords, entropy);
  ASSERT_TRUE(made) << made.error().message;
  const Result<ApproverKey> opened = ApproverKey::open(file, kWords);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->name(), "user:ada");
  EXPECT_EQ(opened->key(), made->key());
  EXPECT_EQ(approver_name(file), "user:ada");
  EXPECT_EQ(ApproverKey::open(file, "correct horse batterz").error().code,
            ErrorCode::Unauthenticated);
  EXPECT_EQ(ApproverKey::open(folder.path() / "none.key", kWords).error().code,
            ErrorCode::NotFound);
}

// AP-28 (partly)
TEST_F(ApproverKeyTest, TheFileIsForItsOwnerAndHoldsNoSecretInTheClear) {
  const Result<ApproverKey> made = ApproverKey::create(file, "user:ada", kWords, entropy);
  ASSERT_TRUE(made);
  struct stat about{};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(file.filename(), "user-ada.key");
  EXPECT_EQ(content(file).find(kWords), std::string::npos);
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_FALSE(ApproverKey::open(file, kWords));
}

// AP-28 (partly)
TEST_F(ApproverKeyTest, AKeyIsNeverOverwrittenAndAShortPassphraseIsRefused) {
  EXPECT_EQ(ApproverKey::create(file, "user:ada", "short", entropy).error().code,
            ErrorCode::InvalidInput);
  ASSERT_TRUE(ApproverKey::create(file, "user:ada", kWords, entropy));
  EXPECT_EQ(ApproverKey::create(file, "user:ada", kWords, entropy).error().code,
            ErrorCode::Conflict);
}

// AP-28 (partly)
TEST_F(ApproverKeyTest, AFileThatSomebodyChangedDoesNotOpen) {
  ASSERT_TRUE(ApproverKey::create(file, "user:ada", kWords, entropy));
  std::string text = content(file);
  text.replace(text.find("user:ada"), 8, "user:eve");
  std::filesystem::remove(file);
  const int mask = umask(0077);
  std::ofstream(file) << text;
  umask(mask);
  EXPECT_EQ(ApproverKey::open(file, kWords).error().code, ErrorCode::Unauthenticated);
}

// AP-16 (partly)
TEST_F(ApproverKeyTest, ItSignsAsItsPublicKeySays) {
  const Result<ApproverKey> key = ApproverKey::create(file, "user:ada", kWords, entropy);
  ASSERT_TRUE(key);
  const trust::ControlStatement statement{.action = "trust.promote", .agent = "bot"};
  EXPECT_TRUE(trust::is_signature_of(statement.text(), key->sign(statement.text()), key->key()));
  EXPECT_EQ(key->sign(statement.text()), trust::sign(statement, key->secret()));
}

// AP-28 (partly)
TEST_F(ApproverKeyTest, APassphraseFileIsPrivateAndItsFirstLineCounts) {
  const std::filesystem::path words = folder.path() / "words";
  const int mask = umask(0077);
  std::ofstream(words) << kWords << "\nmore\n";
  umask(mask);
  EXPECT_EQ(read_passphrase(words, ""), kWords);
  ASSERT_EQ(chmod(words.c_str(), 0644), 0);
  EXPECT_FALSE(read_passphrase(words, ""));
}

}  // namespace
}  // namespace sallyport::app
