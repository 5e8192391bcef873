// Pictures that a PyGPU process computes, for what a browser cannot: an engine of the page that asks
// for them. One question is under way at a time; what changes meanwhile is asked next.

class Served {
  constructor() {
    this.gl = { isContextLost: () => false };
    this.asking = false;
    this.again = false;
    this.first = new Promise((resolve) => { this.shownFirst = resolve; });
    this.read = () => this.last;
  }

  run() {}

  show() {
    this.again = true;
    if (!this.asking) this.ask();
  }

  async ask() {
    this.asking = true;
    try {
      while (this.again) {
        this.again = false;
        const asked = DATA.controls.map((c) => [c.name, values.get(c.name)]);
        const answer = await fetch("frame", { method: "POST", body: JSON.stringify(Object.fromEntries(asked)) });
        if (!answer.ok) throw new Error(await answer.text());
        const [width, height] = answer.headers.get("X-Size").split(" ").map(Number);
        this.draw(width, height, new Uint8ClampedArray(await answer.arrayBuffer()));
      }
    } catch (error) {
      failed(error instanceof TypeError ? new Error("The process that computes the pictures has ended.") : error);
    }
    this.asking = false;
    this.shownFirst();
  }

  draw(width, height, texels) {
    resize(width, height);
    canvas.getContext("2d").putImageData(new ImageData(texels, width, height), 0, 0);
    this.last = { width, height, channels: 4, texels: Array.from(texels, (x) => x / 255) };
  }
}
