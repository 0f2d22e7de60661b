import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sandboxFolders } from '../../../src/agent/host/sandbox/folders.ts';
import { createJsonLog } from '../../../src/agent/log.ts';
import { runAgent } from '../../../src/agent/main.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { AGENT_GROUP, agentUser, NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { endSandbox } from '../../support/agent/sandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const CONFIG = 'etc/proxy/proxy.conf';
const LEASES = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
const RUNS = 'while :; do sleep 1; done';
const WITHIN_MS = 60_000;

let installed: InstalledServer;
let published: string;
beforeAll(async () => {
  // Grants are written here without the Defender, which this policy forbids.
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  installed = await startInstalledServer(objects);
  published = tempFolder('published');
});
afterAll(() => installed?.stop());

let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
});

/** A version whose program is a script: it prints one line at each start. */
async function publish(version: string, script: string): Promise<MachineComponentSpec> {
  const program = `#!/bin/sh\necho "started ${version}"\n${script}\n`;
  const file = join(published, version);
  writeFileSync(file, program);
  const sha256 = createHash('sha256').update(program).digest('hex');
  const url = pathToFileURL(file).href;
  const artifacts = [
    { os: 'any', arch: 'any', url, mirrors: [], sha256, format: 'Raw', install: [] },
  ] as const;
  const spec = componentSpec(version, { artifacts, commitAfterSeconds: 1 });
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponent',
    metadata: { name: `proxy-${version}` },
    spec,
  } as unknown as KubeObject;
  await installed.server.client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test', force: true });
  // With the defaults of the server, of which the digest is made.
  const stored = await installed.server.client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata);
  return stored.spec;
}

async function declare(machine: string, spec: MachineComponentSpec): Promise<void> {
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name: machine },
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [entryOf(spec)] },
  };
  await installed.server.client.apply(MACHINES, object, { fieldManager: 'test', force: true });
}

type Report = NonNullable<NonNullable<Machine['status']>['components']>[number];

async function reported(machine: string, expected: Partial<Report>): Promise<Report> {
  let last: unknown;
  const found = async (): Promise<Report | undefined> => {
    const { status } = await installed.server.client.get<Machine>(MACHINES, { name: machine });
    const report = status?.components?.[0];
    last = report;
    const keys = Object.keys(expected) as (keyof Report)[];
    return report && keys.every((key) => report[key] === expected[key]) ? report : undefined;
  };
  return await eventually(found, `${JSON.stringify(expected)} was not reported`, WITHIN_MS).catch(
    (error: unknown) => {
      throw new Error(`last report: ${JSON.stringify(last)}`, { cause: error });
    },
  );
}

function startsIn(directory: string): readonly string[] {
  const log = readFileSync(sandboxFolders(directory).logFile('proxy'), 'utf8');
  return log.split('\n').filter((line) => line.startsWith('started'));
}

/** In this process, with the certificate of the agent. */
async function startAgent(machine: string, directory: string): Promise<{ url: string; log: string[] }> {
  const clock = createSystemClock();
  const stop = new AbortController();
  const log: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = runAgent(
    {
      directory,
      machine,
      access: { client: await installed.as(agentUser(machine), [AGENT_GROUP]) },
      version: '0.0.1',
      port: 0,
      clock,
      log: createJsonLog({ write: (line) => void log.push(line), clock }),
      random: systemRandom,
      onListening: resolve,
    },
    stop.signal,
  );
  ends.push(
    () => endSandbox(directory),
    async () => {
      stop.abort();
      await running;
    },
  );
  return { url: await promise, log };
}

describe('the agent on a sandbox, with a real API server', { timeout: 240_000 }, () => {
  it('installs, upgrades, writes a file back, and rolls a bad version back, with the rights of an agent', async () => {
    const directory = tempFolder('agent');
    const [v1, v2, bad] = [
      await publish('1.0', RUNS),
      await publish('1.1', RUNS),
      await publish('1.2', 'exit 3'),
    ];
    await declare('n1', v1);
    const { url, log } = await startAgent('n1', directory);
    await reported('n1', { state: 'Committed', currentRef: 'proxy-1.0', ready: true });

    await declare('n1', v2);
    await reported('n1', {
      state: 'Committed',
      currentRef: 'proxy-1.1',
      previousRef: 'proxy-1.0',
      ready: true,
    });
    expect(startsIn(directory)).toEqual(['started 1.0', 'started 1.1']);

    writeFileSync(join(directory, CONFIG), 'theirs');
    await reported('n1', { corrections: 1 });
    expect(readFileSync(join(directory, CONFIG), 'utf8')).toBe('version 1.1\n');

    await declare('n1', bad);
    const report = await reported('n1', { state: 'RolledBack', currentRef: 'proxy-1.1', running: true });
    expect(report.deniedDigests).toHaveLength(1);
    expect(readFileSync(join(directory, CONFIG), 'utf8')).toBe('version 1.1\n');
    expect(startsIn(directory).at(-1)).toBe('started 1.1');

    const lease = await installed.server.client.get(LEASES, { name: 'n1', namespace: NAMESPACE_AGENTS });
    expect(lease).toMatchObject({ spec: { holderIdentity: 'n1' } });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('kubenode_agent_transitions_total{component="proxy",result="RolledBack"} 1');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(log.filter((line) => line.includes('not written'))).toEqual([]);
  });

  it('AGT-12 starts each version once when it is killed again and again during the upgrade', async () => {
    const directory = tempFolder('agent');
    const [v1, v2] = [await publish('2.0', RUNS), await publish('2.1', RUNS)];
    await declare('n2', v1);
    const kubeconfig = await installed.server.kubeconfigFor({ user: agentUser('n2'), groups: [AGENT_GROUP] });
    ends.push(() => endSandbox(directory));
    const agent = new KilledAgent(['--machine', 'n2', '--directory', directory, '--kubeconfig', kubeconfig]);
    onTestFinished(() => agent.kill());
    agent.start();
    await reported('n2', { state: 'Committed', currentRef: 'proxy-2.0', ready: true });
    await declare('n2', v2);
    // The program takes about a second to start; the upgrade another two.
    for (const ms of [300, 900, 1100, 1300, 1500, 1700, 2000, 2400]) {
      await pause(ms);
      await agent.kill();
      agent.start();
    }
    await reported('n2', { state: 'Committed', currentRef: 'proxy-2.1', ready: true });
    await agent.kill();
    expect(startsIn(directory)).toEqual(['started 2.0', 'started 2.1']);
  });
});

/** The program `kubenode agent run`, which a test kills. */
class KilledAgent {
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  start(): void {
    this.#child = spawn(process.execPath, [MAIN, 'agent', 'run', ...this.#args], { stdio: 'ignore' });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
