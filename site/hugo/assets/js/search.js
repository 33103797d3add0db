// Search over titles of pages, points and rules, names of settings and the words of what people wrote, from an index fetched at the first key.
let index;
async function load(url) {
  index ??= fetch(url).then((r) => r.json());
  try {
    return await index;
  } catch {
    index = undefined; // the next key asks again
    return [];
  }
}

// plain makes a flag and the field it sets alike.
const plain = (text) => text.toLowerCase().replaceAll("_", "-");
const wordsOf = (text) => plain(text).split(/\s+/).map((w) => w.replace(/^-+/, "")).filter(Boolean);

function score(title, words) {
  const t = plain(title);
  let s = 0;
  for (const w of words) {
    const at = t.indexOf(w);
    if (at < 0) return -1;
    s += at === 0 ? 3 : /[\s/·(.-]/.test(t[at - 1]) ? 2 : 1;
  }
  return s - t.length / 500;
}

// rank is of an entry's title and address or, where it has words of its text, of those that begin so.
function rank([title, url, , text], words) {
  const s = score(`${title} ${url}`, words), within = text && ` ${plain(text)}`;
  return within && words.every((w) => within.includes(` ${w}`)) ? Math.max(s, 1.5 * words.length) : s;
}

export function search(box) {
  const input = box.querySelector("input");
  const list = box.querySelector("ul");
  let at = -1;
  box.hidden = false;

  const select = (i) => {
    const items = list.children;
    at = items.length ? (i + items.length) % items.length : -1;
    [...items].forEach((li, n) => li.setAttribute("aria-selected", String(n === at)));
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", items[at].id);
      items[at].scrollIntoView({ block: "nearest" });
    }
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const go = (li) => li?.dataset.url && (location.href = new URL(box.dataset.root + li.dataset.url, location.href).href);

  async function show() {
    const entries = await load(`${box.dataset.root}data/search.json`);
    const words = wordsOf(input.value);
    if (!words.length) return close();
    const hits = entries.map((e) => [rank(e, words), e]).filter((h) => h[0] >= 0)
      .sort((a, b) => b[0] - a[0]).slice(0, 12);
    list.replaceChildren(...hits.map(([, [title, url, kind]], n) => {
      const li = document.createElement("li");
      li.id = `found-${n}`;
      li.role = "option";
      li.dataset.url = url;
      li.textContent = title;
      const small = document.createElement("small");
      small.textContent = kind;
      li.prepend(small);
      li.addEventListener("mousedown", () => go(li));
      return li;
    }));
    if (!hits.length) {
      const li = document.createElement("li");
      li.role = "option";
      li.textContent = "Nothing found";
      list.append(li);
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    select(0);
  }
  input.addEventListener("input", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown") select(at + 1);
    else if (e.key === "ArrowUp") select(at - 1);
    else if (e.key === "Enter") go(list.children[at]);
    else if (e.key === "Escape") close();
    else return;
    e.preventDefault();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    e.preventDefault();
    input.focus();
  });
}
