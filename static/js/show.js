// A button that shows what is typed into a password field.
for (const button of document.querySelectorAll("[data-show]")) {
  const input = document.getElementById(button.dataset.show);
  button.hidden = false;
  button.addEventListener("click", () => {
    const shown = input.type === "text";
    input.type = shown ? "password" : "text";
    button.setAttribute("aria-pressed", String(!shown));
    button.querySelector("span").textContent = shown ? "Show" : "Hide";
    input.focus();
  });
  // It must not be sent as plain text, or the browser would offer to remember it as one.
  input.form.addEventListener("submit", () => { input.type = "password"; });
}
