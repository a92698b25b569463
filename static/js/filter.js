// Rows without the typed words are hidden while typing; Enter asks the server. What is typed can be
// created, unless there is a row for it.
const filter = document.querySelector("[data-filter]");
const table = document.getElementById(filter?.dataset.filter);
const shownWords = document.querySelector("[data-shown]");
const create = document.querySelector("[data-create]");

const offer = (text) => {
  const types = [...document.querySelectorAll("#new-type option")].map((option) => option.value);
  const isWhole = types.includes(text.split(":")[0]) && text.includes(":");
  const tag = isWhole ? text : `${document.getElementById("type").value || "simple"}:${text}`;
  const value = tag.slice(tag.indexOf(":") + 1).trim();
  const exists = table?.querySelector(`tr[data-text="${CSS.escape(tag.toLowerCase())}"]`);
  create.hidden = !value || value.length > 50 || Boolean(exists);
  create.value = tag;
  create.querySelector("span").textContent = tag;
};

const narrow = () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const group of table?.tBodies ?? []) {
    let any = false;
    for (const row of group.querySelectorAll("tr[data-text]")) {
      row.hidden = !words.every((word) => row.dataset.text.includes(word));
      any ||= !row.hidden;
      shown += Number(!row.hidden);
    }
    group.hidden = !any;
  }
  shownWords.textContent = words.length ? `${shown} shown` : "";
  if (create) offer(filter.value.trim());
};

filter?.addEventListener("input", narrow);
if (filter && filter.value !== filter.defaultValue) narrow(); // typed before this script was there
