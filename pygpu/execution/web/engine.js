"use strict";
// Runs the programs of this page: pictures in textures, programs drawn over textures, the result
// on the canvas.

const DATA = JSON.parse(document.getElementById("data").textContent);
const LIMIT = 4096;              // pixels a side of what is opened; more is scaled down
const COLUMNS = 4;               // pixels of one channel in a texel
const byId = (id) => document.getElementById(id);
const canvas = byId("picture");

// ------------------------------------------------------------ textures

// Of each dtype: WebGL's type, the array of its texels, the letter of its samplers, and internal
// formats by channels. Three channels are kept as four, which can be drawn into; images of one
// channel are packed: a texel is four pixels of a row, and the last of a row may hold fewer.
const KINDS = {
  float32: ["FLOAT", Float32Array, "", ["RG32F", "RGBA32F"]],
  float16: ["HALF_FLOAT", Uint16Array, "", ["RG16F", "RGBA16F"]],
  uint8: ["UNSIGNED_BYTE", Uint8Array, "u", ["RG8UI", "RGBA8UI"]],
  bool: ["UNSIGNED_BYTE", Uint8Array, "u", ["RG8UI", "RGBA8UI"]],
  int8: ["BYTE", Int8Array, "i", ["RG8I", "RGBA8I"]],
  uint16: ["UNSIGNED_SHORT", Uint16Array, "u", ["RG16UI", "RGBA16UI"]],
  int16: ["SHORT", Int16Array, "i", ["RG16I", "RGBA16I"]],
  uint32: ["UNSIGNED_INT", Uint32Array, "u", ["RG32UI", "RGBA32UI"]],
  int32: ["INT", Int32Array, "i", ["RG32I", "RGBA32I"]],
};

/** How a texture of such texels is made in WebGL. Where floats of 32 bits cannot be drawn, what is
 * drawn into has 16, or else is bytes of [0, 1]. */
function formatOf(gl, texture, drawn) {
  const [type, array, letter, formats] = KINDS[texture.dtype];
  const packed = texture.channels === 1, size = texture.channels === 2 ? 2 : 4;
  if (drawn && letter === "" && !gl.hasFloats) {
    const texels = { format: gl.RGBA, size: 4, letter, packed, bytes: !gl.hasHalves };
    return gl.hasHalves ? { ...texels, internal: gl.RGBA16F, type: gl.HALF_FLOAT, array: Uint16Array }
      : { ...texels, internal: gl.RGBA8, type: gl.UNSIGNED_BYTE, array: Uint8Array };
  }
  const [plain, internal] = size === 2 ? ["RG", formats[0]] : ["RGBA", formats[1]];
  return { internal: gl[internal], format: gl[letter ? plain + "_INTEGER" : plain],
           type: gl[type], array, size, letter, packed, bytes: false };
}

/** The texels that hold a row of so many pixels. */
function across(format, width) {
  return format.packed ? Math.ceil(width / COLUMNS) : width;
}

/** A texture of so many pixels; `texels` are whole rows of texels. */
function newTexture(gl, format, width, height, texels) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
    gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  }
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texImage2D(gl.TEXTURE_2D, 0, format.internal, across(format, width), height, 0, format.format, format.type,
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
    this.widths = described.widths.map(at);
    this.last = described.last === null ? null : at(described.last);
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

  /** Make it the one in use, with these textures and numbers. `widths` are those of the images that
   * it asks for, `width` that of what is drawn. */
  use(textures, values, widths, width) {
    const gl = this.gl;
    gl.useProgram(this.program);
    textures.forEach((texture, unit) => bind(gl, texture, unit));
    for (const [texture, unit] of this.tables) bind(gl, texture, unit);
    this.blocks.forEach((buffer, at) => gl.bindBufferBase(gl.UNIFORM_BUFFER, at, buffer));
    this.uniforms.forEach(([place, setter], index) => {
      if (place !== null) gl["uniform" + setter](place, values[index]);
    });
    this.widths.forEach((place, index) => gl.uniform1i(place, widths[index]));
    if (this.last !== null) gl.uniform1i(this.last, width - 1);
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
  const packed = texture.channels === 1, type = letter + "vec4";
  const fetch = `texelFetch(im, ivec2(p.x${packed ? " >> 2" : ""}, last - p.y), 0)`;
  const texel = packed  // an index that is not constant is slow in software
    ? `${type} four = ${fetch}; bvec2 at = equal(p.xx & ivec2(2, 1), ivec2(0));
  ${type.replace("vec4", "vec2")} two = at.x ? four.xy : four.zw;
  vec4 v = vec4(at.y ? two.x : two.y)`
    : `vec4 v = vec4(${fetch})`;
  return compile(gl, SHOW_VERTICES, `#version 300 es
precision highp float; precision highp int; precision highp ${letter}sampler2D;
uniform ${letter}sampler2D im;
uniform int last;
out vec4 colour;
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  ${texel}${scale === "1.0" ? "" : ` * (1.0 / ${scale})`};
  colour = ${colour};
}`);
}

// ------------------------------------------------------------ the engine

/** All textures and programs of the page in one context. */
class Engine {
  constructor(gl) {
    this.gl = gl;
    gl.hasFloats = gl.getExtension("EXT_color_buffer_float") !== null;
    gl.hasHalves = gl.hasFloats || gl.getExtension("EXT_color_buffer_half_float") !== null;
    this.programs = [];  // made when they are first needed
    this.slots = DATA.slots.map((slot) => ({ ...slot, texture: null, width: 0, height: 0 }));
    this.steps = DATA.order.map((step) => DATA.steps[step]);
    this.frames = new Map();
    this.fresh = true;  // whether something is drawn or drawn into for the first time
    this.showers = new Map();
    this.meshes = DATA.meshes.length ? new Meshes(this) : null;
  }

  slot(index) {
    return this.slots[index];
  }

  program(index) {
    if (this.programs[index] === undefined) {
      this.programs[index] = new Program(this.gl, DATA.programs[index]);
      this.fresh = true;
    }
    return this.programs[index];
  }

  /** Put the pixels of a picture, RGBA bytes, into its slot. */
  upload(picture, width, height, pixels) {
    const gl = this.gl, slot = this.slot(picture.slot);
    const format = formatOf(gl, picture, false);
    const texels = pixels instanceof Uint8ClampedArray || pixels instanceof Uint8Array
      ? texelsOf(picture, format, width, height, pixels) : pixels.texels;
    this.put(slot, newTexture(gl, format, width, height, texels), width, height, format);
  }

  put(slot, texture, width, height, format) {
    if (slot.texture !== null) this.gl.deleteTexture(slot.texture);
    Object.assign(slot, { texture, width, height, made: format });
    for (const frame of this.frames.values()) this.gl.deleteFramebuffer(frame);
    this.frames.clear();
    this.fresh = true;
  }

  /** The texture of a slot that is drawn into, of the size that it is to have. */
  target(index) {
    const slot = this.slot(index);
    const main = DATA.pictures.length ? this.slot(DATA.pictures[0].slot) : null;
    const [width, height] = slot.size ?? [main.width, main.height];
    const format = formatOf(this.gl, slot, true);  // a picture that was given may not be drawn into
    const fits = slot.texture !== null && slot.width === width && slot.height === height;
    if (!fits || slot.made.internal !== format.internal) {
      this.put(slot, newTexture(this.gl, format, width, height, null), width, height, format);
    }
    return slot;
  }

  /** Run the steps, with the numbers that controls have. */
  run(values) {
    for (const { slot, control } of DATA.numbers) this.number(this.slot(slot), values(control));
    let at = 0;
    for (const loop of DATA.loops) {
      this.span(at, loop.first, values);
      this.loop(loop, values);
      at = loop.end;
    }
    this.span(at, this.steps.length, values);
  }

  span(first, end, values) {
    for (let at = first; at < end; at++) this.step(this.steps[at], values);
  }

  /** Rounds until their images are reduced to a number that is not 0, which is waited for, or until
   * there were enough. */
  loop({ first, ask, end, state, answer, done, count, every }, values) {
    for (; done < count; done++) {
      if (done % every === 0) {
        this.span(ask, end, values);
        if (this.texels(this.slot(answer), 1, 1)[0] !== 0) return;
      }
      this.span(first, ask, values);
      this.exchange(state);
    }
  }

  /** Put what a control stands at into an image of one texel. */
  number(slot, parts) {
    const gl = this.gl, format = formatOf(gl, slot, false);
    const texel = new format.array(4);
    texel.set(parts);
    const texels = texel.subarray(0, format.packed ? 4 : format.size);
    if (slot.texture === null) {
      this.put(slot, newTexture(gl, format, 1, 1, texels), 1, 1, format);
      return;
    }
    gl.bindTexture(gl.TEXTURE_2D, slot.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 1, 1, format.format, format.type, texels);
  }

  step(step, values) {
    if (step.mesh !== undefined) {
      this.meshes.draw(step, values);
      return;
    }
    const gl = this.gl, targets = step.outputs.map((index) => this.target(index));
    const { width, height, made } = targets[0], wide = across(made, width);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame(targets));
    gl.viewport(0, 0, wide, height);
    const [inner, edges] = step.draws;
    const [first, end] = edges ? this.whole(step, wide, height) : [0, wide];
    if (first === 0 && end === wide) {
      this.draw(inner, values, width);
      return;
    }
    gl.enable(gl.SCISSOR_TEST);
    for (const [draw, from, to] of [[inner, first, end], [edges, 0, first], [edges, end, wide]]) {
      if (from === to) continue;
      gl.scissor(from, 0, to - from, height);
      this.draw(draw, values, width);
    }
    gl.disable(gl.SCISSOR_TEST);
  }

  draw(draw, values, width) {
    this.use(draw, values, width);
    this.gl.drawArrays(this.gl.TRIANGLES, 0, 3);
  }

  /** Make the program of a draw ready, over the framebuffer in use, of so many pixels across. */
  use(draw, values, width) {
    const textures = draw.inputs.map((index) => this.slot(index).texture);
    const given = draw.uniforms.map((u) => (Array.isArray(u) ? u.map(Number) : values(u.control)));
    const widths = draw.sized.map((index) => this.slot(index).width);
    const program = this.program(draw.program);
    program.use(textures, given, widths, width);
    return program;
  }

  /** Of so many blocks in each row, the first for the inner program and the first after those:
   * passes/blocks/block.py says the same in Python. */
  whole({ reach, clamped, flat }, count, height) {
    let first = 0, end = count;
    for (const [index, left, right] of reach) {
      const { width, height: rows } = this.slot(index);
      if (flat && rows < height) return [0, 0];
      const isWhole = clamped && width % COLUMNS === 0;
      end = Math.min(end, isWhole ? width / COLUMNS : Math.floor((width - right - 1) / COLUMNS) + 1);
      if (!clamped) first = Math.max(first, Math.ceil(left / COLUMNS));
    }
    return first < end ? [first, end] : [0, 0];
  }

  /** Hand results on to the next round. */
  handOn() {
    this.exchange(DATA.state);
  }

  /** Let the second image of each pair be the first one, and the first be drawn over. */
  exchange(pairs) {
    for (const [old, made] of pairs) {
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
    resize(slot.width, slot.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, slot.width, slot.height);
    const program = this.showers.get(key);
    gl.useProgram(program);
    gl.uniform1i(gl.getUniformLocation(program, "last"), slot.height - 1);
    bind(gl, slot.texture, 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  shown(index) {
    const slot = DATA.results[index].slot;
    const pair = DATA.state.find(([, made]) => made === slot);
    return pair ? pair[0] : slot;
  }

  /** So many texels of a slot, four numbers each. */
  texels(slot, width, height) {
    const gl = this.gl, made = slot.made;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame([slot]));
    const kinds = { "": [gl.RGBA, gl.FLOAT, Float32Array], u: [gl.RGBA_INTEGER, gl.UNSIGNED_INT, Uint32Array],
                   i: [gl.RGBA_INTEGER, gl.INT, Int32Array] }[made.letter];
    const [format, type, Numbers] = made.bytes ? [gl.RGBA, gl.UNSIGNED_BYTE, Uint8Array] : kinds;
    const texels = new Numbers(4 * width * height);
    gl.readPixels(0, 0, width, height, format, type, texels);
    return texels;
  }

  /** The texels of a result, four numbers a pixel, row 0 first. */
  read(index) {
    const slot = this.slot(this.shown(index)), made = slot.made;
    const wide = across(made, slot.width);
    const texels = this.texels(slot, wide, slot.height);
    const scale = made.bytes ? 255 : 1, found = new Array(4 * slot.width * slot.height).fill(0);
    for (let y = 0, to = 0; y < slot.height; y++) {
      const row = 4 * wide * y;
      for (let x = 0; x < slot.width; x++, to += 4) {
        if (made.packed) found[to] = texels[row + x] / scale;
        else for (let c = 0; c < 4; c++) found[to + c] = texels[row + 4 * x + c] / scale;
      }
    }
    return { width: slot.width, height: slot.height, channels: DATA.results[index].channels,
             texels: found };
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

/** What zlib has made a text of. */
async function inflated(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This page needs a browser of 2023 or later: this one cannot unpack what the page holds.");
  }
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Texels of a picture's kind, of RGBA bytes. Grey is what Pillow makes of colours. */
function texelsOf(picture, format, width, height, pixels) {
  const count = width * height, size = format.packed ? 1 : format.size;
  const texels = new format.array(count * size);
  const floats = format.letter === "";
  const half = picture.dtype === "float16";
  const value = floats ? (x) => (half ? halfOf(x / 255) : Math.fround(x / 255))
    : picture.dtype === "bool" ? (x) => (x > 127 ? 1 : 0)
    : picture.dtype === "uint16" && picture.scaled ? (x) => x * 257
    : picture.dtype === "int8" ? (x) => Math.min(x, 127) : (x) => x;
  const grey = (at) => (pixels[at] * 19595 + pixels[at + 1] * 38470 + pixels[at + 2] * 7471 + 32768) >> 16;
  for (let i = 0, at = 0, to = 0; i < count; i++, at += 4, to += size) {
    if (size < 4) {
      texels[to] = value(grey(at));
      if (size === 2) texels[to + 1] = value(pixels[at + 3]);
    } else {
      for (let c = 0; c < 4; c++) texels[to + c] = value(pixels[at + c]);
    }
  }
  return format.packed ? wholeRows(texels, width, height) : texels;
}

/** Pixels of one channel with rows of whole texels. */
function wholeRows(pixels, width, height) {
  const wide = Math.ceil(width / COLUMNS) * COLUMNS;
  if (wide === width) return pixels;
  const texels = new pixels.constructor(wide * height);
  for (let y = 0; y < height; y++) texels.set(pixels.subarray(y * width, (y + 1) * width), y * wide);
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
  const format = formatOf(engine.gl, picture, false);
  let texels = new format.array(await inflated(picture.zlib));
  if (picture.channels === 3) {
    const four = new format.array((texels.length / 3) * 4);
    for (let i = 0; i < texels.length / 3; i++) four.set(texels.subarray(3 * i, 3 * i + 3), 4 * i);
    texels = four;
  }
  if (format.packed) texels = wholeRows(texels, width, height);
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
