// Opens the search over any page, with Ctrl K or the search link, and closes it.
const palette = document.getElementById("palette");

if (palette) {
  const input = palette.querySelector("input");
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

  const open = () => {
    if (!palette.open) {
      palette.showModal();
      input.value = "";
      palette.dispatchEvent(new Event("opened"));
    }
    input.focus();
    input.select();
  };

  for (const link of document.querySelectorAll("[data-palette]")) {
    const key = link.querySelector("kbd");
    if (key && isMac) key.textContent = "⌘K";
    link.setAttribute("aria-keyshortcuts", isMac ? "Meta+K" : "Control+K");
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      open();
    });
  }

  document.addEventListener("keydown", (event) => {
    const isShortcut = (isMac ? event.metaKey : event.ctrlKey) && event.key.toLowerCase() === "k";
    if (!isShortcut || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open();
  });
  palette.querySelector("[data-close]").addEventListener("click", () => palette.close());
  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close(); // outside of it
  });
}
