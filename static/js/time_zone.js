// Sends the browser's time zone once, for people who have none yet. One that the server refuses is
// not sent again in this tab.
const form = document.getElementById("time-zone-form");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

if (zone && !sessionStorage.getItem("time-zone")) {
  sessionStorage.setItem("time-zone", zone);
  form.elements.time_zone.value = zone;
  const body = new URLSearchParams(new FormData(form));
  fetch(form.action, { method: "POST", body, redirect: "manual", keepalive: true });
}
