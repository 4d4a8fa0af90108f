// A chrome-remote-interface program that opens the page argv[3] in new tabs of the browser argv[2] over /json/new,
// uses them, and prints its results.
import CDP from 'chrome-remote-interface';

const { hostname: host, port } = new URL(process.argv[2]);
const url = process.argv[3];
const at = { host, port };

const version = await CDP.Version(at);
const protocol = await CDP.Protocol(at);
const before = await CDP.List(at);
const first = await CDP.New({ ...at, url });
const second = await CDP.New(at);
const listed = await CDP.List(at);
await CDP.Activate({ ...at, id: first.id });

const open = async (target) => {
  const client = await CDP({ ...at, target });
  await client.Page.enable();
  return client;
};

const other = await open(second.id);
const loaded = other.Page.loadEventFired();
await other.Page.navigate({ url });
await loaded;
const focused = await other.Runtime.evaluate({ expression: "document.getElementById('name').focus(), 2 + 3" });
await other.Input.insertText({ text: 'Ada' });
await other.Runtime.evaluate({ expression: "document.getElementById('greet').click()" });
const greeting = await other.Runtime.evaluate({ expression: "document.getElementById('greeting').textContent" });
const picture = await other.Page.captureScreenshot();
await other.close();

// Over the browser's websocket: the target of CDP.New and a session for it.
const whole = await CDP({ ...at, target: version.webSocketDebuggerUrl });
const { targetInfos } = await whole.Target.getTargets();
const { sessionId } = await whole.Target.attachToTarget({ targetId: first.id, flatten: true });
const title = await whole.send('Runtime.evaluate', { expression: 'document.title' }, sessionId);
await whole.close();

await CDP.Close({ ...at, id: second.id });
const gone = async () => !(await CDP.List(at)).some((each) => each.id === second.id);
while (!(await gone()));
await CDP.Close({ ...at, id: first.id });

console.log(JSON.stringify({
  greeting: greeting.result.value,
  title: title.result.value,
  sum: focused.result.value,
  screenshot: picture.data.length > 1000,
  pages: listed.length - before.length,
  known: targetInfos.filter((each) => [first.id, second.id].includes(each.targetId)).length,
  domains: protocol.domains.length > 20,
}));
