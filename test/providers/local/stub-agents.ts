/** The provider local with processes that stand in for agents: they start something of their own, and do nothing. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProcessIdentity, statFields } from '../../../src/os/process/identity.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import type { AgentPrograms } from '../../../src/providers/local/agents.ts';
import { endLocalMachines } from '../../../src/providers/local/end.ts';
import { instanceFolder, listUids } from '../../../src/providers/local/folders.ts';
import { endMarked, findMarked } from '../../../src/providers/local/processes.ts';
import type { LocalProviderOptions } from '../../../src/providers/local/provider.ts';
import { readRecord } from '../../../src/providers/local/record.ts';
import { PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import { tempFolder } from '../../support/temp.ts';
import { type ContractHarness, type ContractProvider, noFaults } from '../contract/harness.ts';

export const clock = createSystemClock();

/** Its child has a session of its own, as the units of a sandbox. */
const SCRIPT = 'trap "" TERM; mkdir -p "$1"; setsid sleep 600 & wait';

export const STUB_PROGRAMS: AgentPrograms = {
  agent: ({ hostFolder }) => ({ program: '/bin/sh', args: ['-c', SCRIPT, 'agent', hostFolder] }),
  simulator: (machines) => ({ program: '/bin/sh', args: ['-c', SCRIPT, 'simulator', machines] }),
  bootFile: (hostFolder) => join(hostFolder, 'boot.json'),
};

export interface LocalHarness extends ContractHarness {
  readonly machines: string;
}

export async function openLocalHarness(): Promise<LocalHarness> {
  const machines = tempFolder('machines');
  const open = (changes: Partial<LocalProviderOptions> = {}): Promise<Provider> =>
    PROVIDER_REGISTRY.local.open({ machines, programs: STUB_PROGRAMS, clock, limit: 100, ...changes });
  let provider = await open();
  return {
    machines,
    get provider() {
      return provider;
    },
    reopen: () => open(),
    countHosts: (uid) => countHosts(machines, uid),
    crash: async (uid) => await endMarked(await markOf(machines, uid), clock),
    visibleTexts: async () => [...storedTexts(machines), ...(await commandLines(machines))],
    async fail(code) {
      const working = provider;
      provider = await open(code === 'Quota' ? { limit: 0 } : { programs: MISSING });
      return async () => {
        provider = working;
      };
    },
    inject: () => Promise.reject(new Error(NO_CLOUD)),
    unusedId: () => `local:///${randomUUID()}`,
    futureId: (uid) => `local:///${uid}`,
    async [Symbol.asyncDispose]() {
      await endLocalMachines(machines, STUB_PROGRAMS, clock);
    },
  };
}

const NO_CLOUD =
  'the provider acts on this machine: no answer can be lost. test/providers/local kills its process instead';

const MISSING: AgentPrograms = {
  ...STUB_PROGRAMS,
  agent: () => ({ program: '/does/not/exist', args: [] }),
  simulator: () => ({ program: '/does/not/exist', args: [] }),
};

async function markOf(machines: string, uid: string): Promise<string> {
  const folder = instanceFolder(machines, uid);
  return (await readRecord(folder))?.type === 'simulated' ? machines : folder.path;
}

async function countHosts(machines: string, uid: string): Promise<number> {
  const folder = instanceFolder(machines, uid);
  const isSimulated = (await readRecord(folder))?.type === 'simulated';
  if (isSimulated && existsSync(folder.offFile)) return 0;
  const argument = isSimulated ? machines : folder.hostFolder;
  const found = await findMarked(isSimulated ? machines : folder.path);
  // What it forks has its command line until it replaces its program, and leads a session only after that.
  const leaders = found.filter(({ pid }) => leadsSession(pid));
  const commands = await Promise.all(
    leaders.map(async ({ pid }) => (await readProcessIdentity(pid))?.command),
  );
  return commands.filter((command) => command?.includes(argument)).length;
}

function leadsSession(pid: number): boolean {
  try {
    return Number(statFields(readFileSync(`/proc/${pid}/stat`, 'utf8'))(6)) === pid;
  } catch {
    return false;
  }
}

/** But for the file that only the host may read. */
function storedTexts(machines: string): string[] {
  return readdirSync(machines, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'bootstrap.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

async function commandLines(machines: string): Promise<string[]> {
  const marks = [machines, ...(await listUids(machines)).map((uid) => instanceFolder(machines, uid).path)];
  const found = await Promise.all(marks.map((mark) => findMarked(mark)));
  return found.flat().flatMap(({ pid, command }) => [command.join(' '), environmentOf(pid)]);
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

export const LOCAL_CONTRACT: ContractProvider = {
  entry: PROVIDER_REGISTRY.local,
  accepted: {
    'a sandbox': { config: { type: 'sandbox' }, host: 'sandbox' },
    'a simulated machine': { config: { type: 'simulated' }, host: 'sandbox' },
  },
  refused: {
    'an unknown type': [{ config: { type: 'vm' }, host: 'sandbox' }, 'spec.infra.config.type'],
    'a type that is not a text': [{ config: { type: 5 }, host: 'sandbox' }, 'spec.infra.config.type'],
    'a type that is null': [{ config: { type: null }, host: 'sandbox' }, 'spec.infra.config.type'],
    'a type with other letters': [{ config: { type: 'Sandbox' }, host: 'sandbox' }, 'spec.infra.config.type'],
    'an unknown field': [{ config: { type: 'sandbox', size: 'm' }, host: 'sandbox' }, '"size"'],
    'a field of another provider': [{ config: { instanceType: 'm6i' }, host: 'sandbox' }, '"instanceType"'],
    'a host with systemd': [{ config: { type: 'sandbox' }, host: 'systemd' }, 'spec.host.type'],
    'a zone that is not a label': [
      { config: { type: 'sandbox' }, host: 'sandbox', zone: 'z'.repeat(64) },
      'spec.zone',
    ],
  },
  everyShape: 'a sandbox has processes, and a simulated machine has none',
  failures: ['Quota', 'Terminal'],
  withoutFaults: noFaults(NO_CLOUD),
  withoutAccount: NO_CLOUD,
  open: () => openLocalHarness(),
};
