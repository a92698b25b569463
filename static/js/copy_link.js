// A button that copies the address of the page, where the browser lets us: then it is shown.
for (const button of document.querySelectorAll("[data-copy-link]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    const words = button.querySelector("span");
    words.textContent = "Copied";
    setTimeout(() => { words.textContent = "Copy link"; }, 2000);
  });
}
