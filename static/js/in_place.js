// Buttons with data-in-place change parts of the page where they are, and nothing moves. The server
// answers as it does without this script, with a whole page: of it, the messages and the parts that
// differ are shown.
let turn = Promise.resolve(); // one request after the other, so that none undoes what another added

const showMessages = (nodes) => {
  const messages = document.getElementById("done");
  const hadFocus = messages.contains(document.activeElement);
  messages.replaceChildren(...nodes);
  if (hadFocus) messages.querySelector("button, a")?.focus();
};

const fieldsIn = (root) => [...root.querySelectorAll("input[id], select[id], textarea[id]")];

// What someone typed since the request was sent stays, unless the fields are others now.
const keepTyped = (part, fresh, sent) => {
  for (const field of fieldsIn(part)) {
    const same = fresh.querySelector(`#${CSS.escape(field.id)}`);
    if (same && sent.has(field.id) && sent.get(field.id) !== field.value) same.value = field.value;
  }
};

const showParts = (page, button, sent) => {
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    const focused = part.contains(document.activeElement) && document.activeElement;
    if (fresh && fresh.outerHTML !== part.outerHTML) {
      if (!button.value.startsWith("remove")) keepTyped(part, fresh, sent);
      const wanted = fresh.querySelector("[autofocus]");
      wanted?.removeAttribute("autofocus"); // which is for a page that is loaded
      part.replaceWith(document.adoptNode(fresh));
      if (wanted) wanted.focus();
      else if (focused || part.contains(button)) {
        (document.getElementById(focused.id) ?? fresh.querySelector("button, a")).focus({ preventScroll: true });
      }
    } else if (!fresh && part.contains(button)) {
      // A filter leaves the row out now. It stays where it is until the list is loaded again.
      button.setAttribute("aria-checked", String(button.getAttribute("aria-checked") !== "true"));
      button.disabled = true;
      button.nextElementSibling?.remove(); // a word for what it was
    }
  }
};

const send = async (form, button) => {
  const body = new URLSearchParams(new FormData(form));
  const sent = new Map(fieldsIn(form).map((field) => [field.id, field.value]));
  if (button.name) body.append(button.name, button.value);
  let answer = null;
  try {
    answer = await fetch(button.getAttribute("formaction") ?? form.action, { method: "POST", body });
  } catch {
    const note = Object.assign(document.createElement("p"), { className: "note note--bad toast" });
    note.textContent = document.getElementById("done").dataset.unreachable;
    showMessages([note]);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const messages = answer.ok && page.getElementById("done");
  if (messages) {
    showMessages([...messages.childNodes].map((node) => document.adoptNode(node)));
    showParts(page, button, sent);
    form.dispatchEvent(new Event("input")); // what follows the fields of the form
  } else {
    button.removeAttribute("data-in-place");
    form.requestSubmit(button); // to sign in again, or to read what is wrong
  }
};

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.matches("[data-in-place]")) return;
  event.preventDefault();
  if (button.hasAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  turn = turn.then(() => send(event.target, button)).finally(() => button.removeAttribute("aria-busy"));
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
