// The panel that says which instances have a change follows what happens.
const SOON = 2000; // milliseconds, for two minutes
const LATER = 30_000;
const MANY = 60; // times
const MOST = 120; // times, so for half an hour
const QUIET = 5000; // milliseconds between two verdicts that are read out
const PARTS = [".panel__head", ".verdict", ".receipt__verdict", ".receipt__bar", ".receipt__list", ".receipt__states",
  ".receipt__foot"];
let asked = 0;
let turn = 0; // a switch begins another one
let timer = 0;
let read = { verdict: "", at: 0 };

const shownPanel = () => document.querySelector("[data-receipts]");

const verdictOf = (panel) =>
  panel ? panel.querySelector(".verdict, .receipt__verdict").textContent.replace(/\s+/g, " ").trim() : "";

const replace = (old, fresh) => {
  if (old && fresh && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(fresh));
};

const show = (page) => {
  const old = shownPanel();
  const fresh = page.querySelector("[data-receipts]");
  if (!old || !fresh) return;
  for (const part of PARTS) replace(old.querySelector(part), fresh.querySelector(part));
  replace(document.querySelector("#by-application"), page.querySelector("#by-application"));
  const verdict = verdictOf(old);
  if (verdict !== read.verdict && Date.now() > read.at + QUIET) {
    old.querySelector("[aria-live]").textContent = verdict;
    read = { verdict, at: Date.now() };
  }
};

const ask = async () => {
  const mine = turn;
  const panel = shownPanel();
  if (panel && !document.hidden) {
    asked += 1;
    try {
      const answer = await fetch(panel.dataset.receipts);
      const text = answer.ok ? await answer.text() : "";
      if (mine === turn && text) show(new DOMParser().parseFromString(text, "text/html"));
    } catch {
      // Asked again soon; the link below it does the same.
    }
  }
  if (mine === turn && asked < MOST) timer = setTimeout(ask, asked < MANY ? SOON : LATER);
};

const begin = () => {
  clearTimeout(timer);
  asked = 0;
  turn += 1;
  timer = setTimeout(ask, SOON);
};

read.verdict = verdictOf(shownPanel());
document.addEventListener("submit", begin);
begin();
