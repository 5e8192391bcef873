"use strict";
// Runs the programs of this page: pictures in textures, programs drawn over textures, the result
// on the canvas. `pygpu` is what tests and curious readers may call.

const DATA = JSON.parse(document.getElementById("data").textContent);
const LIMIT = 4096;              // pixels a side of what is opened; more is scaled down
const byId = (id) => document.getElementById(id);
const canvas = byId("picture");

// ------------------------------------------------------------ textures

// Of each dtype: WebGL's type, the array of its texels, the letter of its samplers, and internal
// formats by channels. Three channels are kept as four, which can be drawn into.
const KINDS = {
  float32: ["FLOAT", Float32Array, "", ["R32F", "RG32F", "RGBA32F"]],
  float16: ["HALF_FLOAT", Uint16Array, "", ["R16F", "RG16F", "RGBA16F"]],
  uint8: ["UNSIGNED_BYTE", Uint8Array, "u", ["R8UI", "RG8UI", "RGBA8UI"]],
  bool: ["UNSIGNED_BYTE", Uint8Array, "u", ["R8UI", "RG8UI", "RGBA8UI"]],
  int8: ["BYTE", Int8Array, "i", ["R8I", "RG8I", "RGBA8I"]],
  uint16: ["UNSIGNED_SHORT", Uint16Array, "u", ["R16UI", "RG16UI", "RGBA16UI"]],
  int16: ["SHORT", Int16Array, "i", ["R16I", "RG16I", "RGBA16I"]],
  uint32: ["UNSIGNED_INT", Uint32Array, "u", ["R32UI", "RG32UI", "RGBA32UI"]],
  int32: ["INT", Int32Array, "i", ["R32I", "RG32I", "RGBA32I"]],
};

/** How a texture of such texels is made in WebGL. Where floats cannot be drawn, what is drawn into
 * is bytes of [0, 1]. */
function formatOf(gl, texture, drawn) {
  const [type, array, letter, formats] = KINDS[texture.dtype];
  const size = texture.channels === 3 ? 4 : texture.channels;
  const place = { 1: 0, 2: 1, 4: 2 }[size];
  if (drawn && letter === "" && !gl.hasFloats) {
    return { internal: gl.RGBA8, format: gl.RGBA, type: gl.UNSIGNED_BYTE, array: Uint8Array,
             size: 4, letter, bytes: true };
  }
  const plain = ["RED", "RG", "RGBA"][place];
  return { internal: gl[formats[place]], format: gl[letter ? plain + "_INTEGER" : plain],
           type: gl[type], array, size, letter, bytes: false };
}

function newTexture(gl, format, width, height, texels) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
    gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  }
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texImage2D(gl.TEXTURE_2D, 0, format.internal, width, height, 0, format.format, format.type,
                texels);
  return texture;
}

// ------------------------------------------------------------ programs

function compile(gl, vertices, text) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertices], [gl.FRAGMENT_SHADER, text]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error("The browser's driver refused a program: " + gl.getShaderInfoLog(shader));
    }
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error("The browser's driver refused a program: " + gl.getProgramInfoLog(program));
  }
  return program;
}

/** One program of the page, ready to draw. */
class Program {
  constructor(gl, described) {
    this.gl = gl;
    this.program = compile(gl, described.vertices, described.text);
    gl.useProgram(this.program);
    const at = (name) => gl.getUniformLocation(this.program, name);
    described.images.forEach((name, unit) => gl.uniform1i(at(name), unit));
    this.uniforms = described.uniforms.map(([name, setter]) => [at(name), setter]);
    this.blocks = [];
    this.tables = [];
    for (const table of described.tables) this.addTable(table, described.images.length);
  }

  addTable(table, first) {
    const gl = this.gl;
    const Numbers = { f: Float32Array, i: Int32Array, u: Uint32Array }[table.kind];
    const values = new Numbers(bytesOf(table.rows).buffer);
    if (table.block) {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.UNIFORM_BUFFER, buffer);
      gl.bufferData(gl.UNIFORM_BUFFER, values, gl.STATIC_DRAW);
      const index = gl.getUniformBlockIndex(this.program, table.name);
      if (index !== gl.INVALID_INDEX) {
        gl.uniformBlockBinding(this.program, index, this.blocks.length);
        this.blocks.push(buffer);
      }
      return;
    }
    const rows = Math.ceil(values.length / 4 / table.width);
    const texels = new Numbers(rows * table.width * 4);
    texels.set(values);
    const dtype = { f: "float32", i: "int32", u: "uint32" }[table.kind];
    const format = formatOf(gl, { dtype, channels: 4 }, false);
    const unit = first + this.tables.length;
    this.tables.push([newTexture(gl, format, table.width, rows, texels), unit]);
    gl.uniform1i(gl.getUniformLocation(this.program, table.name), unit);
  }

  /** Draw over the framebuffer in use, with these textures and numbers. */
  draw(textures, values) {
    const gl = this.gl;
    gl.useProgram(this.program);
    textures.forEach((texture, unit) => bind(gl, texture, unit));
    for (const [texture, unit] of this.tables) bind(gl, texture, unit);
    this.blocks.forEach((buffer, at) => gl.bindBufferBase(gl.UNIFORM_BUFFER, at, buffer));
    this.uniforms.forEach(([place, setter], index) => {
      if (place !== null) gl["uniform" + setter](place, values[index]);
    });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

function bind(gl, texture, unit) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, texture);
}

const SHOW_VERTICES = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

/** What shows a result: floats from 0 to 1, integers as they say. Row 0 is on top. */
function shower(gl, texture, letter) {
  const top = { uint8: 255, uint16: 65535, bool: 1 }[texture.dtype];
  const scale = letter === "" ? "1.0" : texture.scaled || texture.dtype === "bool" ? `${top}.0` : "255.0";
  const colour = ["vec4(v.rrr, 1.0)", "v.rrrg", "vec4(v.rgb, 1.0)", "v"][texture.channels - 1];
  return compile(gl, SHOW_VERTICES, `#version 300 es
precision highp float; precision highp int; precision highp ${letter}sampler2D;
uniform ${letter}sampler2D im;
out vec4 colour;
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  vec4 v = vec4(texelFetch(im, ivec2(p.x, textureSize(im, 0).y - 1 - p.y), 0)) / ${scale};
  vec4 c = ${colour};
  colour = floor(clamp(c, 0.0, 1.0) * 255.0 + 0.5) / 255.0;
}`);
}

// ------------------------------------------------------------ the engine

/** All textures and programs of the page in one context. */
class Engine {
  constructor(gl) {
    this.gl = gl;
    gl.hasFloats = gl.getExtension("EXT_color_buffer_float") !== null;
    this.programs = DATA.programs.map((program) => new Program(gl, program));
    this.slots = DATA.slots.map((slot) => ({ ...slot, texture: null, width: 0, height: 0 }));
    this.steps = DATA.steps;
    this.frames = new Map();
    this.showers = new Map();
    this.state = new Map();  // slots whose textures were handed on, by rounds
  }

  slot(index) {
    return this.slots[index];
  }

  /** Put the pixels of a picture, RGBA bytes, into its slot. */
  upload(picture, width, height, pixels) {
    const gl = this.gl, slot = this.slot(picture.slot);
    const format = formatOf(gl, picture, false);
    const texels = pixels instanceof Uint8ClampedArray || pixels instanceof Uint8Array
      ? texelsOf(picture, format, width * height, pixels) : pixels.texels;
    this.put(slot, newTexture(gl, format, width, height, texels), width, height, format);
  }

  put(slot, texture, width, height, format) {
    if (slot.texture !== null) this.gl.deleteTexture(slot.texture);
    Object.assign(slot, { texture, width, height, made: format });
    for (const frame of this.frames.values()) this.gl.deleteFramebuffer(frame);
    this.frames.clear();
  }

  /** The texture of a slot that is drawn into, of the size that it is to have. */
  target(index) {
    const slot = this.slot(index);
    const main = DATA.pictures.length ? this.slot(DATA.pictures[0].slot) : null;
    const [width, height] = slot.size ?? [main.width, main.height];
    if (slot.texture === null || slot.width !== width || slot.height !== height) {
      const format = formatOf(this.gl, slot, true);
      this.put(slot, newTexture(this.gl, format, width, height, null), width, height, format);
    }
    return slot;
  }

  /** Run the steps, with the numbers that controls have. */
  run(values) {
    const gl = this.gl;
    for (const step of this.steps) {
      const targets = step.outputs.map((index) => this.target(index));
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame(targets));
      gl.viewport(0, 0, targets[0].width, targets[0].height);
      const textures = step.inputs.map((index) => this.slot(index).texture);
      const given = step.uniforms.map((u) => (Array.isArray(u) ? u.map(Number) : values(u.control)));
      this.programs[step.program].draw(textures, given);
    }
  }

  /** Hand results on to the next round. */
  handOn() {
    for (const [old, made] of DATA.state) {
      const a = this.slot(old), b = this.slot(made);
      for (const name of ["texture", "width", "height", "made"]) [a[name], b[name]] = [b[name], a[name]];
    }
  }

  frame(targets) {
    const gl = this.gl;
    const key = targets.map((slot) => nameOf(slot.texture)).join();
    if (!this.frames.has(key)) {
      const frame = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      const places = targets.map((slot, index) => {
        const place = gl.COLOR_ATTACHMENT0 + index;
        gl.framebufferTexture2D(gl.FRAMEBUFFER, place, gl.TEXTURE_2D, slot.texture, 0);
        return place;
      });
      gl.drawBuffers(places);
      this.frames.set(key, frame);
    }
    return this.frames.get(key);
  }

  /** Show a result on the canvas: that of the last round where rounds hand it on. */
  show(index) {
    const gl = this.gl, result = DATA.results[index], slot = this.slot(this.shown(index));
    const letter = slot.made.letter;
    const key = `${result.dtype} ${result.channels} ${result.scaled}`;
    if (!this.showers.has(key)) this.showers.set(key, shower(gl, result, letter));
    if (canvas.width !== slot.width || canvas.height !== slot.height) {
      canvas.width = slot.width;
      canvas.height = slot.height;
      canvas.classList.toggle("small", slot.width < 480);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, slot.width, slot.height);
    gl.useProgram(this.showers.get(key));
    bind(gl, slot.texture, 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  shown(index) {
    const slot = DATA.results[index].slot;
    const pair = DATA.state.find(([, made]) => made === slot);
    return pair ? pair[0] : slot;
  }

  /** The texels of a result, four numbers a pixel, row 0 first. */
  read(index) {
    const gl = this.gl, slot = this.slot(this.shown(index)), made = slot.made;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame([slot]));
    const wide = { "": [gl.RGBA, gl.FLOAT, Float32Array], u: [gl.RGBA_INTEGER, gl.UNSIGNED_INT, Uint32Array],
                   i: [gl.RGBA_INTEGER, gl.INT, Int32Array] }[made.letter];
    const [format, type, Numbers] = made.bytes ? [gl.RGBA, gl.UNSIGNED_BYTE, Uint8Array] : wide;
    const texels = new Numbers(4 * slot.width * slot.height);
    gl.readPixels(0, 0, slot.width, slot.height, format, type, texels);
    const scale = made.bytes ? 255 : 1;
    return { width: slot.width, height: slot.height, channels: DATA.results[index].channels,
             texels: Array.from(texels, (x) => x / scale) };
  }
}

const names = new WeakMap();
function nameOf(object) {
  if (!names.has(object)) names.set(object, (nameOf.next = (nameOf.next ?? 0) + 1));
  return names.get(object);
}

// ------------------------------------------------------------ pictures

function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/** Texels of a picture's kind, of RGBA bytes. Grey is what Pillow makes of colours. */
function texelsOf(picture, format, count, pixels) {
  const texels = new format.array(count * format.size);
  const floats = format.letter === "";
  const half = picture.dtype === "float16";
  const value = floats ? (x) => (half ? halfOf(x / 255) : Math.fround(x / 255))
    : picture.dtype === "bool" ? (x) => (x > 127 ? 1 : 0)
    : picture.dtype === "uint16" && picture.scaled ? (x) => x * 257
    : picture.dtype === "int8" ? (x) => Math.min(x, 127) : (x) => x;
  const grey = (at) => (pixels[at] * 19595 + pixels[at + 1] * 38470 + pixels[at + 2] * 7471 + 32768) >> 16;
  for (let i = 0, at = 0, to = 0; i < count; i++, at += 4, to += format.size) {
    if (format.size < 4) {
      texels[to] = value(grey(at));
      if (format.size === 2) texels[to + 1] = value(pixels[at + 3]);
    } else {
      for (let c = 0; c < 4; c++) texels[to + c] = value(pixels[at + c]);
    }
  }
  return texels;
}

/** The bits of a float16, of a number from 0 to 1. */
function halfOf(x) {
  if (x < 6.103515625e-5) return Math.round(x * 16777216);
  const e = Math.floor(Math.log2(x));
  return ((e + 15) << 10) + Math.round((x / 2 ** e - 1) * 1024);
}

/** RGBA bytes of anything that WebGL takes as a picture, not premultiplied. */
function pixelsOf(gl, source, width, height) {
  const texture = gl.createTexture(), frame = gl.createFramebuffer();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, source);
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const pixels = new Uint8Array(4 * width * height);
  gl.pixelStorei(gl.PACK_ALIGNMENT, 1);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  gl.deleteFramebuffer(frame);
  gl.deleteTexture(texture);
  return pixels;
}

const EXACT = { premultiplyAlpha: "none", colorSpaceConversion: "none" };

/** The picture that the page came with. */
async function given(engine, picture) {
  const [width, height] = picture.size;
  if (picture.png) {
    const blob = new Blob([bytesOf(picture.png.split(",")[1])], { type: "image/png" });
    const bitmap = await createImageBitmap(blob, EXACT);
    engine.upload(picture, width, height, pixelsOf(engine.gl, bitmap, width, height));
    return;
  }
  const stream = new Blob([bytesOf(picture.zlib)]).stream();
  const whole = stream.pipeThrough(new DecompressionStream("deflate"));
  const format = formatOf(engine.gl, picture, false);
  let texels = new format.array(await new Response(whole).arrayBuffer());
  if (picture.channels === 3) {
    const four = new format.array((texels.length / 3) * 4);
    for (let i = 0; i < texels.length / 3; i++) four.set(texels.subarray(3 * i, 3 * i + 3), 4 * i);
    texels = four;
  }
  engine.upload(picture, width, height, { texels });
}

/** The size at which something is opened: the page's own where that is fixed. */
function sizeFor(picture, width, height) {
  if (!DATA.follows) return picture.size;
  const scale = Math.min(1, LIMIT / Math.max(width, height));
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

async function open(engine, picture, blob) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob, EXACT);
  } catch {
    throw new Error(`${blob.name ?? "This"} is not a picture that this browser can read.`);
  }
  const [width, height] = sizeFor(picture, bitmap.width, bitmap.height);
  if (width !== bitmap.width || height !== bitmap.height) {
    const [w, h] = [bitmap.width, bitmap.height];
    bitmap = await createImageBitmap(blob, { ...EXACT, resizeWidth: width, resizeHeight: height });
    say(`The picture of ${w} x ${h} was scaled to ${width} x ${height}.`);
  }
  engine.upload(picture, width, height, pixelsOf(engine.gl, bitmap, width, height));
  current.set(picture, { width, height, blob });
}

// ------------------------------------------------------------ the page

const values = new Map(DATA.controls.map((control) => [control.name, [...control.value]]));
const current = new Map();  // what was opened in place of a picture, to open again
const clock = { running: false, last: 0 };
let engine = null, shown = 0, running = DATA.rounds > 0, pending = false, video = null;
let rounds = 0;  // made since the beginning

function say(text, wrong = false) {
  byId("message").textContent = text;
  byId("message").classList.toggle("wrong", wrong);
}

function failed(error) {
  say(error.message, true);
}

/** Draw at the next frame. */
function wanted() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(frame);
}

function frame(now) {
  pending = false;
  if (engine === null || engine.gl.isContextLost()) return;
  try {
    if (clock.running) tick(now);
    if (video !== null) fromCamera();
    if (DATA.rounds === 0) engine.run(value);
    else if (running || rounds === 0) for (let i = 0; i < DATA.rounds; i++) round();
    engine.show(shown);
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
    else if (control.kind === "colour") form.append(colour(control));
    else if (POINTERS.includes(control.kind)) form.append(pointer(control));
    else form.append(...sliders(control));
  }
  if (DATA.results.length > 1) {
    const choice = element("select", { id: "result", onchange: () => { shown = choice.selectedIndex; engine.show(shown); } },
      ...DATA.results.map((_, i) => element("option", { textContent: `result ${i + 1}` })));
    form.append(element("label", { className: "control" }, "shown", choice));
  }
}

function label(control, part) {
  const name = control.name.replaceAll("_", " ");
  return control.value.length > 1 ? `${name} ${"xyzw"[part]}` : name;
}

function sliders(control) {
  return control.value.map((first, part) => {
    const out = element("output", { textContent: shownNumber(first, control) });
    const input = element("input", { type: "range", name: control.name, min: control.low,
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
    return element("label", { className: "control" }, label(control, part), out, input);
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
  if (DATA.controls.some((c) => c.kind === "time")) actions.append(clockButton());
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

async function start() {
  if (DATA.served) {  // by served.js, which stands before this script
    engine = new Served();
    frame(performance.now());
    return engine.first;
  }
  const gl = canvas.getContext("webgl2", { alpha: true, premultipliedAlpha: false,
    preserveDrawingBuffer: true, antialias: false, depth: false });
  if (gl === null) {
    throw new Error("This page needs WebGL 2, which this browser does not have or has turned off.");
  }
  engine = new Engine(gl);
  if (!gl.hasFloats && DATA.slots.some((slot) => KINDS[slot.dtype][2] === "")) {
    say("This browser cannot draw floats: between steps, numbers are rounded to bytes of 0 to 1.");
  }
  await begin(true);
  frame(performance.now());
}

canvas.addEventListener("webglcontextlost", (event) => {
  event.preventDefault();
  say("The browser has taken the graphics device away; the picture comes back with it.", true);
});
canvas.addEventListener("webglcontextrestored", () => {
  say("");
  window.pygpu.ready = start().catch(failed);
});
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
