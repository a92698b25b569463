// A field that is only for one choice of a select: hidden, and not sent, with every other one.
for (const part of document.querySelectorAll("[data-show-for]")) {
  const [name, value] = part.dataset.showFor.split("=");
  const select = document.getElementById(name);
  const show = () => {
    part.hidden = select.value !== value;
    for (const input of part.querySelectorAll("input")) input.disabled = part.hidden;
  };
  select.addEventListener("change", show);
  show();
}
