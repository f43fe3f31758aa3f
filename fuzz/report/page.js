"use strict";
(() => {
  const find = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const root = document.documentElement;
  const say = (text) => { find("#said").textContent = text; };

  // Light or dark: what the system says until somebody chooses.
  const remembered = (value) => {
    try {
      if (value) localStorage.setItem("tridiff-theme", value);
      return localStorage.getItem("tridiff-theme");
    } catch { return null; }
  };
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = (value) => {
    if (value) root.dataset.theme = value;
    find("#theme").setAttribute("aria-pressed", String(dark()));
  };
  const toggle = () => { theme(dark() ? "light" : "dark"); remembered(root.dataset.theme); };
  theme(remembered());
  find("#theme").addEventListener("click", toggle);

  // Search and filter.
  const search = find("#search");
  const count = (number, of, what) => `${number} of ${of} ${what}`;
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const backend = find("#backend") ? find("#backend").value : "";
    const groups = new Set(all("[name=group]").filter((one) => one.checked).map((one) => one.value));
    const fits = (one) => {
      const text = one.textContent.toLowerCase();
      return words.every((word) => text.includes(word)) && (!backend || !one.dataset.backend || one.dataset.backend === backend);
    };
    let shown = 0;
    for (const group of all(".group")) {
      group.hidden = !groups.has(group.dataset.group);
      for (const one of all(".finding", group)) {
        one.hidden = !fits(one);
        shown += !one.hidden && !group.hidden;
      }
    }
    const rows = all("#rows tbody tr");
    for (const row of rows) row.hidden = !fits(row);
    for (const row of all(".heat tbody tr")) row.hidden = !words.every((word) => find("th", row).textContent.toLowerCase().includes(word)) && words.length > 0;
    find("#count").textContent = count(shown, all(".finding").length, "findings") + ", " +
      count(rows.filter((row) => !row.hidden).length, rows.length, "targets");
  };
  find("#filter").addEventListener("input", filter);
  find("#filter").addEventListener("submit", (event) => event.preventDefault());

  // Keys. A page that is searched with / must be able to take them back: they can be switched off in the footer.
  const move = (step) => {
    const found = all(".group:not([hidden]) .finding:not([hidden]) > details > summary");
    if (!found.length) return;
    const here = found.findIndex((one) => one.parentElement.contains(document.activeElement));
    const next = found[here < 0 ? (step > 0 ? 0 : found.length - 1) : Math.min(Math.max(here + step, 0), found.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const active = document.activeElement;
    if (event.key === "Escape") {
      if (active === search) { search.value = ""; filter(); search.blur(); return; }
      const open = active && active.closest("details[open]");
      if (open) { open.open = false; find("summary", open).focus(); }
      return;
    }
    if (!find("#keys").checked || (active && active.matches("input[type=search], select, textarea"))) return;
    const does = { "/": () => search.focus(), j: () => move(1), k: () => move(-1), t: toggle }[event.key];
    if (does) { event.preventDefault(); does(); }
  });

  // Copy a script.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest && event.target.closest(".copy");
    if (!button) return;
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent);
      say("Copied.");
    } catch {
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      say(document.execCommand && document.execCommand("copy") ? "Copied." : "Selected: press Ctrl-C.");
    }
  });

  // All that is folded shows on paper.
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("details:not([open])"); for (const one of folded) one.open = true; });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });

  // A running campaign: take over what changed, keep what is open, selected and focused.
  const refresh = async () => {
    let next;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      next = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      say("The server does not answer: this is what it said last.");
      return;
    }
    const open = new Set(all("details[open]").map((one) => one.id).filter(Boolean));
    const focused = document.activeElement && document.activeElement.closest("details") && document.activeElement.closest("details").id;
    find("header").className = find("header", next).className;
    document.title = next.title;
    for (const part of [".head", "#verdict", ...all("main > section:not(#verdict):not(#findings)", next).map((one) => "#" + one.id)]) {
      const here = find(part), there = find(part, next);
      if (there && !here) find("main").append(document.importNode(there, true));
      else if (there && here.innerHTML !== there.innerHTML) here.replaceChildren(...document.importNode(there, true).childNodes);
    }
    all(".group").forEach((group, place) => {
      const other = all(".group", next)[place];
      if (group.textContent === other.textContent) return;
      const known = new Set(all("details", group).map((one) => one.id));
      for (const one of all("details", other)) if (known.has(one.id)) one.open = open.has(one.id);
      group.replaceChildren(...document.importNode(other, true).childNodes);
    });
    const labels = all("[name=group]", next);
    all("[name=group]").forEach((one, place) => { one.nextSibling.data = labels[place].nextSibling.data; });
    if (focused && document.getElementById(focused)) find("summary", document.getElementById(focused)).focus();
    filter();
    if (!("live" in find("body", next).dataset)) { clearInterval(timer); say("The campaign has ended."); }
  };
  let timer = 0;
  if ("live" in document.body.dataset) timer = setInterval(refresh, 1000 * Number(document.body.dataset.live));
  filter();
})();
