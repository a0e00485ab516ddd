// node run.mjs FOLDER: compile the standard library of the Pyodide in a folder, in its place.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
const library = `${folder}/python_stdlib.zip`;
python.FS.writeFile("library.zip", readFileSync(library));
python.FS.writeFile("library.py", readFileSync(new URL("library.py", import.meta.url)));
python.runPython("import sys; sys.path.insert(0, ''); import library; library.compile_all('library.zip')");
writeFileSync(library, python.FS.readFile("library.zip"));
