import { createMemoryHost } from '../../../src/agent/host/memory/host.ts';
import { type ContractHost, describeHostContract } from '../../support/agent/host-contract.ts';
import { sandboxContract } from '../../support/agent/sandbox.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const FAILS = '/does/not/exist';

describeHostContract('memory', memoryContract);
describeHostContract('sandbox', sandboxContract);

async function memoryContract(): Promise<ContractHost> {
  const artifacts = new Map<string, Uint8Array>();
  const host = createMemoryHost({ clock: virtualClock(), artifacts, unpack: unpackJson });
  host.units.behave(({ exec }) => (exec?.argv[0] === FAILS ? 'FailsToStart' : 'Runs'));
  return {
    host,
    restartAgent: async () => host,
    crash: (unit) => host.units.crash(unit),
    async publish(content) {
      artifacts.set('https://artifacts.example.com/a', content);
      return 'https://artifacts.example.com/a';
    },
    archive: async (files) => new TextEncoder().encode(JSON.stringify([...files])),
    runs: ['/bin/program'],
    fails: [FAILS],
    async [Symbol.asyncDispose]() {},
  };
}

function unpackJson(archive: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const entries = JSON.parse(new TextDecoder().decode(archive)) as [string, string][];
  return new Map(entries.map(([path, content]) => [path, new TextEncoder().encode(content)]));
}
