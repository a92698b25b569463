// Rows that can be selected: one box for the whole page, Shift for a range, and their number.
const prepare = () => {
  const form = document.querySelector("[data-rows]");
  const boxes = form ? [...form.querySelectorAll("tbody input[type=checkbox]")] : [];

  if (!boxes.length) return;
  const all = form.querySelector("[data-all]");
  const allBox = all.querySelector("input");
  const words = form.querySelector("[data-count]");
  const everything = form.querySelector("input[name=all]");
  const elsewhere = Number(form.dataset.elsewhere ?? 0);
  const before = words.innerHTML;
  let last = null;

  const show = () => {
    const selected = boxes.filter((box) => box.checked).length;
    if (everything) everything.disabled = selected < boxes.length;
    allBox.checked = selected === boxes.length;
    allBox.indeterminate = selected > 0 && selected < boxes.length;
    if (everything && !everything.disabled) words.innerHTML = before;
    else if (elsewhere) words.textContent = `${selected} selected on this page, ${elsewhere} on others`;
    else words.textContent = selected ? `${selected} selected on this page` : "Nothing selected yet";
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
};

document.addEventListener("replaced", prepare); // see apply_filters.js
prepare();
