// What Material's script adds to a page lacks two things that a keyboard or a screen reader
// needs: a box that scrolls takes the focus, and the frame of a copy button is no landmark.
{
  const boxes = ".md-typeset__scrollwrap, .formula, .md-typeset pre > code";
  const tidy = () => {
    for (const box of document.querySelectorAll(boxes))
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    for (const frame of document.querySelectorAll(".md-code__nav:not([role])"))
      frame.setAttribute("role", "none");
  };
  let due;
  const soon = () => { cancelAnimationFrame(due); due = requestAnimationFrame(tidy); };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", soon);
  addEventListener("toggle", soon, true); // a question that opens
  soon();
}
