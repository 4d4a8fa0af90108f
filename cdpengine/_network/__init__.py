"""The network as a page sees it: requests intercepted, headers sent along, connections slow or cut."""
