// Sets session storage items of `origin` in a top document of it, unless the storage already has items. Runs in the
// page's world before its scripts.
(origin, items) => {
  try {
    if (self !== top || location.origin !== origin || sessionStorage.length > 0) return;
    for (const [key, value] of items) sessionStorage.setItem(key, value);
  } catch {
    // a document without storage
  }
}
