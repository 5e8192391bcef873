// A page that a PyGPU process serves while its function is edited: it is loaded anew when the file
// changes, with what its controls stood at where the edit gives them no other number to begin with.

(() => {
  const KEPT = "pygpu controls";
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  sessionStorage.removeItem(KEPT);
  for (const control of DATA.controls) {
    const [first, numbers] = kept[control.name] ?? [];
    if (String(first) !== String(control.value)) continue;
    values.set(control.name, [...numbers]);
    control.value = numbers;  // what the fields show at first
    addControls();
    control.value = first;
  }
  if (DATA.controls.some((control) => control.kind === "time")) {
    window.pygpu.ready.then(() => {
      const play = [...document.querySelectorAll("#actions button")].find((b) => b.textContent === "Play");
      if (play && kept.playing !== false) play.click();
    });
  }
  const events = new EventSource("events");
  events.addEventListener("changed", () => {
    const now = Object.fromEntries(DATA.controls.map((c) => [c.name, [c.value, values.get(c.name)]]));
    sessionStorage.setItem(KEPT, JSON.stringify({ ...now, playing: clock.running }));
    location.reload();
  });
  events.addEventListener("wrong", (event) => say(JSON.parse(event.data), true));
  events.onerror = () => say("The process that serves this page has ended.", true);
  window.pygpu.live = events;
})();
