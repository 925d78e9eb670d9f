"use strict";

const connection = document.getElementById("connection");
const problem = document.getElementById("problem");
const outages = document.getElementById("outages");

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

async function ask(path) {
  problem.textContent = "";
  try {
    const answer = await fetch(`/${path}`, { method: "POST" });
    if (!answer.ok) {
      problem.textContent = (await answer.json()).detail ?? "The service said no.";
    }
  } catch (failure) {
    problem.textContent = `The service did not answer: ${failure.message}`;
  }
}

// Text that does not change is not set again, so that a screen reader says only what is new.
function say(card, part, text, className) {
  const shown = card.querySelector(part);
  if (shown.textContent !== String(text)) {
    shown.textContent = text;
  }
  if (className !== undefined) {
    shown.className = className;
  }
}

function card(kind, name) {
  const made = document.getElementById(kind).content.firstElementChild.cloneNode(true);
  const heading = made.querySelector("h3");
  made.id = name;
  heading.id = `${name}-heading`;
  heading.textContent = name;
  made.setAttribute("aria-labelledby", heading.id);
  for (const button of made.querySelectorAll("[data-path]")) {
    const path = button.dataset.path.replace("ITEM", name);
    button.setAttribute("aria-describedby", heading.id);
    button.addEventListener("click", () => ask(path));
  }
  document.getElementById(`${kind}s`).append(made);
  return made;
}

function openTill(name) {
  const till = card("till", name);
  till.querySelector(".switch").addEventListener("click", event => ask(`tills/${name}/${event.target.dataset.verb}`));
  return till;
}

function showTill({ name, state, numbers }) {
  const till = document.getElementById(name) ?? openTill(name);
  const words = { UP: "open", DOWN: "closed: its process is gone", STARTING: "starting" };
  const button = till.querySelector(".switch");
  say(till, "h3", name, name);
  say(till, ".state", words[state]);
  say(till, ".acquired", numbers.acquired);
  say(till, ".passed", numbers.passed);
  say(till, ".wait", `${numbers.waitMillis.toFixed(1)} ms`);
  say(till, ".hold", `${numbers.holdMillis.toFixed(0)} ms`);
  say(till, ".at-risk", numbers.atRisk);
  say(till, ".lost", numbers.lost);
  button.dataset.verb = state === "UP" ? "kill" : "start";
  button.disabled = state === "STARTING";
  say(till, ".switch", state === "UP" ? `Kill ${name}` : `Start ${name}`);
}

function served(one) {
  const row = document.createElement("tr");
  const handOver = one.handOverMillis === null ? "it was free" : `${one.handOverMillis.toFixed(1)} ms`;
  const bad = one.outcome.startsWith("lost") || one.outcome === "killed";
  row.append(element("td", one.order), element("td", one.till, one.till), element("td", one.token),
    element("td", handOver), element("td", one.outcome || "at work", bad ? "bad" : ""));
  return row;
}

function holder(lane) {
  const till = lane.served[0]?.till;
  switch (lane.state) {
    case "HELD": return `held by ${till}`;
    case "AT_RISK": return `held by ${till}, at risk: the store does not confirm it`;
    case "ABANDONED": return `${till} was killed; free when its lease is over`;
    default: return "free";
  }
}

function showLane(lane) {
  const shown = document.getElementById(lane.item) ?? card("lane", lane.item);
  const till = lane.state === "FREE" ? "" : lane.served[0].till;
  say(shown, ".holder", holder(lane), `holder ${till} ${lane.state}`);
  say(shown, ".token", lane.served[0]?.token ?? "none yet");
  say(shown, ".sold", lane.sold);
  shown.querySelector(".waiting").replaceChildren(
    ...lane.waiting.map(one => element("li", `order ${one.order}, ${one.till}`, one.till)));
  shown.querySelector(".served").replaceChildren(...lane.served.slice(0, 6).map(served));
}

for (const button of outages.querySelectorAll("button")) {
  button.addEventListener("click", () => ask(button.dataset.path));
}

// The browser connects again by itself when the service was away.
const board = new EventSource("/board");
board.onmessage = message => {
  const view = JSON.parse(message.data);
  if (connection.className !== "live") {
    connection.textContent = "live";
    connection.className = "live";
  }
  outages.hidden = !view.outages;
  view.tills.forEach(showTill);
  view.lanes.forEach(showLane);
};
board.onerror = () => {
  connection.textContent = "the service does not answer, trying again";
  connection.className = "";
};
