"use strict";
(() => {
  const find = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const root = document.documentElement;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = (value) => {
    if (value) root.dataset.theme = value;
    find("#theme").setAttribute("aria-pressed", String(dark()));
  };
  theme();
  find("#theme").addEventListener("click", () => theme(dark() ? "light" : "dark"));

  // Stages: one at a time.
  const tabs = all("[role=tab]");
  const show = (name) => {
    for (const tab of tabs) tab.setAttribute("aria-selected", String(tab.dataset.stage === name));
    for (const pane of all("[role=tabpanel]")) pane.hidden = pane.dataset.stage !== name;
  };
  for (const tab of tabs) tab.addEventListener("click", () => show(tab.dataset.stage));
  if (tabs.length) show((tabs.find((tab) => tab.dataset.stage === "ptx") || tabs[tabs.length - 1]).dataset.stage);

  // A line of the source and what it became, both ways.
  const light = (keys, from) => {
    for (const one of all(".lit")) one.classList.remove("lit");
    const hit = all(".code li").filter((one) => keys.includes(one.dataset.key) ||
      (one.dataset.of || "").split(" ").some((key) => keys.includes(key)));
    for (const one of hit) one.classList.add("lit");
    const other = hit.find((one) => one.offsetParent !== null && one.parentElement !== from.parentElement);
    if (other) other.parentElement.scrollTop = other.offsetTop - other.parentElement.offsetTop - 60;
    find("#said").textContent = `${hit.filter((one) => one.dataset.of).length} lines of stages`;
  };
  const choose = (event) => {
    const line = event.target.closest(".code li");
    if (!line || (event.type === "keydown" && event.key !== "Enter")) return;
    const keys = line.dataset.key ? [line.dataset.key] : (line.dataset.of || "").split(" ").filter(Boolean);
    if (keys.length) light(keys, line);
  };
  for (const code of all(".code")) {
    code.addEventListener("click", choose);
    code.addEventListener("keydown", choose);
  }
})();
