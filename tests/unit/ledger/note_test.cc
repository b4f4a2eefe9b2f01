#include "ledger/proof/note.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vectors.h"

namespace sallyport::ledger {
namespace {

using vectors::kCheckpoint;
using vectors::kOrigin;
using vectors::kVerifierKey;
using vectors::signing_key;
using vectors::with;

constexpr std::string_view kKeyFile =
    "PRIVATE+KEY+sallyport.example/test+d0e5ad83+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n";

Checkpoint of_four_leaves() {
  return {
      std::string(kOrigin), 4,
      vectors::hash_from_hex("bd0070acbdc679a24cf44615841483fbfcc18aba00ae4dbe2a0c54af26cbd9fa")};
}

NoteTrust trust_in(std::string_view bytes, const VerifierKey& key) {
  const Result<Note> note = Note::parse(bytes);
  EXPECT_TRUE(note) << note.error().message;
  return note ? verify_note(*note, key) : NoteTrust::BadSignature;
}

// LE-20, LE-21
TEST(NoteTest, TheCheckpointOfTheSpecificationIsWrittenByteForByte) {
  const SigningKey key = signing_key();
  const std::string note = of_four_leaves().sign({&key});
  EXPECT_EQ(note, kCheckpoint);
  EXPECT_EQ(note.size(), 191U);
  EXPECT_EQ(hex(sha256(note)), "cb524f4c75f16e2d8de6f9d2a1d9fe820f3ab23796bc541a1c1f9a2293208975");
}

// LE-20, LE-21
TEST(NoteTest, TheCheckpointOfTheSpecificationVerifies) {
  const Result<Note> note = Note::parse(kCheckpoint);
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ(note->text, of_four_leaves().text());
  ASSERT_EQ(note->signatures.size(), 1U);
  EXPECT_EQ(note->signatures[0].name, kOrigin);
  EXPECT_EQ(hex(note->signatures[0].key_id), "d0e5ad83");
  EXPECT_EQ(note->signatures[0].signature.size(), 64U);
  EXPECT_EQ(verify_note(*note, *VerifierKey::parse(kVerifierKey)), NoteTrust::Signed);
  EXPECT_EQ(*Checkpoint::parse(note->text), of_four_leaves());
}

// LE-21, LE-22
TEST(NoteTest, KeysHaveTheFormsOfTheSpecification) {
  const SigningKey key = signing_key();
  EXPECT_EQ(hex(key.verifier().public_key),
            "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
  EXPECT_EQ(hex(key.verifier().id), "d0e5ad83");
  EXPECT_EQ(key.verifier().text(), kVerifierKey);
  EXPECT_EQ(*VerifierKey::parse(kVerifierKey), key.verifier());
  EXPECT_EQ(key.file_text(), kKeyFile);
  const Result<SigningKey> read = SigningKey::parse(kKeyFile);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->verifier(), key.verifier());
  EXPECT_EQ(read->sign("text"), key.sign("text"));
}

// LE-23
TEST(NoteTest, GeneratedKeysDiffer) {
  SystemEntropy entropy;
  const SigningKey a = SigningKey::generate("a", entropy);
  const SigningKey b = SigningKey::generate("a", entropy);
  EXPECT_NE(a.verifier().public_key, b.verifier().public_key);
  EXPECT_TRUE(VerifierKey::parse(a.verifier().text()));
}

// LE-22, LE-78
TEST(NoteTest, MalformedVerifierKeysAreRefused) {
  const std::string good(kVerifierKey);
  for (const std::string& bad :
       {std::string(), std::string("sallyport.example/test"), good + "=", good + "\n", " " + good,
        with(good, "+d0e5ad83+", "+d0e5ad84+"), with(good, "d0e5ad83", "D0E5AD83"),
        with(good, "d0e5ad83", "d0e5ad8"), with(good, "+AQOh", "+AgOh"),
        with(good, "test+", "tes+"), with(good, "/test", "/te st"), with(good, "TG4", "TG5"),
        with(good, "AQOhB7", "AQOhB"), with(good, "sallyport.example/test", ""),
        "PRIVATE+KEY+" + good}) {
    EXPECT_FALSE(VerifierKey::parse(bad)) << bad;
  }
}

// LE-22, LE-78
TEST(NoteTest, MalformedPrivateKeysAreRefusedWithoutBeingRepeated) {
  const std::string good(kKeyFile);
  for (const std::string& bad :
       {std::string(), good.substr(12), with(good, "d0e5ad83", "d0e5ad84"),
        with(good, "+AQAB", "+AgAB"), with(good, "HR4f\n", "HR4f\n\n"), with(good, "HR4f", "HR4"),
        with(good, "PRIVATE", "private"), with(good, "HR4f\n", "HR4f\r\n")}) {
    const Result<SigningKey> key = SigningKey::parse(bad);
    ASSERT_FALSE(key) << bad;
    EXPECT_EQ(key.error().message.find("BAgMEBQ"), std::string::npos);
  }
}

// LE-35, LE-36
TEST(NoteTest, AnyChangedByteOfASignedNoteIsFound) {
  const VerifierKey key = *VerifierKey::parse(kVerifierKey);
  for (std::size_t i = 0; i < kCheckpoint.size(); ++i) {
    for (const unsigned char bit : {1, 2, 32}) {
      std::string changed(kCheckpoint);
      changed[i] = static_cast<char>(changed[i] ^ bit);
      const Result<Note> note = Note::parse(changed);
      EXPECT_FALSE(note && verify_note(*note, key) == NoteTrust::Signed) << i << ' ' << changed;
    }
  }
}

// One object holds the private key: signers get a reference to it.
static_assert(!std::is_copy_constructible_v<SigningKey> && !std::is_copy_assignable_v<SigningKey>);

// LE-36
TEST(NoteTest, SignaturesByOtherKeysAreIgnored) {
  const SigningKey ours = signing_key();
  const SigningKey same_name = signing_key(std::string(kOrigin), 1);
  const SigningKey witness = signing_key("witness.example", 2);
  const std::string note = of_four_leaves().sign({&witness, &ours, &same_name});
  for (const SigningKey* key : {&witness, &ours, &same_name}) {
    EXPECT_EQ(trust_in(note, key->verifier()), NoteTrust::Signed);
  }
  EXPECT_EQ(trust_in(note, signing_key(std::string(kOrigin), 3).verifier()), NoteTrust::NoSuchKey);
  EXPECT_EQ(trust_in(note, signing_key("other.example").verifier()), NoteTrust::NoSuchKey);
  const std::string strange = std::string(kCheckpoint) + "— other.example AAAAAAE=\n";
  EXPECT_EQ(trust_in(strange, ours.verifier()), NoteTrust::Signed);
}

std::string line_by(const VerifierKey& key, std::string_view signature) {
  std::string bytes(as_text(key.id));
  bytes += signature;
  return fmt::format("— {} {}\n", key.name, base64(as_bytes(bytes)));
}

// LE-36
TEST(NoteTest, ABadLineOfThePinnedKeyFailsEvenBesideAGoodOne) {
  const VerifierKey key = signing_key().verifier();
  const std::string good(kCheckpoint);
  for (const std::string& signature :
       {std::string(64, '\0'), std::string(63, 'a'), std::string(65, 'a'), std::string("x")}) {
    EXPECT_EQ(trust_in(good + line_by(key, signature), key), NoteTrust::BadSignature);
    const std::size_t lines = good.find("\n\n") + 2;
    std::string before = good;
    before.insert(lines, line_by(key, signature));
    EXPECT_EQ(trust_in(before, key), NoteTrust::BadSignature);
  }
}

// LE-21
TEST(NoteTest, TheSignatureCoversTheTextWithItsLastLineEnd) {
  const SigningKey key = signing_key();
  const std::string text = of_four_leaves().text();
  const auto note = [&](std::string_view covered) {
    return text + "\n" + line_by(key.verifier(), as_text(key.sign(covered)));
  };
  EXPECT_EQ(trust_in(note(text), key.verifier()), NoteTrust::Signed);
  EXPECT_EQ(trust_in(note(text.substr(0, text.size() - 1)), key.verifier()),
            NoteTrust::BadSignature);
  EXPECT_EQ(trust_in(note(text + "\n"), key.verifier()), NoteTrust::BadSignature);
}

// LE-78, LE-79
TEST(NoteTest, MalformedNotesAreRefused) {
  using namespace std::string_literals;
  const std::string good(kCheckpoint);
  ASSERT_TRUE(Note::parse(good));
  for (const std::string& bad : {""s,
                                 "\n"s,
                                 "\n\n"s,
                                 "text\n\n"s,
                                 good.substr(0, good.size() - 1),
                                 good + "x\n",
                                 good + "\n",
                                 with(good, "\n\n", "\n"),
                                 with(good, "— ", "- "),
                                 with(good, "— ", "—"),
                                 with(good, "— sallyport", "—  sallyport"),
                                 with(good, "test 0O", "te+st 0O"),
                                 with(good, "test 0O", "te\u00a0st 0O"),
                                 with(good, "test 0O", "te\u3000st 0O"),
                                 with(good, "OAo=", "OAp="),
                                 with(good, "OAo=", "OAo"),
                                 with(good, "OAo=", "OAo= "),
                                 with(good, "test 0O", "test  0O"),
                                 with(good, "test\n4", "test\r\n4"),
                                 with(good, "test\n4", "te\tst\n4"),
                                 with(good, "test\n4", "te\x7fst\n4"),
                                 with(good, "test\n4", "te\0st\n4"s),
                                 with(good, "test\n4", "te\xffst\n4"),
                                 with(good, " 0OWtg7", " "),
                                 good.substr(0, good.find("— ")) + "— name AAAAAA==\n"}) {
    EXPECT_FALSE(Note::parse(bad)) << bad;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(Note::parse(good.substr(0, length))) << length;
  }
}

// LE-78
TEST(NoteTest, SixtyFourSignaturesAreTheMost) {
  const std::string text = of_four_leaves().text() + "\n";
  std::string lines;
  for (int i = 0; i < 64; ++i) lines += fmt::format("— w{} AAAAAAE=\n", i);
  ASSERT_TRUE(Note::parse(text + lines));
  EXPECT_EQ(Note::parse(text + lines)->signatures.size(), 64U);
  EXPECT_FALSE(Note::parse(text + lines + "— w64 AAAAAAE=\n"));
}

// LE-78
TEST(NoteTest, ANoteOver16MiBIsRefused) {
  const std::string large = std::string(16 * 1024 * 1024, 'x') + "\n\n— w AAAAAAE=\n";
  EXPECT_EQ(Note::parse(large).error().message, "a note is at most 16 MiB");
  EXPECT_TRUE(Note::parse(large.substr(large.size() - 16 * 1024 * 1024)));
}

// LE-79
TEST(NoteTest, MalformedCheckpointsAreRefused) {
  const std::string good = of_four_leaves().text();
  ASSERT_TRUE(Checkpoint::parse(good));
  for (const std::string& bad :
       {std::string(), std::string("\n"), with(good, "\n4\n", "\n04\n"),
        with(good, "\n4\n", "\n+4\n"), with(good, "\n4\n", "\n-4\n"), with(good, "\n4\n", "\n4 \n"),
        with(good, "\n4\n", "\n\n"), with(good, "\n4\n", "\n0x4\n"), with(good, "\n4\n", "\n4.0\n"),
        with(good, "\n4\n", "\n00\n"), with(good, "\n4\n", "\n18446744073709551616\n"),
        with(good, "2fo=", "2fp="), with(good, "2fo=", "2fo"), with(good, "vQBw", ""),
        good.substr(0, good.size() - 1), good.substr(good.find('\n')),
        std::string(kOrigin) + "\n4\n"}) {
    EXPECT_FALSE(Checkpoint::parse(bad)) << bad;
  }
  EXPECT_EQ(Checkpoint::parse(with(good, "\n4\n", "\n0\n"))->size, 0U);
  EXPECT_EQ(Checkpoint::parse(with(good, "\n4\n", "\n18446744073709551615\n"))->size,
            std::numeric_limits<std::uint64_t>::max());
}

// LE-79
TEST(NoteTest, ExtensionLinesOfOthersAreSignedAndIgnored) {
  const SigningKey key = signing_key();
  const std::string text = of_four_leaves().text() + "extension one\nextension two\n";
  const std::string note = text + "\n" + line_by(key.verifier(), as_text(key.sign(text)));
  EXPECT_EQ(trust_in(note, key.verifier()), NoteTrust::Signed);
  EXPECT_EQ(trust_in(with(note, "one", "two"), key.verifier()), NoteTrust::BadSignature);
  EXPECT_EQ(*Checkpoint::parse(Note::parse(note)->text), of_four_leaves());
}

// LE-79
TEST(NoteTest, OnlyOriginsThatCanStandInANoteMayBeWritten) {
  for (const std::string_view good : {"sallyport.local/00ff", "a", "müller.example/log"}) {
    EXPECT_TRUE(check_origin(good)) << good;
  }
  for (const std::string_view bad : {"", "a b", " a", "a+b", "a\nb", "a\tb", "a\x7f", "\xff",
                                     "a\u00a0b", "a\u2003b", "a\u2028b", "a\u0085b", "\u3000"}) {
    EXPECT_FALSE(check_origin(bad)) << bad;
  }
}

}  // namespace
}  // namespace sallyport::ledger
