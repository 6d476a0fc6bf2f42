// Where the parts of the page stand. Texts of a plot must lie within it and must not cover each
// other; cells must hold their text; nothing may be wider than the page.
addEventListener("load", () => {
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  const bad = [];
  const name = (element) => element.textContent.trim().slice(0, 60);
  let texts = 0;
  for (const svg of document.querySelectorAll("svg")) {
    const sheet = svg.getBoundingClientRect();
    const all = [...svg.querySelectorAll("text")].map((text) => {
      const box = text.getBoundingClientRect();
      if (box.left < sheet.left - 1 || box.right > sheet.right + 1 ||
          box.top < sheet.top - 1 || box.bottom > sheet.bottom + 1) {
        bad.push(`outside of its plot: ${name(text)}`);
      }
      return [text, box];
    });
    texts += all.length;
    // A box is as high as the line, with room for letters that few texts have.
    const covers = (a, b) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.3 * Math.min(a.height, b.height);
    all.forEach(([text, box], index) => {
      for (const [other, theirs] of all.slice(index + 1)) {
        if (covers(box, theirs)) bad.push(`covered: ${name(text)} | ${name(other)}`);
      }
    });
  }
  for (const cell of document.querySelectorAll("td, th")) {
    if (cell.scrollWidth > cell.clientWidth + 1) bad.push(`wider than its cell: ${name(cell)}`);
  }
  const main = document.querySelector("main").getBoundingClientRect();
  for (const part of document.querySelectorAll("h1, h2, p, figcaption, svg, summary")) {
    const box = part.getBoundingClientRect();
    if (box.right > main.right + 1 || box.width === 0) bad.push(`out of the page: ${name(part)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) bad.push("wider than the window");
  const ink = document.querySelector("svg text");
  const measured = document.createElement("pre");
  measured.id = "measured";
  measured.textContent = JSON.stringify({
    bad,
    plots: document.querySelectorAll("svg").length,
    texts,
    tables: document.querySelectorAll("table").length,
    headings: [...document.querySelectorAll("h2")].map(name),
    captions: [...document.querySelectorAll("figcaption")].map((c) => c.textContent),
    words: [...document.querySelectorAll("svg text")].map((t) => t.textContent.trim()),
    loaded: performance.getEntriesByType("resource").map((entry) => entry.name),
    back: getComputedStyle(document.documentElement).backgroundColor,
    ink: ink && getComputedStyle(ink).fill,
    height: Math.ceil(document.documentElement.scrollHeight),
  });
  document.body.append(measured);
});
