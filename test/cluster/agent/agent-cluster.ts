/** Agents on sandboxes with a real API server: publishes components, declares Machines, and starts agents in this process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sandboxFolders } from '../../../src/agent/host/sandbox/folders.ts';
import { createJsonLog } from '../../../src/agent/log.ts';
import { runAgent } from '../../../src/agent/main.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { AGENT_GROUP, agentUser } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { endSandbox } from '../../support/agent/sandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import type { InstalledServer } from '../api/installed-server.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
export const RUNS = 'while :; do sleep 1; done';

export type ComponentReport = NonNullable<NonNullable<Machine['status']>['components']>[number];

export interface RunningAgent {
  readonly url: string;
  readonly log: readonly string[];
  stop(): Promise<void>;
}

export interface AgentCluster {
  /** A version whose program is a script: it prints one line at each start. */
  publish(version: string, script: string): Promise<MachineComponentSpec>;
  declare(machine: string, spec: MachineComponentSpec, granted?: boolean): Promise<void>;
  machine(name: string): Promise<Machine>;
  reported(machine: string, expected: Partial<ComponentReport>): Promise<ComponentReport>;
  /** With the certificate of the agent, and a clock that is ahead of this machine. */
  startAgent(machine: string, directory: string, aheadMs?: number): Promise<RunningAgent>;
  /** Ends what the test started. */
  end(): Promise<void>;
  /** Called by `end`, last one first. */
  onEnd(end: () => Promise<void>): void;
}

export function createAgentCluster(installed: InstalledServer): AgentCluster {
  const { client } = installed.server;
  const published = tempFolder('published');
  let ends: (() => Promise<void>)[] = [];

  async function machine(name: string): Promise<Machine> {
    return await client.get<Machine>(MACHINES, { name });
  }

  return {
    machine,
    onEnd: (end) => void ends.push(end),
    async end() {
      const all = ends.toReversed();
      ends = [];
      for (const end of all) await end();
    },
    async publish(version, script) {
      const program = `#!/bin/sh\necho "started ${version}"\n${script}\n`;
      const file = join(published, version);
      writeFileSync(file, program);
      const sha256 = createHash('sha256').update(program).digest('hex');
      const url = pathToFileURL(file).href;
      const artifact = {
        os: 'any',
        arch: 'any',
        url,
        mirrors: [],
        sha256,
        format: 'Raw',
        install: [],
      } as const;
      const object = {
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'MachineComponent',
        metadata: { name: `proxy-${version}` },
        spec: componentSpec(version, { artifacts: [artifact], commitAfterSeconds: 1 }),
      } as unknown as KubeObject;
      await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test', force: true });
      // With the defaults of the server, of which the digest is made.
      return (await client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata)).spec;
    },
    async declare(name, spec, granted = true) {
      const object = {
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'Machine',
        metadata: { name },
        spec: {
          infra: { provider: 'local' },
          host: { type: 'sandbox' },
          components: [entryOf(spec, granted)],
        },
      };
      await client.apply(MACHINES, object, { fieldManager: 'test', force: true });
    },
    async reported(name, expected) {
      let last: unknown;
      const found = async (): Promise<ComponentReport | undefined> => {
        const report = (await machine(name)).status?.components?.[0];
        last = report;
        const keys = Object.keys(expected) as (keyof ComponentReport)[];
        return report && keys.every((key) => report[key] === expected[key]) ? report : undefined;
      };
      return await eventually(found, `${JSON.stringify(expected)} was not reported`).catch(
        (error: unknown) => {
          throw new Error(`last report: ${JSON.stringify(last)}`, { cause: error });
        },
      );
    },
    async startAgent(name, directory, aheadMs = 0) {
      const system = createSystemClock();
      const clock = { ...system, now: () => new Date(system.now().getTime() + aheadMs) };
      const signal = new AbortController();
      const log: string[] = [];
      const { promise, resolve } = Promise.withResolvers<string>();
      const running = runAgent(
        {
          directory,
          machine: name,
          access: { client: await installed.as(agentUser(name), [AGENT_GROUP]) },
          version: '0.0.1',
          port: 0,
          clock,
          log: createJsonLog({ write: (line) => void log.push(line), clock }),
          random: systemRandom,
          onListening: resolve,
        },
        signal.signal,
      );
      const stop = async (): Promise<void> => {
        signal.abort();
        await running;
      };
      ends.push(() => endSandbox(directory), stop);
      return { url: await promise, log, stop };
    },
  };
}

export function startsIn(directory: string): readonly string[] {
  const log = readFileSync(sandboxFolders(directory).logFile('proxy'), 'utf8');
  return log.split('\n').filter((line) => line.startsWith('started'));
}

/** The program `kubenode agent run`, which a test kills. */
export class KilledAgent {
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
