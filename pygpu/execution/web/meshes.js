// Meshes: vertices and triangles in buffers, drawn by WebGL's rasteriser into textures of floats,
// which are copied to the slots of the results.

const OUT = "out vec4 colour;", HERE = "texelFetch(image, p, 0)";
const PIXEL = "texelFetch(image, ivec2(p.x >> 2, p.y), 0)[p.x & 3]";
const FOUR = [0, 1, 2, 3].map((k) => `texelFetch(image, p * ivec2(4, 1) + ivec2(${k}, 0), 0).r`);
const COPIES = {
  colour: [OUT, `colour = ${HERE};`],
  "packed colour": [OUT, `colour = vec4(${PIXEL});`],
  "packed depth": ["", `gl_FragDepth = ${PIXEL};`],
  pack: [OUT, `colour = vec4(${FOUR});`],
};
const ROUNDED = "This browser cannot blend floats of 32 bits, or take several samples of them: what is drawn is rounded.";

class Meshes {
  constructor(engine) {
    this.engine = engine;
    this.gl = engine.gl;
    this.blends = this.gl.getExtension("EXT_float_blend") !== null;
    this.copies = {};
    this.arrays = new Map();   // vertex arrays, by mesh and program
    this.targets = new Map();  // what is drawn into, by what it is like
  }

  /** Put all meshes into buffers. */
  async load() {
    const gl = this.gl;
    this.buffers = [];
    for (const mesh of DATA.meshes) {
      const attributes = {};
      for (const [name, packed] of Object.entries(mesh.attributes)) {
        attributes[name] = [this.buffer(gl.ARRAY_BUFFER, await floatsOf(packed)), packed.size];
      }
      const triangles = await wholeOf(mesh.triangles);
      this.buffers.push({ attributes, triangles: this.buffer(gl.ELEMENT_ARRAY_BUFFER, triangles),
                          count: triangles.length });
    }
  }

  buffer(kind, values) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(kind, buffer);
    this.gl.bufferData(kind, values, this.gl.STATIC_DRAW);
    return buffer;
  }

  /** The vertices of a step, bound as its program asks for them. */
  vertices(step, program) {
    const gl = this.gl, key = `${step.mesh} ${step.draws[0].program}`;
    if (!this.arrays.has(key)) {
      const array = gl.createVertexArray(), mesh = this.buffers[step.mesh];
      gl.bindVertexArray(array);
      for (const [name, attribute] of step.attributes) {
        const place = gl.getAttribLocation(program.program, name);
        if (place < 0) continue;
        const [buffer, size] = mesh.attributes[attribute];
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
      }
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles);
      this.arrays.set(key, array);
    }
    return this.arrays.get(key);
  }

  draw(step, values) {
    const gl = this.gl, made = step.outputs.map((index) => this.engine.target(index));
    const { width, height } = made[0];
    const target = this.target(step, width, height);
    gl.viewport(0, 0, width, height);
    this.begin(step, target);
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    const program = this.engine.use(step.draws[0], values, width);
    this.set(step);
    gl.bindVertexArray(this.vertices(step, program));
    gl.drawElements(gl.TRIANGLES, this.buffers[step.mesh].count, gl.UNSIGNED_INT, 0);
    gl.bindVertexArray(null);
    for (const each of [gl.DEPTH_TEST, gl.CULL_FACE, gl.BLEND]) gl.disable(each);
    this.finish(target, made);
  }

  /** How the step draws. y is turned over, and with it which side is the front. */
  set({ depth, cull, blend }) {
    const gl = this.gl;
    if (depth) {
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LESS);
    }
    if (cull) {
      gl.enable(gl.CULL_FACE);
      gl.frontFace(gl.CW);
      gl.cullFace(cull === "back" ? gl.BACK : gl.FRONT);
    }
    if (blend) {
      gl.enable(gl.BLEND);
      gl.blendFunc(...{ alpha: [gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA], add: [gl.ONE, gl.ONE],
                        multiply: [gl.DST_COLOR, gl.ZERO] }[blend]);
    }
  }

  // ---------------------------------------------------------- what is drawn into

  /** The format of what a step draws into, and how many samples it has: floats of 32 bits where the
   * browser blends them and takes as many samples. */
  format(step) {
    const gl = this.gl, floats = this.blends || !step.blend ? [gl.RGBA32F] : [];
    const halves = gl.hasHalves ? [gl.RGBA16F] : [];
    const formats = [...(gl.hasFloats ? floats : []), ...halves, gl.RGBA8];
    if (step.samples === 1) return [formats[0], 0];
    for (const format of formats) {
      const counts = [...gl.getInternalformatParameter(gl.RENDERBUFFER, format, gl.SAMPLES)];
      const enough = counts.filter((count) => count >= step.samples);
      if (enough.length) return [format, Math.min(...enough)];
    }
    const counts = gl.getInternalformatParameter(gl.RENDERBUFFER, gl.RGBA8, gl.SAMPLES);
    return [gl.RGBA8, counts[0] ?? 0];
  }

  target(step, width, height) {
    const count = step.channels.length, [format, samples] = this.format(step);
    const key = [width, height, count, format, samples, step.depth].join();
    if (!this.targets.has(key)) {
      this.targets.set(key, this.newTarget(step, width, height, format, samples));
      if (format !== this.gl.RGBA32F) say(ROUNDED);
    }
    return this.targets.get(key);
  }

  newTarget(step, width, height, format, samples) {
    const gl = this.gl, each = step.channels.map((_, index) => gl.COLOR_ATTACHMENT0 + index);
    const drawn = each.map(() => this.storage(format, width, height, samples));
    const plain = samples ? each.map(() => this.storage(format, width, height, 0)) : drawn;
    const depths = step.depth ? this.storage(gl.DEPTH_COMPONENT32F, width, height, samples) : null;
    const frame = this.frame(drawn.map((storage, index) => [each[index], storage]), depths);
    const alone = (storages) => storages.map((storage) => this.frame([[each[0], storage]], null));
    return { frame, drawn, plain, depths, width, height, samples, drawnAlone: alone(drawn),
             plainAlone: samples ? alone(plain) : null,
             depthsAlone: depths && !samples ? this.frame([], depths) : null };
  }

  /** A texture, or of several samples a renderbuffer. */
  storage(format, width, height, samples) {
    const gl = this.gl;
    if (samples) {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      return { buffer };
    }
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    return { texture };
  }

  frame(colours, depths) {
    const gl = this.gl, frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const all = depths ? [...colours, [gl.DEPTH_ATTACHMENT, depths]] : colours;
    for (const [place, { texture, buffer }] of all) {
      if (buffer) gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
      else gl.framebufferTexture2D(gl.FRAMEBUFFER, place, gl.TEXTURE_2D, texture, 0);
    }
    gl.drawBuffers(colours.length ? colours.map(([place]) => place) : [gl.NONE]);
    return frame;
  }

  /** Clear, or put there what is drawn over. */
  begin(step, target) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    if (step.depth) gl.clearBufferfv(gl.DEPTH, 0, [1]);
    if (!step.onto.length) step.clear.forEach((colour, index) => gl.clearBufferfv(gl.COLOR, index, colour));
    step.onto.forEach((index, place) => {
      const slot = this.engine.slot(index);
      this.copy(slot.made.packed ? "packed colour" : "colour", slot.texture, target.drawnAlone[place]);
    });
    for (const index of step.depths) {
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.ALWAYS);
      this.copy("packed depth", this.engine.slot(index).texture, target.depthsAlone);
      gl.disable(gl.DEPTH_TEST);
    }
  }

  /** Copy what was drawn to the slots of the results: colours, then depths where they are kept. */
  finish(target, made) {
    const gl = this.gl, { width, height } = target;
    target.plainAlone?.forEach((frame, index) => {
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, target.drawnAlone[index]);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, frame);
      gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    });
    made.forEach((slot, index) => {
      const { texture } = target.plain[index] ?? target.depths;
      gl.viewport(0, 0, across(slot.made, width), height);
      this.copy(slot.made.packed ? "pack" : "colour", texture, this.engine.frame([slot]));
    });
  }

  /** Draw a texture over a framebuffer, by one of the programs that copy. */
  copy(name, texture, frame) {
    const gl = this.gl, [declared, statement] = COPIES[name];
    this.copies[name] ??= compile(gl, SHOW_VERTICES, `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
uniform sampler2D image;
${declared}
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  ${statement}
}`);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.useProgram(this.copies[name]);
    bind(gl, texture, 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

// ------------------------------------------------------------ vertices: execution/web/vertices.py

/** Numbers of 32 bits that stand in a text byte after byte: so many columns. */
async function columnsOf(text, count) {
  const bytes = new Uint8Array(await inflated(text)), length = bytes.length / 4 / count;
  const found = new Uint8Array(bytes.length);
  for (let column = 0, from = 0; column < count; column++) {
    for (let byte = 0; byte < 4; byte++) {
      for (let at = 0; at < length; at++) found[4 * (column * length + at) + byte] = bytes[from++];
    }
  }
  const whole = new Uint32Array(found.buffer);
  return Array.from({ length: count }, (_, column) => whole.subarray(column * length, (column + 1) * length));
}

/** 0, 1, 2, 3 ... as 0, -1, 1, -2 ... */
const signed = (number) => (number >>> 1) ^ -(number & 1);

/** Whole numbers, of which the text has how each differs from the one before. */
async function wholeOf(text) {
  const [numbers] = await columnsOf(text, 1);
  for (let at = 0, last = 0; at < numbers.length; at++) numbers[at] = last = (last + signed(numbers[at])) >>> 0;
  return numbers;
}

/** The floats of an attribute, of which the text has how far each is from what is foretold. */
async function floatsOf({ size, data, terms, places }) {
  const columns = await columnsOf(data, size), count = columns[0].length;
  const found = new Float32Array(count * size), bits = new Uint32Array(found.buffer);
  const foretold = new Float32Array(1), told = new Uint32Array(foretold.buffer);
  columns.forEach((column, part) => {
    const factors = factorsOf(...terms[part]);
    for (let at = 0; at < count; at++) {
      let sum = 0;
      for (const [lag, factor] of factors) if (lag <= at) sum += factor * found[(at - lag) * size + part];
      foretold[0] = sum;
      const order = told[0] >>> 31 ? ~told[0] : told[0] | (1 << 31);
      const place = (order + signed(column[at])) >>> 0;
      bits[at * size + part] = place >>> 31 ? place & 0x7fffffff : ~place;
    }
  });
  if (places === undefined) return found;
  const all = await wholeOf(places), every = new Float32Array(all.length * size);
  all.forEach((place, at) => every.set(found.subarray(place * size, (place + 1) * size), at * size));
  return every;
}

/** How many vertices before, and times what: so differences of these degrees are 0. */
function factorsOf(along, across, row) {
  const found = [];
  for (let i = 0; i <= along; i++) {
    for (let j = 0; j <= across; j++) {
      const sign = (i + j) % 2 ? 1 : -1;
      if (i || j) found.push([i + j * row, sign * choose(along, i) * choose(across, j)]);
    }
  }
  return found;
}

function choose(n, k) {
  let ways = 1;
  for (let i = 0; i < k; i++) ways = (ways * (n - i)) / (i + 1);
  return ways;
}
