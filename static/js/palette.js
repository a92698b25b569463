// Search over any page. The server answers with what the page of the search shows, so nothing can
// be done here that can't be done without this script.
const palette = document.getElementById("palette");
const PAUSE = 150; // milliseconds after the last key

if (palette) {
  const input = palette.querySelector("input");
  const list = palette.querySelector("[role=listbox]");
  const status = palette.querySelector("[role=status]");
  let timer = 0;
  let shown = null; // the text whose results are in the list

  const options = () => [...list.querySelectorAll("[role=option]")];
  const current = () => list.querySelector("[aria-selected=true]");

  const select = (option) => {
    current()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  };

  const ask = async () => {
    const text = input.value;
    try {
      const answer = await fetch(`${palette.dataset.hits}?${new URLSearchParams({ q: text })}`);
      if (!answer.ok || answer.redirected || text !== input.value) return;
      const found = await answer.json();
      list.innerHTML = found.html;
      status.textContent = found.words;
      shown = text;
    } catch {
      return; // what is shown stays; Enter opens the page of the search
    }
    list.hidden = !options().length;
    status.classList.toggle("quiet-text", !list.hidden); // seen only where nothing else is
    input.setAttribute("aria-expanded", String(!list.hidden));
    select(text.trim() ? options()[0] : null);
  };

  const follow = (option, isNewTab) => {
    if (option.dataset.fill) {
      input.value = option.dataset.fill;
      ask();
    } else if (isNewTab) window.open(option.href, "_blank", "noopener");
    else location.assign(option.href);
  };

  palette.addEventListener("opened", ask); // see palette_open.js
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    const all = options();
    const at = all.indexOf(current());
    const option = shown === input.value ? current() : null;
    if (event.key === "ArrowDown") select(all[(at + 1) % all.length]);
    else if (event.key === "ArrowUp") select(all.at(at < 1 ? -1 : at - 1));
    else if (event.key === "Enter" && option) follow(option, event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[data-fill]");
    if (!option) return;
    event.preventDefault();
    follow(option, false);
    input.focus();
  });
}
