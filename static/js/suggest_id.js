// The id follows the name until someone types one. The server derives it in the same way.
const name = document.querySelector("[data-suggests]");
const id = document.getElementById(name.dataset.suggests);
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 100);
let own = id.value !== "" && id.value !== slug(name.value);

const suggest = () => { if (!own) id.value = slug(name.value); };

name.addEventListener("input", suggest);
if (name.value !== name.defaultValue) suggest(); // typed before this script was there
id.addEventListener("input", () => {
  own = id.value !== "";
  const fits = id.value === "" || /^(?!\.\.?$)[A-Za-z0-9_~.-]{1,100}$/.test(id.value);
  id.setCustomValidity(fits ? "" : "Use letters, digits and _ ~ . -");
  id.setAttribute("aria-invalid", String(!fits));
});
