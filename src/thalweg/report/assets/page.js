const { charts, config, paper } = JSON.parse(document.getElementById("specs").textContent);
const PICTURE_WIDTH = 720;
const PRINTED_WIDTH = 660; // A4 within its margins
const views = [];

async function draw(id, spec) {
  const options = { config, renderer: "svg", actions: false, defaultStyle: false };
  const tooltip = { theme: "page", disableDefaultStyle: true };
  const { view } = await vegaEmbed(`#${id}-chart`, spec, { ...options, tooltip });
  views.push(view);
  addZoom(id, spec, view);
}

async function drawOrExplain(id) {
  try {
    await draw(id, charts[id]);
  } catch (error) {
    document.getElementById(`${id}-chart`).textContent = "This chart could not be drawn.";
    console.error(id, error);
  }
}

// Charts of a folded part have no width before it is opened, and are drawn then.
const isFolded = (id) => document.getElementById(id).closest("details:not([open])") !== null;
for (const part of document.querySelectorAll("details")) {
  part.addEventListener("toggle", async () => {
    for (const figure of part.querySelectorAll("figure:not([data-drawn])")) {
      figure.dataset.drawn = "true";
      await drawOrExplain(figure.id);
    }
    part.dataset.chartsReady = "true";
  });
}

// Charts are drawn one after the other, so that the page can be read and scrolled meanwhile.
for (const id of Object.keys(charts).filter((name) => !isFolded(name))) {
  document.getElementById(id).dataset.drawn = "true";
  await drawOrExplain(id);
}
document.documentElement.dataset.chartsReady = "true";

// Saved pictures are drawn again, at a fixed width and in the colours for print.
async function picture(id, kind) {
  const spec = { ...charts[id], width: PICTURE_WIDTH, background: "white", padding: 10 };
  const embedded = await vegaEmbed(document.createElement("div"), spec, { config: paper, actions: false });
  const address = await embedded.view.toImageURL(kind, 2);
  embedded.finalize();
  return address;
}

document.addEventListener("click", async (event) => {
  const { figure, kind } = event.target.dataset;
  if (!figure) return;
  const link = document.createElement("a");
  link.href = await picture(figure, kind);
  link.download = `${figure}.${kind}`;
  link.click();
});

// Charts are drawn again for print: shrunk from a wide screen, their text would be too small.
addEventListener("beforeprint", () => {
  for (const view of views) view.width(Math.min(view.width(), PRINTED_WIDTH)).run();
});
addEventListener("afterprint", () => dispatchEvent(new Event("resize")));
