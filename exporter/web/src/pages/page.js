// Keeps a page up to date. The pages work without it; a reload shows new values.
//
// Every few seconds the script fetches the page again and replaces the parts that are marked `data-live`. It waits
// while the page is not visible, while text in such a part is selected, and while the reader has paused it.
"use strict";
(() => {
  const seconds = Number(document.body.dataset.refresh);
  const place = document.getElementById("refresh");
  if (!seconds || !place || !window.fetch || !window.DOMParser) return;
  const KEY = "perfmon-paused";

  const status = document.createElement("span");
  status.className = "status";
  status.setAttribute("role", "status");
  status.setAttribute("aria-live", "polite");
  const button = document.createElement("button");
  button.type = "button";
  place.append(status, button);

  let paused = false;
  try { paused = sessionStorage.getItem(KEY) === "1"; } catch { /* the reader's browser keeps nothing */ }
  let timer = 0;
  let failures = 0;

  // Said to screen readers, so it changes only when there is something to say.
  const say = (text) => { if (status.textContent !== text) status.textContent = text; };

  const show = () => {
    button.textContent = paused ? "Resume" : "Pause";
    button.setAttribute("aria-label", paused ? "Resume updating" : "Pause updating");
    place.classList.toggle("paused", paused);
    place.classList.toggle("lost", failures > 0);
    say(paused ? "Paused" : failures > 0 ? "No answer, retrying" : "Live");
  };

  const isSelecting = (part) => {
    const selection = window.getSelection();
    return selection && !selection.isCollapsed && part.contains(selection.anchorNode);
  };

  // What has the focus keeps it: the same link, or the same summary, in the new part.
  const focused = (part) => {
    const element = document.activeElement;
    if (!element || !part.contains(element)) return null;
    const all = [...part.querySelectorAll(element.tagName)];
    const like = (other) => other.getAttribute("href") === element.getAttribute("href");
    const nth = all.filter(like).indexOf(element);
    return (fresh) => [...fresh.querySelectorAll(element.tagName)].filter(like)[nth]?.focus({ preventScroll: true });
  };

  const take = (part, fresh) => {
    if (part.innerHTML === fresh.innerHTML || isSelecting(part)) return;
    const open = [...part.querySelectorAll("details")].map((details) => details.open);
    const refocus = focused(part);
    fresh.querySelectorAll("details").forEach((details, index) => { details.open = open[index] ?? false; });
    part.replaceChildren(...fresh.childNodes);
    refocus?.(part);
  };

  const update = async () => {
    try {
      const response = await fetch(location.href, { cache: "no-store", credentials: "same-origin" });
      if (!response.ok && response.status !== 404) throw new Error(response.statusText);
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const news = fresh.getElementById(part.id);
        if (news) take(part, news);
      }
      failures = 0;
    } catch {
      failures += 1;
    }
    show();
    plan();
  };

  const plan = () => {
    clearTimeout(timer);
    if (paused || document.hidden) return;
    timer = setTimeout(update, 1000 * seconds * Math.min(1 + failures, 6));
  };

  button.addEventListener("click", () => {
    paused = !paused;
    try { sessionStorage.setItem(KEY, paused ? "1" : "0"); } catch { /* then it is paused on this page alone */ }
    show();
    if (paused) plan(); else update();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) update(); else plan(); });
  show();
  plan();
})();
