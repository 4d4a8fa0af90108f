// Checks one document with axe-core. Called in the world that has axe. `partial` is for `axe.finishRun` in the main
// frame. `children` has, for each frame element in the document, its selectors and the context of its document.
async (context, options) => {
  // axe-core finds nothing for an unknown tag, which would look like a page without issues.
  for (const tag of options.runOnly?.type === "tag" ? options.runOnly.values : []) {
    if (axe.getRules([tag]).length === 0) throw new Error(`unknown tag \`${tag}\``);
  }
  const contexts = axe.utils.getFrameContexts(context, options);
  const partial = await axe.runPartial(context, options);
  const children = contexts.map((each, at) => ({
    find: each.frameSelector,
    path: partial.frames[at].selector,
    context: each.frameContext,
  }));
  return { partial, children };
}
