/** Component sets and machines on a real API server, with the status that their controllers and agents would write. */
import {
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../src/api/generated/resources.ts';
import type {
  MachineComponent,
  MachineComponentEntry,
  MachineComponentSet,
} from '../../../src/api/generated/types.ts';
import {
  MANAGER_AGENT,
  MANAGER_COMPONENTSET,
  PRINCIPAL_COMPONENTSET,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestIo, type TestIoOptions, testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';

export const PERSON = 'kubectl';

export interface CliRun extends TestIo {
  readonly code: Promise<number>;
}

/** Starts the command; `code` resolves at its end. */
export function start(
  { server }: Pick<InstalledServer, 'server'>,
  args: readonly string[],
  options: TestIoOptions = {},
): CliRun {
  const io = testIo({ ...options, env: { ...options.env, KUBECONFIG: server.kubeconfig } });
  return Object.assign(io, { code: runCommandLine(io, args) });
}

/** Resolves when the command has written this. */
export async function printed(started: CliRun, what: string | RegExp): Promise<void> {
  const hasIt = (): boolean =>
    typeof what === 'string' ? started.stdout.includes(what) : what.test(started.stdout);
  await eventually(() => Promise.resolve(hasIt() || undefined), `no output ${String(what)}`);
}

export async function run(
  installed: Pick<InstalledServer, 'server'>,
  ...args: readonly string[]
): Promise<TestIo & { readonly exitCode: number }> {
  const started = start(installed, args);
  return Object.assign(started, { exitCode: await started.code });
}

function manifest({ kind }: Resource, name: string, body: object): KubeObject {
  return { apiVersion: API_VERSION, kind, metadata: { name }, ...body };
}

export async function declareVersion(client: Client, component: string, version: string): Promise<string> {
  const name = `${component}-${version}`;
  const spec = { component, version, parameters: [{ name: 'level', default: 'info' }] };
  const options = { fieldManager: PERSON, force: true };
  const object = manifest(MACHINE_COMPONENTS, name, { spec });
  const { spec: stored } = await client.apply<MachineComponent>(MACHINE_COMPONENTS, object, options);
  return digestOf(stored);
}

export interface DeclaredSet {
  readonly manager?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

export async function declareSet(
  client: Client,
  name: string,
  refs: Readonly<Record<string, string>>,
  { manager = PERSON, annotations = {}, spec = {} }: DeclaredSet = {},
): Promise<void> {
  const components = Object.entries(refs).map(([component, componentRef]) => ({
    name: component,
    componentRef,
  }));
  const object = manifest(MACHINE_COMPONENT_SETS, name, {
    metadata: { name, annotations },
    spec: { machineSelector: { matchLabels: { pool: name } }, components, ...spec },
  });
  await client.apply(MACHINE_COMPONENT_SETS, object, { fieldManager: manager, force: true });
}

export async function readSet(client: Client, name: string): Promise<MachineComponentSet> {
  return client.get<MachineComponentSet>(MACHINE_COMPONENT_SETS, { name });
}

/** As the controller of sets reports it, for the newest spec. */
export async function reportSet(client: Client, name: string, status: object): Promise<void> {
  const { metadata } = await readSet(client, name);
  const whole = { conditions: [], observedGeneration: metadata.generation, ...status };
  const object = manifest(MACHINE_COMPONENT_SETS, name, { status: whole });
  await client.apply(MACHINE_COMPONENT_SETS, object, {
    fieldManager: MANAGER_COMPONENTSET,
    force: true,
    subresource: 'status',
  });
}

export async function declareMachine(
  client: Client,
  name: string,
  spec: object = {},
  labels: object = {},
): Promise<void> {
  const object = manifest(MACHINES, name, {
    metadata: { name, labels },
    spec: { infra: { provider: 'local', config: {} }, ...spec },
  });
  await client.apply(MACHINES, object, { fieldManager: PERSON, force: true });
}

/** As the controller of sets assigns an entry: no other user may. */
export async function assign(
  installed: InstalledServer,
  machine: string,
  entry: Pick<MachineComponentEntry, 'name' | 'componentRef' | 'digest'> & { readonly parameters?: object },
  assignment: object,
): Promise<void> {
  const client = await installed.as(serviceAccountUser(PRINCIPAL_COMPONENTSET));
  const object = manifest(MACHINES, machine, { spec: { components: [{ ...entry, assignment }] } });
  await client.apply(MACHINES, object, { fieldManager: MANAGER_COMPONENTSET, force: true });
}

export async function reportMachine(client: Client, name: string, status: object): Promise<void> {
  const object = manifest(MACHINES, name, { status: { conditions: [], ...status } });
  await client.apply(MACHINES, object, { fieldManager: MANAGER_AGENT, force: true, subresource: 'status' });
}
