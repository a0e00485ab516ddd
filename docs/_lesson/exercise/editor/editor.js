// CodeMirror over the exercise's plain text box. The box stays the one that is read and kept:
// it follows what is written here, and its "change" event brings what others put into it.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

// Escape gives Tab back to the page: until the next change, or until the editor is left.
const leave = { key: "Escape", run: (view) => (view.setTabFocusMode(true), false) };
const stay = EditorView.domEventHandlers({ blur: (_, view) => view.setTabFocusMode(false) });

const replace = (view, text) =>
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });

// `before` is what the box held when it was first touched: what was typed since can be undone.
// `box` is labelled by `label` and described by `help`; `run` does what its first button does.
export function attach(box, before, { run, label, help }) {
  const follow = EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    update.view.setTabFocusMode(false);
    box.value = update.state.doc.toString();
    box.dispatchEvent(new Event("input"));
  });
  const runs = () => (run(), true);
  const focused = document.activeElement === box;
  const { selectionStart: anchor, selectionEnd: head, scrollTop, offsetHeight, value } = box;
  const view = new EditorView({
    doc: before,
    extensions: [
      lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(),
      history(), bracketMatching(), indentOnInput(), indentUnit.of("    "),
      EditorState.tabSize.of(4), python(), syntaxHighlighting(classHighlighter), stay, follow,
      EditorView.contentAttributes.of({
        "aria-labelledby": label.id, "aria-describedby": help.id, spellcheck: "false", tabindex: "0",
      }),
      keymap.of([
        { key: "Ctrl-Enter", run: runs }, { key: "Mod-Enter", run: runs },
        leave, indentWithTab, ...historyKeymap, ...defaultKeymap,
      ]),
    ],
  });
  if (value !== before) replace(view, value);
  view.dispatch({ selection: { anchor, head } });
  view.dom.style.minHeight = `${offsetHeight}px`; // nothing below it moves
  box.before(view.dom);
  box.hidden = true;
  box.addEventListener("change", () => box.value !== view.state.doc.toString() && replace(view, box.value));
  label.removeAttribute("for");
  label.addEventListener("click", () => view.focus());
  if (focused) view.focus();
  view.scrollDOM.scrollTop = scrollTop;
}
