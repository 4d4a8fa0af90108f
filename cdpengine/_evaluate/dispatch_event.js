// Dispatches an event of a type, with the properties `init`, at an element. The constructor depends on the type.
// Runs in the page's main world, so that the page can read objects among the properties.
(element, type, init) => {
  const KINDS = [
    [/^(click|auxclick|contextmenu|pointer.*|(got|lost)pointercapture)$/, "PointerEvent"],
    [/^(dblclick|mouse(?!wheel).*)$/, "MouseEvent"],
    [/^(wheel|mousewheel)$/, "WheelEvent"],
    [/^(drag.*|drop)$/, "DragEvent"],
    [/^key(down|up|press)$/, "KeyboardEvent"],
    [/^(focus|blur)(in|out)?$/, "FocusEvent"],
    [/^(before)?input$/, "InputEvent"],
    [/^composition.*$/, "CompositionEvent"],
    [/^(copy|cut|paste)$/, "ClipboardEvent"],
    [/^touch.*$/, "TouchEvent"],
    [/^submit$/, "SubmitEvent"],
    [/^animation.*$/, "AnimationEvent"],
    [/^transition.*$/, "TransitionEvent"],
    [/^(before)?toggle$/, "ToggleEvent"],
    [/^device(orientation|orientationabsolute)$/, "DeviceOrientationEvent"],
    [/^devicemotion$/, "DeviceMotionEvent"],
  ];
  const STAYING = /^(focus|blur|(mouse|pointer)(enter|leave)|load|error|scroll|toggle)$/; // they do not bubble
  const touches = (list) => Array.from(list ?? [], (each) => (each instanceof Touch ? each : new Touch({ target: element, ...each })));

  const found = KINDS.find(([pattern]) => pattern.test(type));
  const kind = found ? found[1] : init && "detail" in init ? "CustomEvent" : "Event";
  const properties = { bubbles: !STAYING.test(type), cancelable: true, composed: true, ...init };
  if (kind === "TouchEvent") {
    for (const name of ["touches", "targetTouches", "changedTouches"]) properties[name] = touches(properties[name]);
  }
  // A form may hide its own methods behind fields of their names.
  const target = element instanceof CharacterData ? element.parentElement : element;
  EventTarget.prototype.dispatchEvent.call(target, new window[kind](type, properties));
}
