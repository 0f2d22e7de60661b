/** One machine whose agent is a process of its own, joined with a certificate, and replaced by other builds of itself. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sandboxFolders } from '../../../src/agent/host/sandbox/folders.ts';
import { CLUSTER_CA_FILE, CLUSTER_FILE, SLOTS_FILE } from '../../../src/agent/layout.ts';
import type { AgentSlots } from '../../../src/agent/upgrade/slots.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { AGENT_GROUP, agentUser } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { endSandbox } from '../../support/agent/sandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { processesWith } from '../../support/processes.ts';
import { tempFolder } from '../../support/temp.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import type { ComponentReport } from './agent-cluster.ts';

const COMPONENT = 'kubenode-agent';

export class UpgradingAgent {
  readonly directory = tempFolder('agent');
  readonly #server: InstalledServer['server'];
  readonly #name: string;
  #specs: readonly MachineComponentSpec[] = [];

  constructor({ server }: InstalledServer, name: string) {
    this.#server = server;
    this.#name = name;
  }

  /** Starts the agent and waits until a component runs that the agent must never touch when it is replaced. */
  async start(program: string, healthySeconds: number): Promise<void> {
    await this.#join();
    await this.declare(proxy());
    const flags = ['--machine', this.#name, '--host', 'sandbox', '--directory', this.directory];
    const args = [program, 'run', ...flags, '--healthy-within', String(healthySeconds)];
    spawn(process.execPath, args, { stdio: 'ignore', detached: true }).unref();
    await this.reported('proxy', { state: 'Committed', ready: true });
  }

  /** Adds a version, or replaces another one of the same component. */
  async declare(spec: MachineComponentSpec): Promise<void> {
    const stored = await this.#publish(spec);
    this.#specs = [...this.#specs.filter(({ component }) => component !== spec.component), stored];
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Machine',
      metadata: { name: this.#name },
      spec: {
        infra: { provider: 'local' },
        host: { type: 'sandbox' },
        components: this.#specs.map((each) => entryOf(each)),
      },
    };
    await this.#server.client.apply(MACHINES, object, { fieldManager: 'test', force: true });
  }

  async reported(component: string, expected: Partial<ComponentReport>): Promise<ComponentReport> {
    let last: unknown;
    const found = async (): Promise<ComponentReport | undefined> => {
      const machine = await this.#server.client.get<Machine>(MACHINES, { name: this.#name });
      const report = machine.status?.components?.find(({ name }) => name === component);
      last = report;
      const keys = Object.keys(expected) as (keyof ComponentReport)[];
      return report && keys.every((key) => report[key] === expected[key]) ? report : undefined;
    };
    return await eventually(found, `${JSON.stringify(expected)} was not reported`).catch((error: unknown) => {
      const log = readText(sandboxFolders(this.directory).logFile(COMPONENT));
      const watchdog = readText(sandboxFolders(this.directory).logFile('kubenode-agent-watchdog'));
      const text = `last report: ${JSON.stringify(last)}\n${watchdog.slice(-4000)}\n${log.slice(-4000)}`;
      throw new Error(text, { cause: error });
    });
  }

  /** Programs of the agents that run on this sandbox. */
  programs(): readonly string[] {
    return processesWith(this.directory).flatMap((pid) => {
      const words = readText(`/proc/${pid}/cmdline`).split('\0');
      const run = words.indexOf('run');
      return run > 0 && words.includes('--directory') ? [words[run - 1] ?? ''] : [];
    });
  }

  slots(): AgentSlots {
    return JSON.parse(readText(join(this.directory, SLOTS_FILE)) || '{}') as AgentSlots;
  }

  /** Pid and start time of the process of the other component. */
  proxy(): unknown {
    return JSON.parse(readText(sandboxFolders(this.directory).stateFile('proxy')));
  }

  async end(): Promise<void> {
    await eventually(async () => {
      const agents = processesWith(this.directory);
      for (const pid of agents) kill(pid);
      return agents.length === 0 || undefined;
    }, 'the agents did not end');
    await endSandbox(this.directory);
  }

  async #publish(spec: MachineComponentSpec): Promise<MachineComponentSpec> {
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineComponent',
      metadata: { name: `${spec.component}-${spec.version}` },
      spec,
    } as unknown as KubeObject;
    const { client } = this.#server;
    await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test', force: true });
    // With the defaults of the server, of which the digest is made.
    return (await client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata)).spec;
  }

  /** As if it had joined with a token. */
  async #join(): Promise<void> {
    const { url, caPem } = this.#server;
    const pair = this.#server.certificateFor({ user: agentUser(this.#name), groups: [AGENT_GROUP] });
    this.#write('/var/lib/kubenode/pki/agent/current.pem', `${pair.certPem.trimEnd()}\n${pair.keyPem}`);
    this.#write(CLUSTER_CA_FILE, caPem);
    this.#write(CLUSTER_FILE, JSON.stringify({ server: url, hasCa: true }));
  }

  #write(path: string, content: string): void {
    const file = join(this.directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  }
}

/** Runs until somebody ends it. */
function proxy(): MachineComponentSpec {
  const argv = ['/bin/sh', '-c', 'while :; do sleep 1; done'];
  const unit = { ...componentSpec('1.0').units[0], exec: { argv, env: {}, user: 'root' } };
  return componentSpec('1.0', {
    artifacts: [],
    units: [unit] as MachineComponentSpec['units'],
    commitAfterSeconds: 1,
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
