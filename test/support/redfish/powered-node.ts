/** A real node whose power the emulator of sushy-tools switches: off cuts it, on boots it with another boot id. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { TestNode } from '../node-kit/node.ts';
import { type Emulator, startEmulator } from './emulator.ts';

export interface NodeBmc extends Emulator {
  /** Resolves when the node is up, or off, as the BMC was asked last. */
  settled(): Promise<void>;
  /** Each change of power since the start. */
  changes(): readonly string[];
}

/** `uuid`: that of the system at the BMC. `folder`: for the files of the emulator. */
export async function startNodeBmc(node: TestNode, uuid: string, folder: string): Promise<NodeBmc> {
  let power = 'On';
  const changes: string[] = [];
  let under: Promise<void> = Promise.resolve();

  /** The BMC shows Off only after the node has ended; it shows On while the node boots. */
  async function follow(wanted: string): Promise<void> {
    if (wanted === power) return;
    power = wanted;
    changes.push(wanted);
    under = under.then(() => (wanted === 'Off' ? node.cutPower() : node.powerOn()));
    if (wanted === 'Off') await under;
  }

  const server = createServer((request, response) => {
    json(request)
      .then((system) => follow(textAt(system, 'power_state') ?? power))
      .then(
        () => response.end(),
        () => response.writeHead(500).end(),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const systems = [{ uuid, name: node.name, power: 'On' as const }];
  const emulator = await startEmulator(folder, systems, `http://127.0.0.1:${port}/`);
  return {
    ...emulator,
    settled: () => under,
    changes: () => [...changes],
    async [Symbol.asyncDispose]() {
      await emulator[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await under;
    },
  };
}
