// A page that was read can be read again without a network, and says that it is such a copy. While
// the network answers, pages come from there: a number that was corrected shows at the next visit.

const READ = "read";
const FOREVER = /\/assets\/(pyodide|editor)-[^/]+/; // the name of what they are changes with it

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(registration.scope)) event.respondWith(answer(event));
});

async function answer(event) {
  const { request } = event;
  const read = await caches.open(READ);
  const kept = () => read.match(request, { ignoreSearch: true });
  if (FOREVER.test(request.url)) {
    const found = await kept();
    if (found) return found;
  }
  try {
    const fresh = await fetch(request);
    if (fresh.status === 200) event.waitUntil(keep(read, request, fresh.clone()));
    return fresh;
  } catch (fault) {
    const found = await kept();
    if (request.mode !== "navigate") return found ?? Response.error();
    return found ? copy(found) : missing(await titles(read));
  }
}

async function keep(read, request, response) {
  const name = request.url.match(FOREVER)?.[0];
  if (name) // of these, the one that is needed now is enough
    for (const old of await read.keys()) {
      const other = old.url.match(FOREVER);
      if (other && other[0] !== name && other[1] === name.match(FOREVER)[1]) await read.delete(old);
    }
  await read.put(request, response);
}

// A page as it was, with a sentence that says so.
async function copy(response) {
  const html = await response.text();
  const said = "You are offline. This is the page as it was when you last opened it.";
  return page(html.replace(/<article[^>]*>/, `$&<p class="offline" role="status">${said}</p>`));
}

async function titles(read) {
  const found = [];
  for (const response of await read.matchAll()) {
    if (!response.headers.get("Content-Type")?.startsWith("text/html")) continue;
    const title = (await response.text()).match(/<h1[^>]*>(.*?)(?:<a |<\/h1>)/s)?.[1].replace(/<[^>]*>/g, "").trim();
    if (title) found.push(`<li><a href="${response.url}">${title}</a></li>`);
  }
  return found.join("");
}

function missing(list) {
  return page(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<meta name="color-scheme" content="light dark"><title>Offline</title>` +
    `<body style="font: 1.1rem/1.5 sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">` +
    `<h1>You are offline</h1><p>This page has not been opened on this device before, so there is no copy of it. ` +
    `${list ? `These have:</p><ul>${list}</ul>` : "</p>"}`,
  );
}

const page = (html) => new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8" } });
