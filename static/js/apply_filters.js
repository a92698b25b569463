// Lists follow their filters while someone types and chooses. Without this script, and while the
// server can't be reached, the button does the same.
const find = (page) => page.querySelector(".filters__send")?.form;
const form = find(document);
const PAUSE = 300; // milliseconds after the last key

if (form) {
  const status = form.querySelector("[data-found]");
  let timer = 0;
  let asked = 0;

  const address = () => {
    const given = [...new FormData(form)].filter(([, value]) => value !== "");
    const query = new URLSearchParams(given).toString();
    return location.pathname + (query && `?${query}`);
  };

  // What comes after the form, at each level of the page, is the list that it filters.
  const replaceList = (page) => {
    let here = form;
    let there = find(page);
    for (const select of form.querySelectorAll("select")) {
      const { value } = select; // stays, while what else can be chosen may differ
      select.replaceChildren(...there.elements[select.id].childNodes);
      select.value = value;
    }
    while (here.id !== "main") {
      while (here.nextSibling) here.nextSibling.remove();
      while (there.nextSibling) here.parentNode.append(document.adoptNode(there.nextSibling));
      here = here.parentNode;
      there = there.parentNode;
    }
    const found = document.querySelector("main .verdict b, main table caption b, main .empty h2");
    status.textContent = found?.textContent ?? "";
    document.dispatchEvent(new Event("replaced"));
  };

  const apply = async ({ isSent }) => {
    clearTimeout(timer);
    const mine = ++asked;
    const href = address();
    if (!isSent && href === location.pathname + location.search) return;
    let page = null;
    try {
      const answer = await fetch(href);
      if (answer.ok && !answer.redirected) {
        page = new DOMParser().parseFromString(await answer.text(), "text/html");
      }
    } catch {
      if (!isSent) return; // the list stays as it is
    }
    if (mine !== asked) return;
    if (!page) location.assign(href); // to sign in again, or to read what is wrong
    else if (isSent || !page.querySelector("main [role=alert]")) {
      history.replaceState(null, "", href);
      replaceList(page);
    }
  };

  form.querySelector(".filters__send").hidden = true;
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(apply, event.target.matches("select") ? 0 : PAUSE, { isSent: false });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply({ isSent: true });
  });
}
