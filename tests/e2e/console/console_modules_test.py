"""Pure modules of the console under Node: two-step answers, the splitting of streams, differences, strict JSON, trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import npm_peers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENTRY = """
export { FrameCutter } from "./core/sse";
export { lineDiff } from "./core/line_diff";
export { TwoActs } from "./approvals/two_acts";
export { parse, read, canonical } from "./core/verify/json";
export { consistent } from "./core/verify/merkle";
export { sha256 } from "./core/verify/sha256";
export { visible } from "./core/visible";
"""


class ConsoleModulesTest(unittest.TestCase):
    # CO-33, CO-35, CO-51 (partly), CO-53 (partly); each case names its lines in console_modules.mjs
    def test_the_pure_modules_keep_their_promises(self):
        with tempfile.TemporaryDirectory() as folder:
            bundle = pathlib.Path(folder) / "modules.mjs"
            subprocess.run(["esbuild", "--bundle", "--format=esm", "--target=es2022", "--log-level=warning", f"--outfile={bundle}"], input=ENTRY, text=True,
                           cwd=ROOT / "console/src", check=True, timeout=60)
            done = subprocess.run([npm_peers.node(20), ROOT / "tests/e2e/console/console_modules.mjs", bundle], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
