// "/" moves to the filter of the page, unless someone is typing.
const filter = document.querySelector("[data-filter], form[role=search] input[type=search]");

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing || !filter) return;
  event.preventDefault();
  filter.focus();
  filter.select();
});
