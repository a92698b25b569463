// The three radios of a tag as one checkbox: Space goes keep, add to all, remove from all, and back
// to the mix. The radios stay what is sent.
const NEXT = { keep: "add", add: "remove", remove: "keep" };
const rows = [...document.querySelectorAll("[data-tri]")];
const total = document.querySelector("[data-changes]");

const boxOf = (row) => {
  const radios = Object.fromEntries([...row.querySelectorAll("input")].map((r) => [r.value, r]));
  const box = document.createElement("span");
  box.className = "tri-box";
  box.tabIndex = 0;
  box.setAttribute("role", "checkbox");
  box.setAttribute("aria-label", row.dataset.tri);
  box.setAttribute("aria-describedby", row.dataset.on);
  const now = () => Object.values(radios).find((radio) => radio.checked).value;
  const show = () => {
    const state = { keep: row.dataset.now, add: "true", remove: "false" }[now()];
    box.setAttribute("aria-checked", state);
    box.dataset.way = now();
  };
  const turn = () => {
    let way = NEXT[now()];
    while (radios[way].disabled) way = NEXT[way];
    radios[way].checked = true;
    radios[way].dispatchEvent(new Event("change", { bubbles: true }));
  };
  box.addEventListener("click", turn);
  box.addEventListener("keydown", (event) => {
    const all = [...document.querySelectorAll("tr:not([hidden]) .tri-box")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === " ") turn();
    else if (step) all[all.indexOf(box) + step]?.focus();
    else return;
    event.preventDefault();
  });
  row.addEventListener("change", show);
  show();
  return box;
};

const count = () => {
  const chosen = [...document.querySelectorAll("[data-tri] input:checked")];
  const unseen = document.querySelectorAll("#picker > input:is([name=add], [name=remove])").length;
  const number = unseen + chosen.filter((radio) => radio.value !== "keep").length;
  const words = number === 1 ? "1 tag to change" : `${number} tags to change`;
  total.textContent = number ? words : "Nothing chosen yet";
};

for (const row of rows) {
  row.closest("tr").querySelector("[data-tri-place]").prepend(boxOf(row));
  for (const radio of row.querySelectorAll("input")) radio.tabIndex = -1;
  row.addEventListener("change", count);
}
if (total) count();
