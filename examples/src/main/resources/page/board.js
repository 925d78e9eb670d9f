"use strict";

const connection = document.getElementById("connection");
const problem = document.getElementById("problem");
const instances = document.getElementById("instances");
const lanes = document.getElementById("lanes");
const news = document.getElementById("news");
const metrics = document.getElementById("metrics");

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

/** Only what has changed, so that a screen reader hears of nothing else. */
function say(where, text) {
  if (where.textContent !== `${text}`) {
    where.textContent = text;
  }
}

/** Replaces a list's entries if they are others now. */
function fill(where, entries, make) {
  const key = JSON.stringify(entries);
  if (where.dataset.shown !== key) {
    where.dataset.shown = key;
    where.replaceChildren(...entries.map(make));
  }
}

async function post(path) {
  try {
    const answer = await fetch(path, { method: "POST" });
    say(problem, answer.ok ? "" : (await answer.json()).detail);
  } catch (failure) {
    say(problem, `The page could not ask for it: ${failure.message}`);
  }
}

function copyOf(template, id, title) {
  const made = document.getElementById(template).content.firstElementChild.cloneNode(true);
  const heading = made.querySelector("h3");
  made.id = id;
  heading.id = `${id}-title`;
  heading.textContent = title;
  made.setAttribute("aria-labelledby", heading.id);
  return made;
}

/** What is seen comes first in the name, as it is said to a program that listens. */
function button(made, text, about, action) {
  made.type = "button";
  say(made, text);
  made.setAttribute("aria-label", `${text}: ${about}`);
  made.onclick = action;
  return made;
}

const states = { starting: "is starting", running: "runs", paused: "stands still (paused)", ended: "does not run" };

function showInstance(state) {
  let card = document.getElementById(state.name);
  if (!card) {
    card = copyOf("instance", state.name, state.name);
    card.querySelector("h3").className = state.name;
    instances.append(card);
  }
  card.querySelector(".state").className = `state ${state.status}`;
  say(card.querySelector(".state"), states[state.status]);
  for (const [part, count] of [["waiting", state.waiting], ["holding", state.holding], ["at-risk", state.atRisk],
    ["lost", state.lost]]) {
    say(card.querySelector(`.${part}`), count);
  }
  card.querySelector(".at-risk").classList.toggle("alarm", state.atRisk > 0);
  card.querySelector(".lost").classList.toggle("alarm", state.lost > 0);
  const path = `/instances/${state.name}`;
  const ended = state.status === "ended";
  const kill = card.querySelector(".kill");
  kill.classList.toggle("start", ended);
  button(kill, ended ? "Start" : "Kill (kill -9)", state.name, () => post(`${path}/${ended ? "start" : "kill"}`));
  const paused = state.status === "paused";
  const pause = card.querySelector(".pause");
  // It stays where it is, and focus with it.
  const idle = ended || state.status === "starting";
  pause.setAttribute("aria-disabled", idle);
  button(pause, paused ? "Resume" : "Pause", state.name,
    () => idle || post(`${path}/${paused ? "resume" : "pause"}`));
}

/** Waits for the first start of its instances, so that nobody is refused before there is anything to order at. */
function order(names, text, item, path) {
  const made = element("button", "", "order");
  made.dataset.at = names.join(" ");
  return button(made, text, item, () => made.ariaDisabled === "true" || post(path));
}

function openLane(item, names) {
  const lane = copyOf("lane", item, item);
  const buttons = lane.querySelector(".buttons");
  for (const name of names) {
    buttons.append(order([name], `Order at ${name}`, item, `/instances/${name}/orders/${item}`));
  }
  buttons.append(order(names, "Six at once", item, `/rushes/${item}`));
  lanes.append(lane);
  return lane;
}

function time(millis) {
  return millis < 1000 ? `${millis.toFixed(1)} ms` : `${(millis / 1000).toFixed(1)} s`;
}

function handOver(row) {
  if (row.after === null) {
    return "it was free";
  }
  return row.handOverMillis === null ? `after ${row.after}` : `${time(row.handOverMillis)} after ${row.after}`;
}

function served(row) {
  const made = document.createElement("tr");
  made.dataset.token = row.token;
  // What tells it from the others; the lane has the whole of the latest.
  made.append(element("td", row.instance, row.instance), element("td", `…${row.token.slice(-10)}`),
    element("td", row.end), element("td", handOver(row)));
  return made;
}

function holding(state, all) {
  if (!state.holder) {
    return "free";
  }
  const ended = all.some(one => one.name === state.holder && one.status === "ended");
  return `held by ${state.holder}${ended ? ", which is no more: its lease runs out" : state.atRisk ? ", at risk" : ""}`;
}

function showLane(state, all) {
  const lane = document.getElementById(state.item) ?? openLane(state.item, all.map(one => one.name));
  for (const made of lane.querySelectorAll(".order")) {
    made.ariaDisabled = made.dataset.at.split(" ").some(name => all.find(one => one.name === name).status === "starting");
  }
  const holder = lane.querySelector(".holder");
  holder.className = `holder ${state.holder || "free"}${state.atRisk ? " risky" : ""}`;
  say(holder, holding(state, all));
  say(lane.querySelector(".token"), state.token || "none yet");
  say(lane.querySelector(".sold"), state.sold);
  say(lane.querySelector(".moves"), `${state.moves} ×`);
  fill(lane.querySelector(".queue"), state.waiting,
    one => element("li", `customer ${one.number} at ${one.instance}`, one.instance));
  fill(lane.querySelector(".served"), state.served, served);
}

/** A log: what is new is added at its end, and said. */
function showNews(all) {
  const last = Number(news.lastElementChild?.dataset.number ?? 0);
  if (all.length && all[all.length - 1].number < last) {
    news.replaceChildren();
  }
  for (const one of all.filter(one => one.number > Number(news.lastElementChild?.dataset.number ?? 0))) {
    const line = element("li", one.text);
    line.dataset.number = one.number;
    news.append(line);
  }
  while (news.children.length > 8) {
    news.firstElementChild.remove();
  }
}

function row(kind, cells) {
  const made = document.createElement("tr");
  const head = element("th", cells[0]);
  head.scope = "row";
  made.append(head, ...cells.slice(1).map(cell => element(kind, cell)));
  return made;
}

/** Of a timer there are the count and the milliseconds of all; people want to know the mean. */
function value(of, name) {
  const count = name.endsWith(".ms") ? of[name.replace(/ms$/, "count")] : 1;
  if (of[name] === undefined || count === 0) {
    return "–";
  }
  return Number.isInteger(of[name]) && count === 1 && !name.endsWith(".ms") ? of[name] : (of[name] / count).toFixed(1);
}

function showMetrics(all) {
  const names = [...new Set(all.flatMap(one => Object.keys(one.metrics)))].sort();
  fill(metrics.tHead, [["meter", ...all.map(one => one.name)]], cells => {
    const head = row("th", cells);
    head.querySelectorAll("th").forEach(cell => { cell.scope = "col"; });
    return head;
  });
  fill(metrics.tBodies[0], names.map(name => [
    name.replace(/\.ms$/, ", mean ms").replace(/\.count$/, ", count"), ...all.map(one => value(one.metrics, name))]),
    cells => row("td", cells));
  metrics.classList.toggle("empty", names.length === 0);
}

// The browser connects again by itself when the service was away.
const board = new EventSource("/board");
board.onmessage = message => {
  const view = JSON.parse(message.data);
  const starting = view.instances.every(one => one.status === "starting");
  say(connection, starting ? "the instances are starting, which takes a few seconds" : "live");
  connection.className = starting ? "starting" : "live";
  document.querySelectorAll(".placeholder").forEach(one => one.remove());
  view.instances.forEach(showInstance);
  view.lanes.forEach(lane => showLane(lane, view.instances));
  showNews(view.news);
  showMetrics(view.instances);
};
board.onerror = () => {
  say(connection, "the page's service does not answer, trying again");
  connection.className = "";
};
