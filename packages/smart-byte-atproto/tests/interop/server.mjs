// The official server and PLC directory on loopback, for tests.
//
// Prints one JSON line with their addresses; then takes commands, a line each: "restart" stops the
// server and starts it on its port with its data; each is answered with a JSON line. Ends with its
// standard input.
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:net";
import { TestPds, TestPlc } from "@atproto/dev-env";

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const home = mkdtempSync(join(tmpdir(), "pds-"));
const [plcPort, pdsPort] = [await freePort(), await freePort()];
const plc = await TestPlc.create({ port: plcPort });
const settings = {
  port: pdsPort,
  hostname: "localhost",
  didPlcUrl: plc.url,
  dataDirectory: home,
  blobstoreDiskLocation: join(home, "blobs"),
  devMode: true,
};
let pds = await TestPds.create(settings);
const say = (fact) => process.stdout.write(JSON.stringify(fact) + "\n");
say({ plc: plc.url, pds: `http://localhost:${pdsPort}` });

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "restart") {
    await pds.close();
    pds = await TestPds.create(settings);
    say({ restarted: true });
  }
}
await pds.close().catch(() => {});
await plc.close().catch(() => {});
rmSync(home, { recursive: true, force: true });
process.exit(0);
