// The shop's own state and how it is shown. Prices are whole cents.
"use strict";

(() => {
  const COUPONS = { SLOW10: 10 };
  const cart = [];
  let discount = 0;

  const find = (selector) => document.querySelector(selector);
  const money = (cents) => (cents / 100).toFixed(2);

  function show() {
    const sum = cart.reduce((cents, product) => cents + product.price, 0);
    const lines = cart.map((product) => {
      const line = document.createElement("li");
      line.append(product.name, Object.assign(document.createElement("span"), { textContent: money(product.price) }));
      return line;
    });
    if (lines.length > 0) find("#lines").replaceChildren(...lines);
    find("#count").textContent = String(cart.length);
    find("#total").textContent = money(Math.round(sum * (100 - discount) / 100));
    find("#checkout").disabled = cart.length === 0;
  }

  for (const button of document.querySelectorAll("button[data-product]")) {
    button.addEventListener("click", () => {
      cart.push({ name: button.dataset.name, price: Number(button.dataset.price) });
      show();
    });
  }

  find("#coupon-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const percent = COUPONS[find("#coupon").value.trim().toUpperCase()];
    discount = percent ?? 0;
    find("#coupon-note").textContent = percent ? `${percent} % off, enjoy` : "We do not know this code";
    show();
  });

  show();
})();
