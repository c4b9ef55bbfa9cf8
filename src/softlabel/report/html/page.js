"use strict";
(() => {
  const byId = (name) => document.getElementById(name);
  const live = JSON.parse(byId("live").textContent);

  // What a slider shows was written beforehand: the page looks it up and computes nothing.
  const show = (name, place) => {
    byId(name + "-value").textContent = place.shown;
    byId(name + "-slider").setAttribute("aria-valuetext", place.shown);
    byId(name + "-said").textContent = place.said;
    const rows = byId(name + "-table").tBodies[0].rows;
    place.cells.forEach((cells, row) =>
      cells.forEach((cell, column) => { rows[row].cells[column + 1].textContent = cell; }));
    for (const pointer of document.querySelectorAll(`.pointer[data-slider="${name}"]`)) {
      const { low, high, left, width } = pointer.dataset;
      const x = Number(left) + (place.value - low) / (high - low) * width;
      pointer.setAttribute("transform", `translate(${x} 0)`);
    }
  };
  for (const name of Object.keys(live)) {
    const slider = byId(name + "-slider");
    if (!slider) continue;
    const update = () => show(name, live[name][Number(slider.value)]);
    slider.addEventListener("input", update);
    update();
  }

  const root = document.documentElement;
  const theme = byId("theme");
  const dark = () => (root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  theme.hidden = false;
  name();

  const save = byId("save");
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([byId("diagnosis").textContent], { type: "application/json" }));
    link.download = "diagnosis.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  save.hidden = false;

  // A meaning that is in the way goes with Escape, and comes back with the next visit to its word.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      for (const word of document.querySelectorAll(".term:hover, .term:focus")) word.classList.add("dismissed");
    }
  });
  for (const kind of ["mouseout", "focusout"]) {
    document.addEventListener(kind, (event) => event.target.classList?.remove("dismissed"));
  }

  // On paper everything is unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();
