"use strict";

const lanes = document.getElementById("lanes");
const connection = document.getElementById("connection");
const problem = document.getElementById("problem");
const blank = document.getElementById("lane");

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

async function order(path, item) {
  try {
    const answer = await fetch(`/${path}/${item}`, { method: "POST" });
    problem.textContent = answer.ok ? "" : (await answer.json()).detail;
  } catch (failure) {
    problem.textContent = `The order for ${item} failed: ${failure.message}`;
  }
}

function open(item) {
  const lane = blank.content.firstElementChild.cloneNode(true);
  lane.id = item;
  lane.querySelector("h2").textContent = item;
  for (const button of lane.querySelectorAll("button")) {
    button.addEventListener("click", () => order(button.dataset.path, item));
  }
  lanes.append(lane);
  return lane;
}

function served(receipt) {
  const row = document.createElement("tr");
  const handOver = receipt.handOverMillis === null
    ? "it was free" : `${receipt.handOverMillis.toFixed(1)} ms`;
  row.dataset.order = receipt.order;
  row.append(element("td", receipt.order), element("td", receipt.till, receipt.till), element("td", receipt.token),
    element("td", handOver));
  return row;
}

function show(state) {
  const lane = document.getElementById(state.item) ?? open(state.item);
  lane.querySelector(".holder").className = `holder ${state.holder}`;
  lane.querySelector(".who").textContent = state.holder ? `held by ${state.holder}` : "free";
  lane.querySelector(".token").textContent = state.token || "none yet";
  lane.querySelector(".sold").textContent = state.sold;
  lane.querySelector(".waiting").replaceChildren(
    ...state.waiting.map(one => element("li", `order ${one.order}, ${one.till}`, one.till)));
  lane.querySelector(".served").replaceChildren(...state.served.map(served));
}

// The browser connects again by itself when the service was away.
const board = new EventSource("/board");
board.onmessage = message => {
  connection.textContent = "live";
  connection.className = "live";
  JSON.parse(message.data).forEach(show);
};
board.onerror = () => {
  connection.textContent = "the service does not answer, trying again";
  connection.className = "";
};
