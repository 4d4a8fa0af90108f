// Makes the registration of service workers fail, as in a browser that does not allow them. Runs in the page's world.
() => {
  if (typeof ServiceWorkerContainer !== "function") return;
  const refused = "Failed to register a ServiceWorker: the user denied permission to use Service Worker.";
  const register = {
    register(_url) {
      return Promise.reject(new DOMException(refused, "SecurityError"));
    },
  }.register;
  Object.defineProperty(ServiceWorkerContainer.prototype, "register", {
    value: register,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
