// What a reader of the page does: controls, pictures, the clock, rounds. `pygpu` is what tests and
// curious readers may call.

for (const control of DATA.controls) control.value = control.value.map(Number);
const values = new Map(DATA.controls.map((control) => [control.name, [...control.value]]));
const current = new Map();  // what was opened in place of a picture, to open again
const clock = { running: false, last: 0 };
let engine = null, shown = 0, running = DATA.rounds > 0, pending = false, video = null;
let rounds = 0;  // made since the beginning
let notice = "";  // what is said as long as nothing else is

function say(text, wrong = false) {
  byId("message").textContent = text || notice;
  byId("message").classList.toggle("wrong", wrong);
}

/** The size of the picture, in its own pixels. Small pictures are shown larger. */
function resize(width, height) {
  if (canvas.width === width && canvas.height === height) return;
  Object.assign(canvas, { width, height });
  canvas.classList.toggle("small", width < 480);
  canvas.style.setProperty("--ratio", width / height);
}

function failed(error) {
  if (!isLost()) say(error.message, true);
}

function isLost() {
  return engine !== null && engine.gl.isContextLost();
}

/** Draw at the next frame. */
function wanted() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(frame);
}

function frame(now) {
  pending = false;
  if (engine === null || isLost()) return;
  if (computing() > BEHIND) {
    wanted();
    return;
  }
  try {
    if (clock.running) tick(now);
    if (video !== null) fromCamera();
    if (DATA.rounds === 0) engine.run(value);
    else if (running || rounds === 0) for (let i = 0; i < DATA.rounds; i++) round();
    engine.show(shown);
    if (!DATA.served) watched(engine.gl);
  } catch (error) {
    failed(error);
    return;
  }
  if (clock.running || video !== null || DATA.moving || (DATA.rounds > 0 && running)) wanted();
}

function round() {
  engine.run(value);
  engine.handOn();
  rounds++;
}

function value(name) {
  return values.get(name);
}

/** Let the clock go on, and begin again at its end. */
function tick(now) {
  const seconds = Math.min((now - clock.last) / 1000, 0.25);
  clock.last = now;
  for (const control of DATA.controls.filter((c) => c.kind === "time")) {
    clock.time = ((clock.time ?? values.get(control.name)[0]) + seconds) % control.high;
    set(control, 0, control.is_whole ? Math.floor(clock.time) : clock.time);
  }
  for (const { name } of DATA.controls.filter((c) => c.kind === "frame")) values.get(name)[0]++;
}

const fields = new Map();  // of controls, by name and component

function set(control, part, number) {
  values.get(control.name)[part] = number;
  const field = fields.get(`${control.name} ${part}`);
  if (field) field(number);
}

function shownNumber(number, control) {
  return control.is_whole ? String(number) : Number(number.toPrecision(4)).toString();
}

// ---- controls

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function addControls() {
  const form = byId("controls");
  form.replaceChildren();
  form.onsubmit = (event) => event.preventDefault();
  for (const control of DATA.controls) {
    if (control.kind === "check") form.append(...checks(control));
    else if (control.kind === "colour") form.append(colour(control), ...sliders(control, 3));
    else if (POINTERS.includes(control.kind)) form.append(pointer(control));
    else if (control.kind !== "frame") form.append(...sliders(control));
  }
  if (DATA.results.length > 1) {
    const choice = element("select", { id: "result", onchange: () => { shown = choice.selectedIndex; engine.show(shown); } },
      ...DATA.results.map((_, i) => element("option", { textContent: `result ${i + 1}` })));
    form.append(element("label", { className: "control" }, "shown", choice));
  }
}

function label(control, part) {
  const name = control.name.replaceAll("_", " ");
  if (control.kind === "colour") return `${name}, opacity`;
  return control.value.length > 1 ? `${name} ${"xyzw"[part]}` : name;
}

/** A slider for each component, from the one of a number on. */
function sliders(control, begin = 0) {
  return control.value.slice(begin).map((first, at) => {
    const part = begin + at;
    const out = element("output", { textContent: shownNumber(first, control) });
    const id = `control ${control.name} ${part}`;  // else the label would be that of the output
    const input = element("input", { type: "range", id, name: control.name, min: control.low,
      max: control.high, step: control.step, value: first });
    input.oninput = () => {
      if (control.kind === "time") clock.time = Number(input.value);
      set(control, part, Number(input.value));
      wanted();
    };
    fields.set(`${control.name} ${part}`, (number) => {
      input.value = number;
      out.textContent = shownNumber(number, control);
    });
    return element("label", { className: "control", htmlFor: id }, label(control, part), out, input);
  });
}

function checks(control) {
  return control.value.map((first, part) => {
    const input = element("input", { type: "checkbox", name: control.name, checked: first !== 0 });
    input.onchange = () => { set(control, part, input.checked ? 1 : 0); wanted(); };
    return element("label", { className: "control" }, label(control, part), input);
  });
}

function colour(control) {
  const hex = (numbers) => "#" + numbers.slice(0, 3).map((x) =>
    Math.round(Math.min(Math.max(x, 0), 1) * 255).toString(16).padStart(2, "0")).join("");
  const input = element("input", { type: "color", name: control.name, value: hex(control.value) });
  input.oninput = () => {
    for (let part = 0; part < 3; part++) {
      set(control, part, parseInt(input.value.slice(1 + 2 * part, 3 + 2 * part), 16) / 255);
    }
    wanted();
  };
  return element("label", { className: "control" }, control.name.replaceAll("_", " "), input);
}

// ---- the mouse

const POINTERS = ["mouse", "iMouse"];

/** Where a control of the mouse stands: it is changed on the picture. */
function pointer(control) {
  const out = element("output");
  const tell = () => { out.textContent = values.get(control.name).slice(0, 2).map(Math.round).join(", "); };
  control.value.forEach((_, part) => fields.set(`${control.name} ${part}`, tell));
  tell();
  return element("span", { className: "control" }, control.name, out);
}

/** What a control of the mouse is with the pointer at (x, y) from the top left: execution/web/controls.py
 * says the same in Python. */
function pointed(control, now, [x, y], height, button) {
  if (control.kind === "mouse") return [x, y];
  const up = height - 1 - y;
  const at = button !== "up" ? [x, up] : now.slice(0, 2);
  const since = button === "pressed" ? [x, up] : [Math.abs(now[2]), -Math.abs(now[3])];
  return [...at, button !== "up" ? since[0] : -since[0], since[1]];
}

function addPointer() {
  const controls = DATA.controls.filter((control) => POINTERS.includes(control.kind));
  if (!controls.length) return;
  const moved = (button) => (event) => {
    const box = canvas.getBoundingClientRect();
    const place = [((event.clientX - box.left) / box.width) * canvas.width - 0.5,
                   ((event.clientY - box.top) / box.height) * canvas.height - 0.5];
    for (const control of controls) {
      const held = button ?? (event.buttons & 1 ? "down" : "up");
      pointed(control, values.get(control.name), place, canvas.height, held)
        .forEach((number, part) => set(control, part, number));
    }
    wanted();
  };
  canvas.style.touchAction = "none";
  canvas.addEventListener("pointermove", moved());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    moved("pressed")(event);
  });
  canvas.addEventListener("pointerup", moved("up"));
}

// ---- actions

function button(text, action) {
  return element("button", { type: "button", textContent: text, onclick: action });
}

function addActions() {
  const actions = byId("actions");
  actions.replaceChildren();
  for (const picture of DATA.pictures.filter((p) => p.name)) {
    const input = element("input", { type: "file", accept: "image/*" });
    input.onchange = () => { if (input.files.length) take(picture, input.files[0]); input.value = ""; };
    const several = DATA.pictures.filter((p) => p.name).length > 1;
    actions.append(element("label", { className: "file" }, `Open ${several ? picture.name : "a picture"}`, input));
  }
  if (DATA.pictures.some((p) => p.name)) actions.append(cameraButton());
  if (DATA.controls.some((c) => ["time", "frame"].includes(c.kind))) actions.append(clockButton());
  if (DATA.rounds > 0) actions.append(...roundButtons());
  if (DATA.controls.length) actions.append(button("Reset", reset));
  actions.append(button("Download", download));
}

function clockButton() {
  const play = button("Play", () => {
    clock.running = !clock.running;
    clock.last = performance.now();
    play.textContent = clock.running ? "Pause" : "Play";
    wanted();
  });
  return play;
}

function roundButtons() {
  const play = button("Pause", () => {
    running = !running;
    play.textContent = running ? "Pause" : "Go on";
    wanted();
  });
  const step = button("Step", () => { running = false; play.textContent = "Go on"; round(); engine.show(shown); });
  const again = button("Start again", () => begin(false).then(wanted, failed));
  return [play, step, again];
}

function cameraButton() {
  const camera = button("Camera", async () => {
    if (video !== null) {
      video.srcObject.getTracks().forEach((track) => track.stop());
      video = null;
      camera.textContent = "Camera";
      return;
    }
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ video: true });
      const element = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
      element.srcObject = stream;
      await element.play();
      video = element;
      camera.textContent = "Stop the camera";
      wanted();
    } catch {
      say("There is no camera here, or it may not be used.", true);
    }
  });
  return camera;
}

/** The camera's picture of now, in place of the first. */
function fromCamera() {
  const picture = DATA.pictures.find((p) => p.name);
  const [width, height] = sizeFor(picture, video.videoWidth, video.videoHeight);
  let source = video;
  if (width !== video.videoWidth || height !== video.videoHeight) {
    source = new OffscreenCanvas(width, height);
    source.getContext("2d").drawImage(video, 0, 0, width, height);
  }
  engine.upload(picture, width, height, pixelsOf(engine.gl, source, width, height));
}

function reset() {
  for (const control of DATA.controls) {
    control.value.forEach((number, part) => set(control, part, number));
    values.set(control.name, [...control.value]);
    clock.time = undefined;
  }
  addControls();
  wanted();
}

function download() {
  engine.show(shown);
  canvas.toBlob((blob) => {
    const link = element("a", { href: URL.createObjectURL(blob), download: `${DATA.name}.png` });
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

async function take(picture, blob) {
  try {
    say("");
    await open(engine, picture, blob);
    if (DATA.rounds > 0) await begin(true);
    wanted();
  } catch (error) {
    failed(error);
  }
}

function addDrop() {
  const stage = byId("stage"), picture = DATA.pictures.find((p) => p.name);
  if (!picture) return;
  const over = (event) => { event.preventDefault(); stage.classList.add("over"); };
  stage.addEventListener("dragenter", over);
  stage.addEventListener("dragover", over);
  stage.addEventListener("dragleave", () => stage.classList.remove("over"));
  stage.addEventListener("drop", (event) => {
    event.preventDefault();
    stage.classList.remove("over");
    if (event.dataTransfer.files.length) take(picture, event.dataTransfer.files[0]);
  });
}

// ---- beginning

/** All pictures to their slots: those that were opened, else those that the page came with. */
async function begin(opened) {
  rounds = 0;
  for (const picture of DATA.pictures) {
    if (current.has(picture) && (opened || DATA.rounds > 0)) await open(engine, picture, current.get(picture).blob);
    else await given(engine, picture);
  }
}

/** Draw for the first time, or make all ready to be drawn. */
async function start(draws = true) {
  if (DATA.served) {  // by served.js, which stands before this script
    engine = new Served();
    frame(performance.now());
    return engine.first;
  }
  if (DATA.programs.zlib) DATA.programs = JSON.parse(new TextDecoder().decode(await inflated(DATA.programs.zlib)));
  byId("glsl").textContent = DATA.programs.map((program) => program.text).join("\n");
  const gl = canvas.getContext("webgl2", { alpha: true, premultipliedAlpha: false,
    preserveDrawingBuffer: true, antialias: false, depth: false });
  if (gl === null) {
    for (const part of ["controls", "actions"]) byId(part).inert = true;
    throw new Error("This page needs WebGL 2, which this browser does not have or has turned off.");
  }
  engine = new Engine(gl);
  if (!gl.hasFloats && DATA.slots.some((slot) => KINDS[slot.dtype][2] === "")) {
    notice = gl.hasHalves ? "This browser draws floats of 16 bits alone: between steps, numbers are rounded to 11 bits."
      : "This browser cannot draw floats: between steps, numbers are rounded to bytes of 0 to 1.";
    say("");
  }
  if (engine.meshes !== null) await engine.meshes.load();
  await begin(true);
  if (draws) frame(performance.now());
  else running = false;
}

addControls();
addActions();
addDrop();
addPointer();
window.pygpu = {
  data: DATA,
  ready: start().catch((error) => { failed(error); }),
  read: (index = 0) => engine.read(index),
  set: (name, numbers) => { numbers.forEach((x, part) => set(DATA.controls.find((c) => c.name === name), part, x)); },
  run: () => { engine.run(value); engine.show(shown); },
  engine: () => engine,
  rounds: () => rounds,
};
