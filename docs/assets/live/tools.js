// What a reader may do with a figure as it stands. Fetched when it is first asked for.

// The address that leads here, with what has been changed on the page.
export async function link(form, button) {
  const address = location.href.includes(`${form.id}?`) ? location.href : location.href.split("#")[0] + `#${form.id}`;
  try {
    await navigator.clipboard.writeText(address);
    said(button, "Copied");
  } catch {
    prompt("Copy this address:", address); // where a page may not write to the clipboard
  }
}

// The figure alone, as large as the screen: for a projector.
export function enlarge(form) {
  const figure = form.closest("figure");
  if (document.fullscreenElement) document.exitFullscreen();
  else if (figure.requestFullscreen) figure.requestFullscreen();
  else figure.classList.toggle("enlarged"); // a telephone that has no full screen for parts
}

// The drawing as a file that needs no style sheet: each shape takes the colours it has here.
const STYLE = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

export function save(form, button) {
  const drawing = form.querySelector("svg[viewBox]:not(.legend)");
  const copy = drawing.cloneNode(true);
  const shown = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((shape, i) => {
    const style = getComputedStyle(shown[i]);
    for (const name of STYLE) shape.setAttribute(name, style.getPropertyValue(name));
    shape.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  const text = new XMLSerializer().serializeToString(copy);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  Object.assign(document.createElement("a"), { href: address, download: `${form.id}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  said(button, "Saved");
}

// Say so on the button for a while; a screen reader hears what has the focus change its name.
function said(button, word) {
  const name = button.dataset.name ?? button.textContent;
  button.dataset.name = name;
  button.textContent = word;
  setTimeout(() => (button.textContent = name), 2000);
}
