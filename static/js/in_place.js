// Buttons with data-in-place change parts of the page where they are, and nothing moves. The server
// answers as it does without this script, with a whole page: of it, the messages and the parts that
// differ are shown.
const busy = new Set();

const showMessages = (nodes) => {
  const messages = document.getElementById("done");
  const hadFocus = messages.contains(document.activeElement);
  messages.replaceChildren(...nodes);
  if (hadFocus) messages.querySelector("button, a")?.focus();
};

const focusIn = (part, id) => {
  const wanted = part.querySelector("[autofocus]");
  if (wanted) wanted.focus();
  else (document.getElementById(id) ?? part.querySelector("button, a")).focus({ preventScroll: true });
};

const showParts = (page, button) => {
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    const focused = part.contains(document.activeElement) && document.activeElement;
    if (fresh && fresh.outerHTML !== part.outerHTML) {
      part.replaceWith(document.adoptNode(fresh));
      if (focused || part.contains(button)) focusIn(fresh, focused.id);
    } else if (!fresh && part.contains(button)) {
      // A filter leaves the row out now. It stays where it is until the list is loaded again.
      button.setAttribute("aria-checked", String(button.getAttribute("aria-checked") !== "true"));
      button.disabled = true;
      button.nextElementSibling?.remove(); // a word for what it was
    }
  }
};

const send = async (form, button) => {
  let answer = null;
  try {
    const action = button.getAttribute("formaction") ?? form.action;
    answer = await fetch(action, { method: "POST", body: new URLSearchParams(new FormData(form, button)) });
  } catch {
    const note = Object.assign(document.createElement("p"), { className: "toast toast--bad" });
    note.textContent = document.getElementById("done").dataset.unreachable;
    showMessages([note]);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const messages = answer.ok && page.getElementById("done");
  if (messages) {
    showMessages([...messages.childNodes].map((node) => document.adoptNode(node)));
    showParts(page, button);
    form.dispatchEvent(new Event("input")); // what follows the fields of the form
  } else {
    button.removeAttribute("data-in-place");
    form.requestSubmit(button); // to sign in again, or to read what is wrong
  }
};

document.addEventListener("submit", async (event) => {
  const button = event.submitter;
  if (!button?.matches("[data-in-place]")) return;
  event.preventDefault();
  if (busy.has(button)) return;
  busy.add(button);
  button.setAttribute("aria-busy", "true");
  await send(event.target, button);
  button.removeAttribute("aria-busy");
  busy.delete(button);
});

document.addEventListener("change", (event) => {
  const { form } = event.target;
  if (event.target.closest("[data-refresh]")) form.requestSubmit(form.querySelector("[value=refresh]"));
});

document.addEventListener("click", (event) => {
  const close = event.target.closest("[data-close]");
  if (!close?.closest(".toast")) return;
  event.preventDefault();
  close.closest(".toast").remove();
});
