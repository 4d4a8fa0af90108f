// Joins the parts of all documents. Returns one item for each element that breaks a rule.
async (partials, options) => {
  const { violations } = await axe.finishRun(partials, options);
  return violations.flatMap((rule) =>
    rule.nodes.map((node) => ({
      rule: rule.id,
      impact: node.impact ?? rule.impact ?? "",
      help: rule.help,
      helpUrl: rule.helpUrl,
      tags: rule.tags,
      html: node.html,
      summary: node.failureSummary ?? "",
      target: node.target,
    })),
  );
}
