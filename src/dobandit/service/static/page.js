// Comfort only: every page works without it. It shows changes as they happen, and a form is sent once.
"use strict";

const body = document.body;

// The parts of a page that show the study are fetched again when the study has changed; forms are left alone.
async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (fresh && !part.contains(document.activeElement)) part.replaceWith(document.adoptNode(fresh));
  }
  body.dataset.number = page.body.dataset.number;
}

// On a page of forms, a reload could lose what was typed, so the page only says that there is something new.
function offer() {
  if (document.querySelector(".offer")) return;
  const note = document.createElement("p");
  note.className = "notice offer";
  note.setAttribute("role", "status");
  const link = document.createElement("a");
  link.href = location.pathname;
  link.textContent = "The study has changed: reload this page.";
  note.append(link);
  document.querySelector("h1").after(note);
}

function isUntouched() {
  return [...document.forms].every((form) =>
    [...form.elements].every((e) => (e.type === "radio" ? e.checked === e.defaultChecked : e.value === e.defaultValue || e.tagName === "SELECT" || e.type === "submit")));
}

if (body.dataset.live) {
  let waiting = false;
  const source = new EventSource(body.dataset.live);
  source.addEventListener("change", async (event) => {
    if (event.data === body.dataset.number || waiting) return;
    if ("gently" in body.dataset) {
      if (isUntouched()) location.replace(location.pathname); else offer();
      return;
    }
    waiting = true;
    try { await refresh(); } finally { waiting = false; }
  });
}

for (const form of document.forms) {
  form.addEventListener("submit", () => setTimeout(() => form.querySelectorAll("button").forEach((b) => { b.disabled = true; }), 0));
}

const retry = document.querySelector("[data-retry]");
if (retry) setTimeout(() => location.reload(), 1000 * Number(retry.dataset.retry));
