// A button that copies the text beside it, where the browser lets us: then it is shown.
const prepare = (button) => {
  const source = button.closest("[data-copy-from], figure").querySelector("code");
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent);
    const words = button.lastChild;
    words.textContent = "Copied";
    setTimeout(() => { words.textContent = "Copy"; }, 2000);
  });
};

const all = () => document.querySelectorAll("[data-copy][hidden]").forEach(prepare);
document.addEventListener("replaced", all); // see apply_filters.js
all();
