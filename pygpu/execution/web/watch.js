// What becomes of what was drawn: says so where it takes long, fails, or where the browser takes the
// graphics device away. WebGL computes later than it is called, and reports nothing by itself.

const PATIENCE = 2000;     // milliseconds until the page says that it waits
const BEHIND = 500;        // milliseconds that may be computed before nothing more is asked for
const GIVEN_BACK = 10000;  // milliseconds within which browsers give a device back
const LONG = "The program takes too long on this graphics device, and the browser has stopped it. "
  + "Move a control or open a smaller picture to try again.";
const watch = { fence: null, since: 0, told: false, stopped: false };

/** How long the device has computed what was drawn and is not yet done. */
function computing() {
  return watch.fence === null ? 0 : performance.now() - watch.since;
}

/** Have an eye on what was drawn just now. */
function watched(gl) {
  if (watch.fence !== null) return;
  watch.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  watch.since = performance.now();
  gl.flush();
  if (watch.fence !== null) setTimeout(() => look(gl, watch.fence), 20);
}

function look(gl, fence) {
  if (watch.fence !== fence) return;  // of a device that was taken away
  if (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) {
    if (computing() > PATIENCE) {
      const seconds = Math.round(computing() / 1000);
      say(`The graphics device has been preparing or running the program for ${seconds} s; the picture comes when it is done.`);
      watch.told = true;
    }
    setTimeout(() => look(gl, fence), 100);
    return;
  }
  gl.deleteSync(fence);
  if (watch.told || watch.stopped) say("");
  Object.assign(watch, { fence: null, told: false, stopped: false });
  if (engine.fresh) proven(gl);
}

/** Ask whether what was drawn for the first time went wrong: WebGL leaves zeros then. */
function proven(gl) {
  engine.fresh = false;
  const error = gl.getError();
  if (error === gl.NO_ERROR || gl.isContextLost()) return;
  failed(new Error(error === gl.OUT_OF_MEMORY ? "The graphics device has too little memory for this picture: open a smaller one."
    : `The browser's driver could not draw this (error ${error}).`));
}

canvas.addEventListener("webglcontextlost", (event) => {
  event.preventDefault();
  watch.stopped = computing() > PATIENCE;
  Object.assign(watch, { fence: null, told: false });
  say(watch.stopped ? LONG : "The browser has taken the graphics device away; the picture comes back with it.", true);
  setTimeout(() => {
    if (isLost()) say("The browser has taken the graphics device away and does not give it back: reload the page.", true);
  }, GIVEN_BACK);
});

// A program that took too long is not run again by itself: the browser would stop it again.
canvas.addEventListener("webglcontextrestored", () => {
  if (!watch.stopped) say("");
  window.pygpu.ready = start(!watch.stopped).catch(failed);
});
