#include "app/cli/command_grammar.h"

namespace sallyport::app {

void CommandLine::add_ledger() {
  CLI::App& ledger = *app_.add_subcommand("ledger", "read, prove, export and maintain the record");
  ledger.require_subcommand(1);
  add_reading(ledger);
  add_proving(ledger);
  add_maintaining(ledger);
}

void CommandLine::add_reading(CLI::App& ledger) {
  CLI::App& tail = command(ledger, "tail", "the newest entries", tail_, ledger_tail);
  text(tail, "-n,--lines,--limit", tail_.count, "how many [20]", "N");
  tail.add_flag("-f,--follow", tail_.follow, "wait for more");
  add_filters(tail, tail_.filter);
  CLI::App& calls =
      command(ledger, "calls", "the newest calls, a line for each", calls_, ledger_calls);
  text(calls, "-n,--lines,--limit", calls_.count, "how many [20]", "N");
  add_filters(calls, calls_.filter);
  CLI::App& show =
      command(ledger, "show", "entries that match, or one of them whole", show_, ledger_show);
  text(show, "target", show_.target, "an entry's id or sequence, or a call", "ID|CALL|SEQUENCE");
  text(show, "-n,--limit", show_.limit, "at most so many", "N");
  add_filters(show, show_.filter);
  simple(ledger, "stats", "how many entries of what", ledger_stats);
  CLI::App& out =
      command(ledger, "export", "the record in a form that others read", export_, ledger_export);
  choice(text(out, "--format", export_.format, "which form [jsonl]"),
         {"jsonl", "tlog-tiles", "cef"});
  file(out, "--out", export_.out, "where to [standard output]", "PATH");
  out.add_flag("--with-openings", export_.with_openings, "with the content of sealed fields (cef)");
  add_filters(out, export_.filter);
  simple(ledger, "schema", "what an entry can hold", ledger_schema);
}

void CommandLine::add_proving(CLI::App& ledger) {
  CLI::App& check = command(ledger, "verify", "recompute everything and name the first fault",
                            ledger_verify_, ledger_verify);
  file(check, "file", ledger_verify_.file, "a JSON Lines export instead of the ledger");
  file(check, "--since", ledger_verify_.since, "a checkpoint kept elsewhere [the witness]");
  text(check, "--key", ledger_verify_.key, "verifier key, or a file that holds it", "VKEY");
  file(check, "--policy", ledger_verify_.policy,
       "witnesses whose quorum must have cosigned the log (C2SP tlog-policy)");
  lists(check, ledger_verify_.reviewers);
  check.add_flag("--gaps", ledger_verify_.gaps, "with --json: also list gaps");
  CLI::App& receipt = command(ledger, "receipt", "proof of one entry, or of a whole call", receipt_,
                              ledger_receipt);
  text(receipt, "target", receipt_.target, "an entry's id or sequence, or a call",
       "ID|CALL|SEQUENCE")
      ->required();
  receipt.add_flag("--all", receipt_.all, "a list for the whole call");
  choice(text(receipt, "--format", receipt_.format, "which form [json]"), {"json", "tlog-proof"});
  receipt.add_flag("--no-openings", receipt_.no_openings, "without the content of sealed fields");
  file(receipt, "--out", receipt_.out, "where to [standard output]");
  CLI::App& proof =
      command(ledger, "proof", "consistency proof between two sizes", proof_, ledger_proof);
  text(proof, "A", proof_.old_size, "the older size", "SIZE")->required();
  text(proof, "B", proof_.new_size, "the newer size", "SIZE")->required();
  proof.add_flag("--checkpoints", proof_.checkpoints,
                 "also write both checkpoints: FILE.A, FILE.B");
  file(proof, "--out", proof_.out, "where to [standard output]");
  CLI::App& checkpoint =
      command(ledger, "checkpoint", "the newest signed checkpoint, or that of a size", checkpoint_,
              ledger_checkpoint);
  CLI::Option* const size =
      text(checkpoint, "size", checkpoint_.size, "which one [the newest]", "SIZE");
  checkpoint.add_flag("--cosigned", checkpoint_.cosigned, "the newest that witnesses cosigned")
      ->excludes(size);
  CLI::App& witness =
      command(ledger, "witness", "offer checkpoints to witnesses, which cosign them", witness_,
              ledger_witness);
  witness.add_flag("--once", witness_.once, "offer the newest one, and end");
}

void CommandLine::add_maintaining(CLI::App& ledger) {
  CLI::App& erase =
      command(ledger, "erase", "remove content; the proof stays", erase_, ledger_erase);
  add_selection(erase, erase_.selection);
  text(erase, "--path", erase_.selection.path, "only this field, as /body/result", "POINTER");
  text(erase, "--reason", erase_.reason, "why; becomes part of the record")->required();
  add_person(erase, erase_.login);
  erase.add_flag("--dry-run", erase_.dry_run, "only say what would be removed");
  CLI::App& prune = command(ledger, "prune", "drop the bytes of old entries; their hashes stay",
                            prune_, ledger_prune);
  text(prune, "--before", prune_.before, "entries below this sequence", "SEQUENCE")->required();
  text(prune, "--reason", prune_.reason, "why; becomes part of the record")->required();
  add_person(prune, prune_.login);
  prune.add_flag("--dry-run", prune_.dry_run, "only say what would be dropped");
  CLI::App& hold = *ledger.add_subcommand("hold", "forbid erasing and pruning");
  hold.require_subcommand(1);
  CLI::App& add = command(hold, "add", "set a hold", hold_add_, ledger_hold_add);
  text(add, "--id", hold_add_.id, "its name [a fresh one]", "NAME");
  add_selection(add, hold_add_.selection);
  text(add, "--reason", hold_add_.reason, "why; becomes part of the record")->required();
  add_person(add, hold_add_.login);
  CLI::App& lift = command(hold, "lift", "lift a hold", hold_lift_, ledger_hold_lift);
  text(lift, "id", hold_lift_.id, "its name", "NAME")->required();
  text(lift, "--reason", hold_lift_.reason, "why; becomes part of the record")->required();
  add_person(lift, hold_lift_.login);
  simple(hold, "list", "holds in force", ledger_hold_list);
  CLI::App& acknowledge =
      command(ledger, "acknowledge", "let a ledger go on that its witness contradicts",
              acknowledge_, ledger_acknowledge);
  text(acknowledge, "--reason", acknowledge_.reason, "why; becomes part of the record")->required();
  add_person(acknowledge, acknowledge_.login);
  CLI::App& move =
      command(ledger, "move", "into a database that several gateways share", move_, ledger_move);
  text(move, "--to", move_.to, "its address, postgresql://user@host/database", "URL")->required();
  text(move, "--log", move_.log, "which log of the database [main]", "NAME");
  move.add_option("--allow-plain-host", move_.plain_hosts,
                  "a host that may be reached without verified TLS; may be repeated")
      ->type_name("HOST");
  add_person(move, move_.login);
  CLI::App& tables =
      command(ledger, "tables", "print the SQL that a database for shared logs needs", tables_,
              ledger_tables);
  text(tables, "--gateway", tables_.gateway, "the role that appends", "ROLE")->required();
  text(tables, "--keeper", tables_.keeper, "the role that erases and prunes [none]", "ROLE");
}

void CommandLine::add_verify() {
  CLI::App& sub =
      command(app_, "verify", "check a receipt offline, with nothing but a key", verify_, verify);
  CLI::Option* const receipt =
      files(sub, "receipt", verify_.files,
            "a receipt, or - for standard input; OLD NEW PROOF with --consistency");
  text(sub, "--key", verify_.key, "pinned verifier key, or a file that holds it", "VKEY");
  text(sub, "--origin", verify_.origin, "the log's name [that of the key]", "NAME");
  files(sub, "--rotation", verify_.rotations,
        "receipt of a key rotation, oldest first; may be repeated")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  file(sub, "--policy", verify_.policy,
       "witnesses whose quorum must have cosigned (C2SP tlog-policy)");
  sub.add_flag("--consistency", verify_.consistency, "check that one checkpoint continues another");
  sub.add_flag("--page", verify_.page, "print a page that checks receipts in a browser, offline")
      ->excludes(receipt);
}

void CommandLine::add_keys() {
  CLI::App& keys = *app_.add_subcommand("keys", "verifier keys, past and present");
  keys.require_subcommand(1);
  simple(keys, "show", "print verifier keys and the sizes they signed", keys_show);
  CLI::App& rotate =
      command(keys, "rotate", "sign with a new key from now on", rotate_, keys_rotate);
  rotate.add_flag("--compromised", rotate_.compromised,
                  "the old key is in other hands: do not vouch for the new one");
  add_person(rotate, rotate_.login);
}

}  // namespace sallyport::app
