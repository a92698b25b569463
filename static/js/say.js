// The sentence and the people beside the form follow what is typed and chosen.
const says = document.querySelector("[data-says]");
const samples = document.querySelector("[data-samples]");
const form = document.getElementById(says.dataset.of);
const PAUSE = 300; // milliseconds after the last key
let timer = 0;
let asked = 0;

const ask = async () => {
  const mine = ++asked;
  try {
    const answer = await fetch(says.dataset.says, { method: "POST", body: new FormData(form) });
    if (!answer.ok || mine !== asked) return;
    const parts = await answer.json();
    says.innerHTML = parts.html;
    if (samples) samples.innerHTML = parts.samples;
  } catch {
    // Both stay as they are; saving tells what is wrong.
  }
};

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
});

// The slider and the buttons with shares only fill in the number.
const slider = form.querySelector("[data-slider]");

if (slider) {
  const number = document.getElementById(slider.dataset.slider);
  slider.hidden = false;
  slider.value = number.value; // a share may have been typed before this script ran
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value; });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fill]");
    if (!button) return;
    event.preventDefault();
    number.value = Number.parseInt(button.textContent, 10);
    number.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
