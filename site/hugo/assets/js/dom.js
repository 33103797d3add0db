// el makes an element of properties and children.
export const el = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

// copyable gives a box of code a button that copies it.
export function copyable(box) {
  if (!navigator.clipboard) return;
  const button = el("button", { type: "button", className: "plain", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  box.append(button);
}
