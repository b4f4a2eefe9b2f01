"""Signed-in pages of the console before a fake gate."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from browser_support import BrowserTest  # noqa: E402
import fake_gate  # noqa: E402

WIDE = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "hasTouch": True, "isMobile": True}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


class PagesTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = fake_gate.built()
        cls.addClassCleanup(cls.files.cleanup)

    def gate(self, **options):
        gate = fake_gate.Gate(self.files.name, **options)
        self.addCleanup(gate.end)
        return gate

    def enter(self, gate, path="", context=WIDE, **options):
        """A person who is signed in, by their token, on a page."""
        self.context(**{**context, **options})
        self.run_page("""
            await page.goto(args.url); await page.fill('#token', args.token); await page.click('button[type=submit]');
            await page.waitForSelector('header.top');""", url=gate.url + path, token=gate.token)

    def open(self, name, wait=1100):
        """Opens a request from the list and waits until it is visible."""
        self.run_page("""
            await page.click(`[data-row="${args.name}"]`); await page.waitForSelector(`article[data-id="${args.name}"]`);
            await page.waitForTimeout(args.wait);""", name=name, wait=wait)

    def hold_clock(self):
        """Stops the page's clock until `let_clock_go`: all test actions until then happen at one moment, on a machine of any speed."""
        self.run_page("await page.evaluate(() => { const now = performance.now(); performance.now = () => now })")

    def let_clock_go(self):
        self.run_page("await page.evaluate(() => { delete performance.now })")

    def text(self, selector):
        return self.run_page("return await page.innerText(args.selector)", selector=selector)

    def wait_for(self, condition, **args):
        """Waits until the JavaScript condition in the page is true."""
        self.run_page("""
            for (const end = Date.now() + 60000; !(await page.evaluate(`(${args.condition})(${JSON.stringify(args.given)})`).catch(() => false)); ) {
              if (Date.now() > end) throw new Error(`never true: ${args.condition} on the page:\n${await page.innerText('body')}`);
              await page.waitForTimeout(20);
            }""", condition=condition, given=args)

    def assert_clean(self, own):
        """Checks that the page did not break the policy, throw, or send a request to another origin."""
        seen, violations = self.run_page("return [seen, await page.evaluate(() => window.__violations)]")
        self.assertEqual((seen["errors"], seen["violations"], violations), ([], [], []))
        self.assertEqual([url for url in seen["requests"] if not url.startswith(own)], [])

    def axe(self):
        found = self.run_page("return (await new AxeBuilder({page}).withTags(args.tags).analyze()).violations", tags=TAGS)
        return [(one["id"], [node["html"][:200] for node in one["nodes"]], one["nodes"][0]["failureSummary"]) for one in found]
