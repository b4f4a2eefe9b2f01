"""Every screen of the console by keyboard alone."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from console_pages_support import PagesTest  # noqa: E402
from console_shell_test import screens  # noqa: E402


class KeyboardTest(PagesTest):
    # CO-68: Tab reaches every control of every screen, focus is visible, and nothing moves if the user requests reduced motion
    def test_every_control_is_reached_by_keyboard_with_visible_focus_and_no_motion(self):
        gate = self.gate()
        paths = screens(gate)
        self.enter(gate, reducedMotion="reduce")
        for path in paths:
            self.run_page("await page.goto(args.url); await page.waitForSelector('main')", url=gate.url + path)
            self.wait_for("() => document.querySelector('header.top') && !document.body.textContent.includes('Loading')")
            found = self.run_page("""
                const all = () => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
                  .filter(one => !one.disabled && one.type !== 'radio' && one.tabIndex >= 0 && one.checkVisibility());
                await page.evaluate(`window.__controls = (${all})(); document.body.focus()`);
                const hidden = [];
                for (let i = 0; i < 150; i++) {
                  await page.keyboard.press('Tab');
                  const [name, shown, end] = await page.evaluate(() => {
                    const one = document.activeElement, style = getComputedStyle(one);
                    const again = one.dataset.reached === 'yes'; one.dataset.reached = 'yes';
                    const line = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
                    return [one.outerHTML.slice(0, 120), line || style.boxShadow !== 'none', again || one === document.body];
                  });
                  if (end) break;
                  if (!shown) hidden.push(name);
                }
                const missed = await page.evaluate(() => window.__controls.filter(one => one.isConnected && one.dataset.reached !== 'yes').map(one => one.outerHTML.slice(0, 120)));
                const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter(one => { const style = getComputedStyle(one);
                  return style.animationName !== 'none' || style.transitionDuration.split(',').some(part => parseFloat(part) > 0.01) }).map(one => one.outerHTML.slice(0, 80)));
                return [hidden, missed, moving];""")
            self.assertEqual(found, [[], [], []], path)


if __name__ == "__main__":
    unittest.main()
