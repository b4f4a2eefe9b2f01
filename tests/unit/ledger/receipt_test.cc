#include "ledger/proof/receipt.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/proof/key_history.h"
#include "log_of_leaves.h"
#include "support/test_ledger.h"
#include "vectors.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using vectors::kReceipt;
using vectors::trust;
using vectors::with;

std::string step_of(std::string_view receipt) {
  const Verification answer = verify_receipt(receipt, trust());
  EXPECT_EQ(answer.ok, answer.step == "meaning" && answer.detail == "every step passed");
  return answer.ok ? "passed" : answer.step;
}

// A receipt of the vector's entry at `index` of a log of `size` leaves, signed by the vector's key.
Receipt receipt_in(std::uint64_t index, std::uint64_t size, std::string entry = {}) {
  Receipt receipt = *Receipt::parse(kReceipt);
  if (!entry.empty()) receipt.entry = std::move(entry);
  receipt.entry = with(receipt.entry, R"("sequence":0)", R"("sequence":)" + std::to_string(index));
  receipt.leaf_index = index;
  receipt.tree_size = size;
  LogOfLeaves others(size);
  std::vector<Hash> leaves;
  for (std::uint64_t i = 0; i < size; ++i) leaves.push_back(others.leaf(i));
  leaves[index] = leaf_hash(receipt.entry);
  const auto subtree = [&](std::uint64_t begin, std::uint64_t end) -> Result<Hash> {
    return root_of(
        {leaves.begin() + static_cast<long>(begin), leaves.begin() + static_cast<long>(end)});
  };
  receipt.proof = *inclusion_proof(index, size, subtree);
  const SigningKey key = vectors::signing_key();
  receipt.checkpoint =
      Checkpoint{std::string(vectors::kOrigin), size, root_of(leaves)}.sign({&key});
  return receipt;
}

// LE-29, LE-33, LE-34
TEST(ReceiptTest, TheReceiptOfTheSpecificationVerifies) {
  const Verification answer = verify_receipt(kReceipt, trust());
  EXPECT_EQ(canonical_json(answer.to_json()),
            R"({"detail":"every step passed","kind":"tool_audit","ok":true,)"
            R"("origin":"sallyport.example/test","recorded_at":"2026-11-15T02:00:00.000000Z",)"
            R"("sequence":0,"step":"meaning"})");
  EXPECT_EQ(hex(leaf_hash(Receipt::parse(kReceipt)->entry)),
            "fe6945808c000fe9309ae66af2f87a8b40248e0a9f82e273dd29ea34a54ae46e");
}

// LE-29
TEST(ReceiptTest, WhatIsWrittenIsReadBack) {
  const Receipt receipt = receipt_in(5, 11);
  EXPECT_EQ(receipt.proof.size(), 4U);
  const Result<Receipt> read = Receipt::parse(receipt.json());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->json(), receipt.json());
  EXPECT_EQ(step_of(receipt.json()), "passed");
  const Result<json::value> written = parse_own_json(receipt.json());
  ASSERT_TRUE(written);
  std::vector<std::string> names;
  for (const auto& member : written->as_object()) names.emplace_back(member.key());
  EXPECT_EQ(names, (std::vector<std::string>{"schema", "entry", "leaf_index", "tree_size", "proof",
                                             "checkpoint", "openings"}));
}

// LE-30
TEST(ReceiptTest, ATlogProofHasTheFormOfItsSpecification) {
  const Receipt receipt = receipt_in(2, 4);
  EXPECT_EQ(receipt.tlog_proof(), "c2sp.org/tlog-proof@v1\nextra " +
                                      base64(as_bytes(receipt.entry)) + "\nindex 2\n" +
                                      base64(receipt.proof.at(0)) + "\n" +
                                      base64(receipt.proof.at(1)) + "\n\n" + receipt.checkpoint);
}

// LE-33
TEST(ReceiptTest, EveryPlaceInATreeVerifies) {
  for (std::uint64_t size = 1; size <= 20; ++size) {
    for (std::uint64_t index = 0; index < size; ++index) {
      EXPECT_EQ(step_of(receipt_in(index, size).json()), "passed") << index << " of " << size;
    }
  }
}

// LE-35
TEST(ReceiptTest, AnyChangedByteOfTheEntryIsFound) {
  const Receipt good = receipt_in(5, 11);
  for (std::size_t i = 0; i < good.entry.size(); ++i) {
    for (const unsigned char bit : {1, 2, 16, 128}) {
      Receipt bad = good;
      bad.entry[i] = static_cast<char>(bad.entry[i] ^ bit);
      const Result<Receipt> form = Receipt::parse(bad.json());
      const std::string expected = !form                                       ? "form"
                                   : !form->entry.contains(R"("sequence":5,)") ? "position"
                                                                               : "inclusion";
      EXPECT_EQ(step_of(bad.json()), expected) << bad.entry;
    }
  }
}

// LE-35
TEST(ReceiptTest, AnyChangedByteOfSaltOrValueIsFound) {
  const Receipt good = receipt_in(5, 11);
  for (std::size_t i = 0; i < good.openings.at(0).salt.size(); ++i) {
    Receipt bad = good;
    bad.openings[0].salt[i] ^= 0x10;
    EXPECT_EQ(step_of(bad.json()), "opening") << i;
  }
  for (std::size_t i = 0; i < good.openings.at(0).value.size(); ++i) {
    for (const unsigned char bit : {1, 2, 16, 128}) {
      Receipt bad = good;
      std::string& value = bad.openings[0].value;
      value[i] = static_cast<char>(value[i] ^ bit);
      EXPECT_EQ(step_of(bad.json()), Receipt::parse(bad.json()) ? "opening" : "form") << value;
    }
  }
}

// LE-35
TEST(ReceiptTest, AnyChangedByteOfTheProofIsFound) {
  const Receipt good = receipt_in(5, 11);
  for (std::size_t hash = 0; hash < good.proof.size(); ++hash) {
    for (std::size_t i = 0; i < 32; ++i) {
      Receipt bad = good;
      bad.proof[hash][i] ^= 1;
      EXPECT_EQ(step_of(bad.json()), "inclusion");
    }
  }
  for (const Proof& proof : spoiled(good.proof, 3)) {
    Receipt bad = good;
    bad.proof = proof;
    EXPECT_EQ(step_of(bad.json()), "inclusion");
  }
}

// LE-35, LE-36
TEST(ReceiptTest, AnyChangedByteOfTheCheckpointIsFound) {
  const Receipt good = receipt_in(5, 11);
  const std::size_t blank = good.checkpoint.find("\n\n");
  const std::size_t encoded = good.checkpoint.rfind(' ') + 1;
  for (std::size_t i = 0; i < good.checkpoint.size(); ++i) {
    for (const unsigned char bit : {1, 2, 16, 128}) {
      Receipt bad = good;
      bad.checkpoint[i] = static_cast<char>(bad.checkpoint[i] ^ bit);
      const Result<Note> note = Note::parse(bad.checkpoint);
      const bool formed = note && Checkpoint::parse(note->text) && Receipt::parse(bad.json());
      // The first five characters hold the key id, the sixth two bits of it.
      const bool names_the_key =
          i > blank + 1 && i < encoded + 6 && note && note->signatures[0].key_id != trust().key.id;
      const bool other_name = note && note->signatures[0].name != vectors::kOrigin;
      const std::string expected = !formed                       ? "form"
                                   : names_the_key || other_name ? "key"
                                                                 : "signature";
      EXPECT_EQ(step_of(bad.json()), expected) << i << ' ' << bad.checkpoint;
    }
  }
}

// LE-33, LE-35
TEST(ReceiptTest, SizeAndPlaceMustBeThoseOfTheCheckpointAndTheEntry) {
  const Receipt good = receipt_in(5, 11);
  for (const std::uint64_t size : {0U, 1U, 5U, 10U, 12U, 1U << 30}) {
    Receipt bad = good;
    bad.tree_size = size;
    EXPECT_EQ(step_of(bad.json()), "size") << size;
  }
  for (const std::uint64_t index : {0U, 4U, 6U, 10U, 11U, 1U << 30}) {
    Receipt bad = good;
    bad.leaf_index = index;
    EXPECT_EQ(step_of(bad.json()), "position") << index;
    bad.entry = with(bad.entry, R"("sequence":5)", R"("sequence":)" + std::to_string(index));
    EXPECT_EQ(step_of(bad.json()), index < 11 ? "inclusion" : "position") << index;
  }
}

// LE-33
TEST(ReceiptTest, TheFirstFailingStepIsNamed) {
  Receipt bad = receipt_in(5, 11,
                           with(Receipt::parse(kReceipt)->entry, R"("body":{"call_id":"call_1")",
                                R"("body":{"call_id":"call_2")"));
  EXPECT_EQ(step_of(bad.json()), "meaning");
  bad.openings[0].value = "1";
  EXPECT_EQ(step_of(bad.json()), "opening");
  bad.proof.pop_back();
  EXPECT_EQ(step_of(bad.json()), "inclusion");
  bad.leaf_index = 6;
  EXPECT_EQ(step_of(bad.json()), "position");
  bad.tree_size = 12;
  EXPECT_EQ(step_of(bad.json()), "size");
  const std::string text = bad.json();
  Trust elsewhere = trust();
  elsewhere.origin = "elsewhere.example";
  EXPECT_EQ(verify_receipt(text, elsewhere).step, "origin");
  bad.checkpoint = with(bad.checkpoint, "\n11\n", "\n12\n");
  EXPECT_EQ(verify_receipt(bad.json(), elsewhere).step, "signature");
  EXPECT_EQ(verify_receipt(text, {vectors::signing_key("other").verifier()}).step, "key");
  EXPECT_EQ(verify_receipt(text + "x", {vectors::signing_key("other").verifier()}).step, "form");
}

// LE-33
TEST(ReceiptTest, TheOriginIsTheKeysNameUnlessAnotherIsWanted) {
  const SigningKey key = vectors::signing_key();
  Receipt receipt = receipt_in(0, 1);
  const Checkpoint state{"elsewhere.example", 1, leaf_hash(receipt.entry)};
  receipt.checkpoint = state.sign({&key});
  EXPECT_EQ(step_of(receipt.json()), "origin");
  Trust named = trust();
  named.origin = "elsewhere.example";
  const Verification answer = verify_receipt(receipt.json(), named);
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.origin, "elsewhere.example");
}

// LE-32
TEST(ReceiptTest, KeysThatAReceiptBringsAreNotTrusted) {
  const SigningKey forger = vectors::signing_key(std::string(vectors::kOrigin), 9);
  Receipt receipt = receipt_in(0, 1);
  const Checkpoint state{std::string(vectors::kOrigin), 1, leaf_hash(receipt.entry)};
  receipt.checkpoint = state.sign({&forger});
  EXPECT_EQ(step_of(receipt.json()), "key");
  EXPECT_EQ(step_of(with(receipt.json(), "{", "{\"key\":\"" + forger.verifier().text() + "\",")),
            "form");
}

// LE-37
TEST(ReceiptTest, OpeningsMayBeLeftOut) {
  Receipt receipt = receipt_in(5, 11);
  receipt.openings.clear();
  EXPECT_EQ(step_of(receipt.json()), "passed");
}

// LE-29, LE-35
TEST(ReceiptTest, AnOpeningMustPointAtASealedField) {
  for (const std::string_view path :
       {"", "/", "/body", "/body/call_id", "/body/../body/effective_input",
        "/body/effective_input/$sealed", "/body/effective_input/", "body/effective_input",
        "/entry/body/effective_input"}) {
    Receipt bad = receipt_in(5, 11);
    bad.openings[0].path = path;
    EXPECT_EQ(step_of(bad.json()), "opening") << path;
  }
}

// LE-33, LE-78
TEST(ReceiptTest, MalformedReceiptsFailAtForm) {
  const std::string good(kReceipt);
  ASSERT_EQ(step_of(good), "passed");
  const std::string hash = R"("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")";
  std::string hashes = hash;
  for (int i = 0; i < 64; ++i) hashes += "," + hash;
  for (const std::string& bad :
       {std::string(),
        std::string("null"),
        std::string("[]"),
        good + " x",
        "\xef\xbb\xbf" + good,
        with(good, "receipt.v1", "receipt.v2"),
        with(good, "entry.v1", "entry.v2"),
        with(good, R"("leaf_index":0,)", ""),
        with(good, R"("proof":[],)", ""),
        with(good, R"("leaf_index":0)", R"("leaf_index":0.0)"),
        with(good, R"("leaf_index":0)", R"("leaf_index":-0)"),
        with(good, R"("leaf_index":0)", R"("leaf_index":-1)"),
        with(good, R"("leaf_index":0)", R"("leaf_index":"0")"),
        with(good, R"("leaf_index":0)", R"("leaf_index":9007199254740992)"),
        with(good, R"("tree_size":1)", R"("tree_size":1e0)"),
        with(good, R"("tree_size":1)", R"("tree_size":null)"),
        with(good, R"("tree_size":1)", R"("tree_size":1,"tree_size":1)"),
        with(good, R"("tree_size":1)", R"("tree_size":1,"tree_siz\u0065":1)"),
        with(good, R"("tree_size":1)", R"("tree_size":1,"extra":1)"),
        with(good, R"("proof":[])", R"("proof":{})"),
        with(good, R"("proof":[])", R"("proof":[1])"),
        with(good, R"("proof":[])", R"("proof":["AA=="])"),
        with(good, R"("proof":[])", R"("proof":[)" + with(hash, "A=", "B=") + "]"),
        with(good, R"("proof":[])", R"("proof":[)" + with(hash, "A=", "A") + "]"),
        with(good, R"("proof":[])", R"("proof":[)" + hashes + "]"),
        with(good, R"("checkpoint":")", R"("checkpoint":["x"],"check":")"),
        with(good, R"("openings":[)", R"("openings":[null,)"),
        with(good, R"("form":"json")", R"("form":"raw")"),
        with(good, R"("form":"json")", R"("form":"json","state":"withheld")"),
        with(good, "qqo=\"", "qqp=\""),
        with(good, R"(,"value":{"path":"/tmp/x"})", ""),
        with(good, "/tmp/x", "/tmp/\xff"),
        with(good, "/tmp/x", "/tmp/\\ud800"),
        with(good, R"("value":{)", R"("value":{"n":1.0,)"),
        with(good, "example/test\\n1", "example/test\\n01"),
        with(good, "AwQ=\\n", "AwQ="),
        with(good, "AwQ=\\n", "AwR=\\n"),
        with(good, "example/test\\n1", "example/test\\u0000\\n1"),
        with(good, R"({"$sealed":"sha256:8b)", R"({"$sealed":"sha256:8B)"),
        with(good, R"("kind":"tool_audit")", R"("kind":"gossip")"),
        with(good, R"("call_id":"call_1","tool)", R"("call_id":null,"tool)")}) {
    const Verification answer = verify_receipt(bad, trust());
    EXPECT_EQ(answer.step, "form") << bad;
    EXPECT_FALSE(answer.ok);
    EXPECT_FALSE(answer.detail.empty());
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    ASSERT_EQ(step_of(good.substr(0, length)), "form") << length;
  }
}

// LE-78
TEST(ReceiptTest, AReceiptOverTheLimitsFailsAtForm) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "[";
  EXPECT_EQ(step_of(with(kReceipt, R"({"path":"/tmp/x"})", deep)), "form");
  const std::string large(16 * 1024 * 1024, 'x');
  EXPECT_EQ(step_of(with(kReceipt, "/tmp/x", large)), "form");
  const std::string entry = with(kReceipt, R"("call_id":"call_1","eff)",
                                 R"("n":")" + std::string(66'000, 'x') + R"(","eff)");
  EXPECT_NE(verify_receipt(entry, trust()).detail.find("65,535"), std::string::npos);
}

VerifierKey first_key(TestLedger& ledger) {
  VerifierKey key;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    key = key_history(view).value().at(0).key;
    return {};
  }));
  return key;
}

std::string receipt_of(TestLedger& ledger, std::uint64_t sequence, bool with_openings = true) {
  std::string text;
  const Result<void> read = ledger.store().read([&](ReadView& view) -> Result<void> {
    Result<Receipt> receipt = make_receipt(view, sequence, with_openings);
    if (!receipt) return std::unexpected(receipt.error());
    text = receipt->json();
    return {};
  });
  EXPECT_TRUE(read) << read.error().message;
  return text;
}

// LE-31, LE-37
TEST(ReceiptTest, EveryAcknowledgedEntryHasAReceiptAtOnce) {
  TestLedger ledger;
  ledger.open();
  const Trust pinned{.key = first_key(ledger)};
  for (int i = 0; i < 5; ++i) {
    const core::Position position = ledger.append(TestLedger::event(
        {{"n", i}, {"text", "hello"}, {"input", {{"id", 9007199254740993}}}}, "call-1"));
    for (const bool with_openings : {true, false}) {
      const std::string text = receipt_of(ledger, position.sequence, with_openings);
      const Verification answer = verify_receipt(text, pinned);
      EXPECT_TRUE(answer.ok) << answer.step << ": " << answer.detail;
      EXPECT_EQ(answer.sequence, position.sequence);
      EXPECT_EQ(Receipt::parse(text)->openings.size(), with_openings ? 2U : 0U);
    }
  }
  ledger.append_many(700);
  for (std::uint64_t sequence = 0; sequence < 700; sequence += 13) {
    const Verification answer = verify_receipt(receipt_of(ledger, sequence), pinned);
    EXPECT_TRUE(answer.ok) << sequence << answer.step << answer.detail;
  }
}

// LE-82
TEST(ReceiptTest, AnEntryThatIsNotThereHasNoReceipt) {
  TestLedger ledger;
  ledger.open();
  const Result<void> read = ledger.store().read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(make_receipt(view, 5000, true).error().code, ErrorCode::NotFound);
    return {};
  });
  EXPECT_TRUE(read);
}

}  // namespace
}  // namespace sallyport::ledger
