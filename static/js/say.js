// The sentence beside the form follows what people type and choose.
const says = document.querySelector("[data-says]");
const form = document.getElementById("strategy");
const PAUSE = 300; // milliseconds after the last key
let timer = 0;
let asked = 0;

const ask = async () => {
  const mine = ++asked;
  try {
    const answer = await fetch(says.dataset.says, { method: "POST", body: new FormData(form) });
    if (answer.ok && mine === asked) says.innerHTML = (await answer.json()).html;
  } catch {
    // The sentence stays as it is; saving tells what is wrong.
  }
};

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
});
