"""The page: one small file in which nothing from outside is markup; in a browser: search, keys, copying, contrast."""

import html as html_of_python
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support.browser import MISSING, Browser, browser
from tests.unit.report.records import HOSTILE, SCRIPT, entry, gate, hostile_entry, night, of, past
from tridiff.fuzz.campaign.record import IssueCounts
from tridiff.fuzz.report.html import html, trimmed
from tridiff.fuzz.report.junit import junit
from tridiff.fuzz.report.model import Finding, Script

each = pytest.mark.parametrize
NEW = "illegal-address-7f92aee734"
MEGABYTE = 1_000_000


class Parsed(HTMLParser):
    """Names of all elements, and every address that an attribute holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "action", "data", "poster", "srcset"):
                self.addresses.append(value or "")
            if name.startswith("on") or name == "style":
                self.handlers.append(name)
            if name == "id":
                self.ids.append(value or "")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A night and a gate, with hostile text in both, as files."""
    root = tmp_path_factory.mktemp("reports")
    folder = night(root, new=(entry(NEW), hostile_entry()), stopped_failing=("value-00ebe13492",), not_checked_reasons={
        HOSTILE: 3}, left_out={HOSTILE: (HOSTILE,)},
        # An issue without an entry says no backend: no choice of one hides it.
        known_findings=("issue without-an-entry",), issues={"triton.negate own": {
            "without-an-entry": IssueCounts(failed=9, explained=8)}})
    past(root, last=folder)
    made = {}
    for name, place in (("night", folder), ("gate", gate(root))):
        made[name] = root / f"{name}.html"
        made[name].write_text(html(of(place)), encoding="utf-8")
    return made


@each("name", ["night", "gate"])
def test_a_page_is_one_small_file_in_which_foreign_text_is_text(pages: dict[str, Path], name: str):
    text = pages[name].read_text(encoding="utf-8")
    found = Parsed(text)
    assert len(text.encode()) < MEGABYTE
    assert all(one.startswith("#") and one[1:] in found.ids for one in found.addresses), "only places on the page"
    assert found.elements.count("script") == found.elements.count("style") == 1
    assert not {"img", "iframe", "link", "object", "base"} & set(found.elements) and not found.handlers
    assert len(set(found.ids)) == len(found.ids)
    assert "\u202e" not in text and "\x07" not in text and "\\u202e" in text
    assert html_of_python.escape(HOSTILE[:40]) in text.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def test_a_page_stays_small_whatever_there_is(tmp_path: Path):
    line = "<&>" * 400
    many = tuple(Finding(id=f"value-{k}", key=str(k), group="New", level="note" if k % 1000 else "error", title=line,
                         reason=line, about=(("explanation", line * 9),), case=(line,) * 50, evidence=(line,) * 300,
                         script=Script(text=(line + "\n") * 40)) for k in range(3000))
    large = replace(of(night(tmp_path)), findings=many, not_checked=((line, line),) * 3000, errors=(line,) * 3000)
    text = html(large)
    assert len(text.encode()) < MEGABYTE
    assert "findings without their cases and scripts" in text and "findings not at all" in text
    shown, _ = trimmed(large)
    assert [one.level for one in shown.findings[:4]] == ["error", "error", "error", "note"]
    assert shown.findings[0].script.text and not shown.findings[-1].script.text, "what decides stands in full"


def test_a_small_page_and_a_small_file_name_what_blocks(tmp_path: Path):
    report = of(gate(tmp_path))
    (blocking, *_) = report.findings
    many = tuple(replace(blocking, id=f"{blocking.id}-{number}", title=f"{number} {'of a long title ' * 9}",
                         target=f"t.{number}", case=("x" * 200,) * 40) for number in range(60))
    large = replace(report, findings=many)
    page, file = html(large, largest=60_000), junit(large, largest=60_000)
    assert len(page.encode()) <= 60_000 < len(html(large).encode())
    assert len(file.encode()) <= 60_000 < len(junit(large).encode())
    assert all(f"{number} {'of a long title ' * 7}" in page for number in range(20))
    assert all(one.id in file for one in many), "every failure is there, with less of its text"
    smallest, some = junit(report, largest=1), junit(report)
    assert len(smallest) < len(some)
    assert "<system-out>" in some and smallest.count("<properties>") == 1 < some.count("<properties>")
    assert [smallest.count(f"<{one} ") for one in ("testcase", "failure", "skipped")] == [
        some.count(f"<{one} ") for one in ("testcase", "failure", "skipped")]


def test_a_page_of_nothing_is_a_page(tmp_path: Path):
    from tridiff.fuzz.campaign.record import Counts

    report = of(night(tmp_path, counts=Counts(), by_target=(), known_findings=(), stopped_failing=(), issues={},
                      not_checked_reasons={}, left_out={}, environments=(), programs=None))
    assert "could not check" in html(report) and "Everything that was drawn was checked." in html(report)


def test_scripts_come_out_as_they_went_in(tmp_path: Path):
    text = html(of(night(tmp_path, new=(entry(NEW),))))
    found = re.search(r'<pre id="f-\w+-script"[^>]*>(.*?)</pre>', text, re.DOTALL)
    assert found and html_of_python.unescape(found[1]) == SCRIPT.text


# -- in a browser

needs_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as one:
        yield one


def shown(window: Browser) -> list[str]:
    return window.run("return [...document.querySelectorAll('.group:not([hidden]) .finding:not([hidden]) summary "
                      "code')].map(one => one.textContent)")


@needs_browser
def test_search_filters_and_says_how_many(pages: dict[str, Path], window: Browser):
    window.open(pages["night"].as_uri())
    assert window.run("return document.title").startswith("new findings: "), "hostile text did not run"
    assert window.run("return document.querySelector('#count').textContent") == "4 of 4 findings, 5 of 5 targets"
    window.press("/", *"LINEAR buffer")
    assert shown(window) == [NEW]
    assert window.run("return document.querySelector('#count').textContent") == "1 of 4 findings, 0 of 5 targets"
    window.press("Escape")
    assert len(shown(window)) == 4
    window.run("document.querySelector('[name=group]').click()")
    assert len(shown(window)) == 2, "without the new ones"
    window.run("document.querySelector('[name=group]').click()")
    window.run("const one = document.querySelector('#backend'); one.value = 'compile:sm_90';"
               "one.dispatchEvent(new Event('input', {bubbles: true}))")
    assert window.run("return document.querySelector('#count').textContent") == "1 of 4 findings, 2 of 5 targets"
    assert window.log() == []


@needs_browser
def test_keys_move_open_and_close(pages: dict[str, Path], window: Browser):
    window.open(pages["night"].as_uri())
    place = "return [...document.querySelectorAll('.finding')].indexOf(document.activeElement.closest('.finding'))"
    opened = "return document.activeElement.closest('details').open"
    window.press("j")
    assert window.run(place) == 0
    window.press("j", "j", "j", "j", "k")
    assert window.run(place) == 2 and window.run(opened) is False
    window.press("Enter")
    assert window.run(opened) is True
    window.press("Escape")
    assert window.run(opened) is False and window.run(place) == 2, "the focus stays"
    window.run("document.querySelector('#keys').click(); document.activeElement.blur()")
    window.press("j")
    assert window.run(place) == -1, "keys can be switched off"


@needs_browser
def test_light_and_dark_follow_the_system_until_somebody_chooses(pages: dict[str, Path], window: Browser):
    back = "return getComputedStyle(document.body).backgroundColor"
    window.open(pages["night"].as_uri())
    window.run("localStorage.clear()")
    window.open(pages["night"].as_uri())
    window.emulate(prefers_color_scheme="light")
    light = window.run(back)
    window.emulate(prefers_color_scheme="dark")
    dark = window.run(back)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(13, 17, 23)")
    window.run("document.querySelector('#theme').click()")
    assert window.run(back) == light
    window.open(pages["night"].as_uri())
    assert window.run(back) == light, "it is remembered"
    window.press("t")
    assert window.run(back) == dark
    window.run("localStorage.clear()")


@needs_browser
def test_the_script_is_copied_and_that_is_said(pages: dict[str, Path], window: Browser):
    window.open(pages["night"].as_uri())
    window.run("navigator.clipboard.writeText = async (text) => { window.taken = text; };"
               "document.querySelector('.copy').click()")
    assert window.run("return [window.taken, document.querySelector('#said').textContent]") == [SCRIPT.text, "Copied."]


CHECKS = r"""
const problems = [];
const say = (what, one) => problems.push(what + ": " + one.outerHTML.slice(0, 120));
const number = (text) => (text.match(/[\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const behind = (one) => {
  for (let at = one; at; at = at.parentElement) {
    const found = number(getComputedStyle(at).backgroundColor);
    if (found.length === 3 || found[3] > 0) return found;
  }
  return [255, 255, 255];
};
for (const one of document.querySelectorAll("details")) one.open = true;
for (const one of document.querySelectorAll("body *")) {
  const own = [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  if (!own || one.closest(".hidden, script, style, .skip") || !one.getClientRects().length) continue;
  const style = getComputedStyle(one);
  const text = light(number(one instanceof SVGElement ? style.fill : style.color)), back = light(behind(one));
  const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
  if (contrast < 4.5) say("contrast " + contrast.toFixed(2), one);
}
for (const name of ["main", "header", "nav", "footer", "h1"])
  if (document.querySelectorAll(name).length !== 1) problems.push("not one " + name);
for (const one of document.querySelectorAll("nav, section, form, fieldset"))
  if (!one.ariaLabel && !one.ariaLabelledByElements?.length && !one.querySelector("legend")) say("no name", one);
for (const one of document.querySelectorAll("input, select"))
  if (!one.labels.length) say("no label", one);
for (const one of document.querySelectorAll("button"))
  if (!one.textContent.trim()) say("no text", one);
for (const one of document.querySelectorAll("table")) {
  if (!one.caption) say("no caption", one);
  for (const head of one.querySelectorAll("th")) if (!head.scope) say("no scope", head);
  for (const row of one.querySelectorAll("tr"))
    if (row.cells.length > 1 && !row.querySelector("th")) say("no header", row);
}
for (const one of document.querySelectorAll("svg"))
  if (one.getAttribute("role") !== "img" || !one.ariaLabel) say("no alternative", one);
let level = 0;
for (const one of document.querySelectorAll("h1, h2, h3, h4, h5")) {
  const next = Number(one.tagName[1]);
  if (next > level + 1) say("heading skips from " + level, one);
  level = next;
}
for (const one of document.querySelectorAll("pre, .scroll"))
  if ((one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) && one.tabIndex < 0)
    say("no way in", one);
const page = document.documentElement;
if (document.querySelector("#count").ariaLive !== "polite" || page.lang !== "en") problems.push("live or lang");
if (page.scrollWidth > innerWidth) problems.push("wider than the window: " + page.scrollWidth);
return problems;
"""


@needs_browser
@each("name", ["night", "gate"])
@each("scheme", ["light", "dark"])
def test_accessibility(pages: dict[str, Path], window: Browser, name: str, scheme: str):
    window.open(pages[name].as_uri())
    window.emulate(prefers_color_scheme=scheme)
    assert window.run(CHECKS) == []


@needs_browser
def test_the_checks_of_accessibility_see_what_is_wrong(pages: dict[str, Path], window: Browser):
    window.open(pages["gate"].as_uri())
    window.emulate(prefers_color_scheme="light")
    window.run("document.querySelector('.headline').style.color = '#999'; document.querySelector('caption').remove();"
               "document.querySelector('label[for=search]').remove();"
               "document.querySelector('h2').outerHTML = '<h5>x</h5>'")
    found = window.run(CHECKS)
    assert {one.partition(":")[0].rstrip("0123456789. ") for one in found} >= {
        "contrast", "no caption", "no label", "heading skips from"}


@needs_browser
def test_the_focus_is_seen(pages: dict[str, Path], window: Browser):
    window.open(pages["night"].as_uri())
    for _ in range(12):
        window.press("Tab")
        drawn = window.run("const one = document.activeElement, style = getComputedStyle(one);"
                           "return one === document.body || `${style.outlineWidth} ${style.outlineStyle}`")
        assert drawn in (True, "3px solid")


@needs_browser
def test_everything_shows_on_paper(pages: dict[str, Path], window: Browser):
    window.open(pages["night"].as_uri())
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = window.run(folded)
    assert before > 0
    window.run("dispatchEvent(new Event('beforeprint'))")
    assert window.run(folded) == 0
    window.run("dispatchEvent(new Event('afterprint'))")
    assert window.run(folded) == before
