// Rows that can be chosen: one box for all of the page, shift for a stretch, and their number.
const form = document.querySelector("[data-rows]");
const boxes = form ? [...form.querySelectorAll("tbody input[type=checkbox]")] : [];

if (boxes.length) {
  const all = form.querySelector("[data-all]");
  const allBox = all.querySelector("input");
  const words = form.querySelector("[data-count]");
  const everything = form.querySelector("input[name=all]");
  const before = words.innerHTML;
  let last = null;

  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    if (everything && chosen < boxes.length) everything.disabled = true;
    if (everything && chosen === boxes.length) everything.disabled = false;
    allBox.checked = chosen === boxes.length;
    allBox.indeterminate = chosen > 0 && chosen < boxes.length;
    if (everything && !everything.disabled) words.innerHTML = before;
    else words.textContent = chosen ? `${chosen} selected on this page` : "Nothing selected yet";
  };

  all.hidden = false;
  allBox.addEventListener("change", () => {
    for (const box of boxes) box.checked = allBox.checked;
    show();
  });
  form.addEventListener("click", (event) => {
    const index = boxes.indexOf(event.target);
    if (index < 0) return;
    if (event.shiftKey && last !== null) {
      const [from, to] = [Math.min(last, index), Math.max(last, index)];
      for (const box of boxes.slice(from, to + 1)) box.checked = event.target.checked;
    }
    last = index;
    show();
  });
  form.addEventListener("keydown", (event) => {
    const index = boxes.indexOf(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (index < 0 || !step || !boxes[index + step]) return;
    event.preventDefault();
    boxes[index + step].focus();
  });
  show();
}
