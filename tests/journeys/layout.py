"""How a page looks in the browser, and what is measured of it."""

from typing import Literal

from playwright.sync_api import Page

OUTSIDE = """() => {
  const isCut = (one) => one && (getComputedStyle(one).textOverflow === "ellipsis"
    || isCut(one.parentElement));
  const hidden = (one) => one.closest("svg, .quiet-text, .skip")
    || one.closest("thead")?.clientWidth === 1;
  const shown = [...document.querySelectorAll("body, body *")].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && !hidden(one));
  const found = shown.filter((one) => {
    if (one.matches("input, select, textarea, option, .table__pick")) return false;
    if (isCut(one)) return false;
    const frame = one.parentElement.closest("main, .side, .panel, .plan, .choices, .code");
    const edge = frame ? frame.getBoundingClientRect().right : innerWidth;
    if (one.getBoundingClientRect().right > edge + 1) return true;
    const isBox = getComputedStyle(one).display !== "inline" && one.clientWidth;
    return isBox && one.scrollWidth > one.clientWidth + 1;
  });
  return found.filter((one) => !found.some((other) => other !== one && one.contains(other)))
    .slice(0, 5).map((one) => `${one.parentElement.className} > `
      + one.outerHTML.replace(/\\s+/g, " ").slice(0, 90));
}"""
"""The innermost elements that are wider than their place, or stick out of it."""
HEAD_TAKES = """() => Math.max(...[...document.querySelectorAll("main .head, main .tabs")]
  .map((one) => one.getBoundingClientRect().bottom))
  - document.querySelector("main").getBoundingClientRect().top"""
"""How much of a page its heading takes, with its facts, actions and tabs."""
_AWAIT_THEME = """theme => {
  const query = matchMedia(`(prefers-color-scheme: ${theme})`);
  window.themed = query.matches ||
    new Promise((heard) => query.addEventListener("change", () => heard(true)));
}"""


def show_in(page: Page, theme: Literal["light", "dark"]) -> None:
    """Show a page in a theme, and wait until its own scripts have followed.

    Browsers change the colours first and tell scripts of it later. The listener here is the last.
    """
    page.evaluate(_AWAIT_THEME, theme)
    page.emulate_media(color_scheme=theme)
    page.evaluate("themed")
