// The three radios of a tag as one checkbox: Space goes from keep to add, to remove, and back. The
// radios are hidden, and stay what is sent.
const NEXT = { keep: "add", add: "remove", remove: "keep" };
const rows = [...document.querySelectorAll("[data-tri]")];
const total = document.querySelector("[data-changes]");

const replace = (row) => {
  const radios = Object.fromEntries([...row.querySelectorAll("input")].map((r) => [r.value, r]));
  const box = document.createElement("span");
  box.className = "tri-box";
  box.tabIndex = 0;
  box.setAttribute("role", "checkbox");
  box.setAttribute("aria-label", row.dataset.tri);
  box.setAttribute("aria-describedby", row.dataset.on);
  const words = document.createElement("span");
  const now = () => Object.values(radios).find((radio) => radio.checked).value;
  const show = () => {
    const state = { keep: row.dataset.now, add: "true", remove: "false" }[now()];
    box.setAttribute("aria-checked", state);
    box.dataset.choice = now();
    words.textContent = radios[now()].parentElement.textContent;
    words.className = { keep: "faint", add: "plus", remove: "minus" }[now()];
  };
  const turn = () => {
    let choice = NEXT[now()];
    while (radios[choice].disabled) choice = NEXT[choice];
    radios[choice].checked = true;
    radios[choice].dispatchEvent(new Event("change", { bubbles: true }));
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
  row.hidden = true;
  row.after(words);
  row.closest("tr").querySelector("[data-tri-place]").prepend(box);
};

const count = () => {
  const chosen = [...document.querySelectorAll("[data-tri] input:checked")];
  const hidden = document.querySelectorAll("#picker > input:is([name=add], [name=remove])").length;
  const number = hidden + chosen.filter((radio) => radio.value !== "keep").length;
  total.textContent = number === 1 ? "1 tag to change" : `${number} tags to change`;
};

for (const row of rows) {
  replace(row);
  row.addEventListener("change", count);
}
if (total) count();
