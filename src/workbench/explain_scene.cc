#include "workbench/explain_scene.h"

namespace sallyport::app {

ExplainScene scene_of(const Context& context, ledger::LedgerStore* store) {
  ExplainScene scene{.store = store, .environment = context.environment};
  if (const Result<Workspace::Place> place = context.place()) {
    scene.data_dir = place->data_dir;
    scene.reviewers = place->reviewers_file();
  }
  return scene;
}

}  // namespace sallyport::app
