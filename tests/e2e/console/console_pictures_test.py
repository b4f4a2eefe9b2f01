"""Checks that the pictures of docs/console.md can be taken. SALLYPORT_PICTURES=FOLDER writes them there."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from console_pages_support import PagesTest, PHONE, WIDE  # noqa: E402
from fake_gate import now, question  # noqa: E402


def shown(number):
    item, page = question(number, command="rm -v scratch.txt\u202e", quorum={
        "required": 2, "approved": [{"reviewer": "user:bo", "at": now(-60), "door": "console"}], "missing": 1, "may_answer": ["user:ada"]})
    before, behind = page["shown"]["text"].split("\u202e")
    segments = [{"text": before}, {"text": "\\u{202E}", "mark": "hidden"}, {"text": behind}]
    page["shown"] = {"text": "".join(one["text"] for one in segments), "truncated": False, "segments": segments}
    return item, page


class PicturesTest(PagesTest):
    def test_the_pictures_of_the_document_can_be_taken(self):
        folder = os.environ.get("SALLYPORT_PICTURES") or tempfile.mkdtemp()
        gate = self.gate()
        gate.put(shown(1))
        gate.put(question(2, tool="write_file", command="/srv/app/config.yaml", level="medium", seconds=3063))
        gate.put(question(3, tool="fetch", command="https://example.com/", level="low", seconds=1390))
        for name, size in (("question", {**WIDE, "viewport": {"width": 1120, "height": 620}}), ("phone", PHONE)):
            self.enter(gate, context=size)
            self.open("apr_1")
            self.run_page("await page.click('button.yes'); await page.waitForSelector('.confirm .primary'); await page.screenshot({path: args.path})",
                          path=f"{folder}/console-{name}.png")
            self.assertGreater((pathlib.Path(folder) / f"console-{name}.png").stat().st_size, 10_000)
        self.enter(gate, "approvals?view=batch", context={**WIDE, "viewport": {"width": 1120, "height": 760}})
        self.wait_for("() => document.querySelectorAll('[data-card] pre').length === 3")
        self.run_page("""
            await page.waitForTimeout(1200); await page.click('[data-card=apr_1] input[value=false]'); await page.click('[data-card=apr_2] input[value=true]');
            await page.click('[data-send-batch]'); await page.waitForSelector('.batch .confirm .primary'); await page.screenshot({path: args.path})""",
                      path=f"{folder}/console-several.png")


if __name__ == "__main__":
    unittest.main()
