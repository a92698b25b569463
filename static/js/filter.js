// Rows that don't have the typed words are hidden while one types; Enter asks the server.
const filter = document.querySelector("[data-filter]");
const table = document.getElementById(filter?.dataset.filter);
const told = document.querySelector("[data-told]");

if (table) filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const group of table.tBodies) {
    let any = false;
    for (const row of group.querySelectorAll("tr[data-text]")) {
      row.hidden = !words.every((word) => row.dataset.text.includes(word));
      any ||= !row.hidden;
      shown += Number(!row.hidden);
    }
    group.hidden = !any;
  }
  told.textContent = words.length ? `${shown} shown` : "";
});
