import { HostError } from '../../../src/agent/host/errors.ts';
import { createMemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { UnitBehavior } from '../../../src/agent/host/memory/units.ts';
import { type ContractHost, describeHostContract } from '../../support/agent/host-contract.ts';
import { sandboxContract } from '../../support/agent/sandbox.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const PROGRAM = '/bin/program';
const BEHAVIORS: Readonly<Record<string, UnitBehavior>> = {
  '/does/not/exist': 'FailsToStart',
  '/bin/succeeds': 'Succeeds',
  '/bin/exits': 'Exits',
};

describeHostContract('memory', memoryContract);
describeHostContract('sandbox', sandboxContract);

async function memoryContract(): Promise<ContractHost> {
  const artifacts = new Map<string, Uint8Array>();
  const host = createMemoryHost({ clock: virtualClock(), artifacts, unpack: unpackJson });
  host.units.behave(({ exec }) => BEHAVIORS[exec?.argv[0] ?? ''] ?? 'Runs');
  await host.files.write(PROGRAM, new TextEncoder().encode('program'), { mode: '0755', owner: 'root:root' });
  return {
    host,
    restartAgent: async () => host,
    crash: (unit) => host.units.crash(unit),
    mask: async (unit) => host.units.mask(unit),
    installUnit: (unit) => host.units.install(unit),
    definitionFile: (unit) => `/etc/systemd/system/${unit}.service`,
    async publish(content) {
      const url = `https://artifacts.example.com/${artifacts.size}`;
      artifacts.set(url, content);
      return url;
    },
    archive: async (files) => new TextEncoder().encode(JSON.stringify([...files])),
    runs: [PROGRAM],
    programDigest: () => host.files.digest(PROGRAM),
    fails: ['/does/not/exist'],
    succeeds: ['/bin/succeeds'],
    exits: ['/bin/exits'],
    async [Symbol.asyncDispose]() {},
  };
}

function unpackJson(archive: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const text = new TextDecoder().decode(archive);
  if (!text.startsWith('[')) throw new HostError('BadArchive', 'the archive is refused');
  const entries = JSON.parse(text) as [string, string][];
  return new Map(entries.map(([path, content]) => [path, new TextEncoder().encode(content)]));
}
