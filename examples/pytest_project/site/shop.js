const list = document.querySelector("ul");
const status = document.querySelector("[role=status]");
const undo = document.querySelector("body > button");

async function order(item) {
  const response = await fetch("/api/orders", { method: "POST", body: JSON.stringify({ item }) });
  if (!response.ok) {
    status.textContent = "The order failed";
    return;
  }
  const made = await response.json();
  status.textContent = `Order ${made.number}: ${made.item}`;
  undo.disabled = false;
}

undo.addEventListener("click", () => {
  status.textContent = "No orders";
});

async function showItems() {
  const items = await (await fetch("/api/items")).json();
  list.replaceChildren(
    ...items.map(({ name, price }) => {
      const line = document.createElement("li");
      const button = document.createElement("button");
      button.textContent = "Order";
      button.setAttribute("aria-label", `Order ${name}`);
      button.addEventListener("click", () => order(name));
      line.append(`${name}: ${price} euros `, button);
      return line;
    }),
  );
}

showItems();
