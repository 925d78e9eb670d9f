// What is wrong with the page for people who do not see, see little, or use no mouse: a list of sentences.
const found = [];
const shown = [...document.body.querySelectorAll("*")].filter(one =>
  one.checkVisibility() && !["SCRIPT", "TEMPLATE"].includes(one.tagName));
const named = one => `<${one.tagName.toLowerCase()}> "${one.textContent.trim().slice(0, 40)}"`;

function channels(color) {
  const numbers = color.match(/[\d.]+/g).map(Number);
  return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
}
function luminance(color) {
  const [r, g, b] = channels(color).rgb.map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function background(one) {
  for (let at = one; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (channels(color).alpha === 1) {
      return color;
    }
  }
  return "rgb(255, 255, 255)";
}
function contrast(one, other) {
  const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

for (const one of shown) {
  const style = getComputedStyle(one);
  const hasText = [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  if (hasText && contrast(style.color, background(one)) < 4.5) {
    found.push(`too little contrast: ${named(one)}, ${style.color} on ${background(one)}`);
  }
  if (hasText && parseFloat(style.fontSize) < 13) {
    found.push(`too small: ${named(one)}, ${style.fontSize}`);
  }
  if (one.tagName === "BUTTON") {
    const box = one.getBoundingClientRect();
    if (box.width < 24 || box.height < 24) {
      found.push(`too small to hit: ${named(one)}`);
    }
    if (!one.getAttribute("aria-label").startsWith(one.textContent)) {
      found.push(`not named as it looks: ${named(one)}`);
    }
    if (contrast(style.borderTopColor, background(one.parentElement)) < 3) {
      found.push(`an edge that is hard to see: ${named(one)}`);
    }
  }
  if (one.tagName === "TABLE" && !one.caption) {
    found.push(`a table without a caption: ${named(one)}`);
  }
  if (one.tagName === "TH" && !one.scope) {
    found.push(`a heading of what: ${named(one)}`);
  }
  if (["LI"].includes(one.tagName) && !["OL", "UL"].includes(one.parentElement.tagName)) {
    found.push(`an entry of no list: ${named(one)}`);
  }
}
for (const id of shown.map(one => one.id).filter((id, at, all) => id && all.indexOf(id) !== at)) {
  found.push(`the id ${id} twice`);
}
for (const one of document.querySelectorAll("[aria-labelledby]")) {
  if (!document.getElementById(one.getAttribute("aria-labelledby"))) {
    found.push(`named by nothing: ${named(one)}`);
  }
}
shown.filter(one => /^H[1-6]$/.test(one.tagName)).reduce((level, heading) => {
  const next = Number(heading.tagName[1]);
  if (next > level + 1) {
    found.push(`a level of headings is left out before ${named(heading)}`);
  }
  return next;
}, 0);
if (!document.documentElement.lang) {
  found.push("no language");
}
if (document.documentElement.scrollWidth > innerWidth) {
  found.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
}
for (const one of performance.getEntriesByType("resource").filter(one => !one.name.startsWith(location.origin))) {
  found.push(`from elsewhere: ${one.name}`);
}
return found;
